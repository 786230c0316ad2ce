//! The session over any family of algorithms: moves, and marks to return to.

use super::cause::cause;
use super::{Session, Snapshot, Tree};
use std::rc::Rc;
use synod_core::{Boxed, Card, ProcessId, Rule, Trigger};
use synod_sim::World;
use synod_sim::scenario::{Judgement, Mark, Offer, OnItsWay, ParseError, Player, Scenario};
use synod_sim::trace::Event;

/// Limit of kept marks, each a copy of the run. Beyond it the stepper drops every other mark and
/// doubles the distance between later ones.
const MARKS_AT_MOST: usize = 64;

/// A move: the unit that `back` takes back.
#[derive(Clone, Debug)]
struct Move {
    /// The line of the script; None for a step by the seed.
    line: Option<Rc<str>>,
    /// The number of events before it.
    first_event: u64,
}

/// A mark, and the number of moves before it.
type Kept = (usize, Rc<Mark>);

/// The session of any algorithm of the family.
pub(super) struct Stepper {
    scenario: Scenario,
    card: &'static Card,
    player: Player,
    /// The mark before the processes started.
    fresh: Rc<Mark>,
    moves: Vec<Move>,
    marks: Vec<Kept>,
    /// The number of moves between two marks.
    spacing: usize,
}

impl Stepper {
    /// Starts the processes, and plays the script of the scenario.
    pub(super) fn open(
        scenario: &Scenario,
        card: &'static Card,
        mut player: Player,
    ) -> Result<Self, ParseError> {
        let fresh = Rc::new(player.mark());
        player.start(scenario)?;
        let marks = vec![(0, Rc::new(player.mark()))];
        let scenario = scenario.clone();
        let moves = Vec::new();
        let mut stepper = Stepper { scenario, card, player, fresh, moves, marks, spacing: 1 };
        let script: Vec<(usize, String)> = stepper.scenario.script().collect();
        for (number, line) in script {
            stepper.take(&line).map_err(|error| ParseError { line: number, ..error })?;
        }
        Ok(stepper)
    }

    fn events_so_far(&self) -> u64 {
        self.player.events().len() as u64
    }

    /// Records a move, and a mark after every `spacing` moves.
    fn remember(&mut self, line: Option<Rc<str>>, first_event: u64) {
        self.moves.push(Move { line, first_event });
        if !self.moves.len().is_multiple_of(self.spacing) {
            return;
        }
        self.marks.push((self.moves.len(), Rc::new(self.player.mark())));
        if self.marks.len() > MARKS_AT_MOST {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.marks.retain(|(moves, _)| moves.is_multiple_of(spacing));
        }
    }

    /// The last mark with at most this number of moves before it.
    fn mark_before(&self, moves: usize) -> &Kept {
        let later = self.marks.partition_point(|(made, _)| *made <= moves);
        &self.marks[later.checked_sub(1).expect("the first mark is after no move at all")]
    }

    /// Returns the run to its state after this number of moves.
    fn return_to(&mut self, moves: usize) {
        let (made, mark) = self.mark_before(moves).clone();
        self.player.return_to(&mark, |player| replay(player, &self.moves[made..moves]));
        self.moves.truncate(moves);
        self.marks.retain(|(made, _)| *made <= moves);
    }

    /// Plays `run 20` and `run` as one move per step, so that each can be taken back.
    fn take_turns(&mut self, line: &str) -> Option<Result<(), ParseError>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["run"] => Some(self.advance_to_the_end(line)),
            ["run", turns] => Some(self.advance_by(turns.parse().ok()?, line)),
            _ => None,
        }
    }

    fn advance_by(&mut self, turns: u64, line: &str) -> Result<(), ParseError> {
        let before = self.moves.len();
        for done in 0..turns {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => {
                    self.return_to(before);
                    let message = format!("after {done} of {turns} nothing is left to happen");
                    return Err(ParseError::of_line(line, message));
                }
                Err(error) => {
                    self.return_to(before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn advance_to_the_end(&mut self, line: &str) -> Result<(), ParseError> {
        let before = self.moves.len();
        while self.advance()? && !self.player.has_ended() {
            if self.moves.len() - before >= TURNS_AT_MOST {
                self.return_to(before);
                let message = format!(
                    "this never ends: after {TURNS_AT_MOST} steps there is more to come; write run \
                     100 for so many steps"
                );
                return Err(ParseError::of_line(line, message));
            }
        }
        Ok(())
    }
}

/// Limit of steps of one `run`; beyond it the run counts as endless.
const TURNS_AT_MOST: usize = 10_000;

/// Repeats moves from a mark on.
fn replay(player: &mut Player, moves: &[Move]) {
    for made in moves {
        // An `expect` line may fail here: it needs events before the mark, which this player does
        // not have.
        let _ = match &made.line {
            Some(line) => player.play_line(line),
            None => player.go_on().map(|_| ()),
        };
    }
}

impl Session for Stepper {
    fn algorithm(&self) -> &str {
        self.scenario.algorithm()
    }

    fn processes(&self) -> usize {
        self.scenario.processes()
    }

    fn now_us(&self) -> u64 {
        self.player.world().now_us
    }

    fn offers(&self) -> Vec<Offer> {
        self.player.offers()
    }

    fn take(&mut self, line: &str) -> Result<(), ParseError> {
        if let Some(done) = self.take_turns(line) {
            return done;
        }
        let first_event = self.events_so_far();
        if let Err(error) = self.player.play_line(line) {
            self.return_to(self.moves.len());
            return Err(error);
        }
        self.remember(Some(line.trim().into()), first_event);
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, ParseError> {
        let first_event = self.events_so_far();
        let took = self.player.go_on();
        match took {
            Ok(true) => self.remember(None, first_event),
            // Time may have passed, and applications may have woken up: neither is in the script.
            _ => self.return_to(self.moves.len()),
        }
        took
    }

    fn back(&mut self) -> bool {
        match self.moves.len().checked_sub(1) {
            Some(before) => {
                self.return_to(before);
                true
            }
            None => false,
        }
    }

    fn branch(&self) -> Box<dyn Session> {
        Box::new(Stepper {
            scenario: self.scenario.clone(),
            card: self.card,
            player: self.player.clone(),
            fresh: Rc::clone(&self.fresh),
            moves: self.moves.clone(),
            marks: self.marks.clone(),
            spacing: self.spacing,
        })
    }

    fn moves(&self) -> usize {
        self.moves.len()
    }

    fn script(&self) -> Vec<String> {
        let mut script = Vec::new();
        let mut turns = 0_u64;
        for made in &self.moves {
            let Some(line) = &made.line else {
                turns += 1;
                continue;
            };
            if turns > 0 {
                script.push(format!("run {turns}"));
                turns = 0;
            }
            script.push(line.to_string());
        }
        if turns > 0 {
            script.push(format!("run {turns}"));
        }
        script
    }

    fn scenario(&self) -> String {
        let mut text = self.scenario.preamble().to_owned();
        for line in self.script() {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn events(&self) -> &[Event] {
        self.player.events()
    }

    fn last_move(&self) -> u64 {
        self.moves.last().map_or(0, |made| made.first_event)
    }

    fn cause(&self, event: u64) -> Option<Trigger<'_>> {
        let first = self.player.first_of_step(event) as usize;
        cause(self.player.events().get(first..=event as usize)?)
    }

    fn rules(&self, event: u64) -> Vec<(usize, &'static Rule)> {
        self.cause(event).map(|cause| self.card.rules_on(cause)).unwrap_or_default()
    }

    fn state(&self, at: ProcessId) -> Snapshot {
        snapshot(self.player.world(), at)
    }

    fn stored(&self, at: ProcessId) -> Vec<u8> {
        self.player.world().process(at).state().encode()
    }

    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        let state = Boxed::read_state(self.player.world().setup(), bytes)?;
        Some(Tree::of(&state))
    }

    fn look(&self, event: u64) -> Option<Vec<Snapshot>> {
        if event >= self.events_so_far() {
            return None;
        }
        let first = self.player.first_of_step(event);
        // Moves without events come before the one that made this event, never after it.
        let later = self.moves.partition_point(|made| made.first_event <= event);
        let mut player = match later.checked_sub(1) {
            Some(place) => {
                let (made, mark) = self.mark_before(place);
                self.player.repeat(mark, |player| {
                    replay(player, &self.moves[*made..place]);
                    player.watch_for(first);
                    replay(player, &self.moves[place..=place]);
                })
            }
            None => self.player.repeat(&self.fresh, |player| {
                player.watch_for(first);
                // The same start has succeeded before.
                let _ = player.start(&self.scenario);
            }),
        };
        let (before, after) = player.watched()?;
        let compared = ProcessId::all(self.processes()).map(|at| {
            let (old, mut new) = (snapshot(&before, at), snapshot(&after, at));
            new.state.compare(&old.state);
            new.application.compare(&old.application);
            new
        });
        Some(compared.collect())
    }

    fn messages(&self) -> Vec<OnItsWay> {
        self.player.on_its_way()
    }

    fn timers(&self) -> Vec<(ProcessId, String)> {
        self.player.timers()
    }

    fn verdicts(&self) -> Vec<Judgement> {
        self.player.verdicts()
    }
}

fn snapshot(world: &World<Boxed>, at: ProcessId) -> Snapshot {
    let process = world.process(at);
    Snapshot {
        at,
        status: process.status,
        state: Tree::of(process.state()),
        application: Tree::of(&process.application),
        records: (process.records().len(), process.waiting_records()),
    }
}
