//! Plays a script on a world.

use super::Scenario;
use super::agenda::Due;
use super::command::{self, Command, Fate, Pick, list};
use super::diff::Difference;
use super::error::ParseError;
use super::parse::{Word, error_at, plain};
use super::stage::{Events, Stage};
use crate::network::in_words;
use crate::trace::Event;
use crate::world::{Action, Body, Envelope, Slot, Status, World};
use synod_core::boxed::Which;
use synod_core::{Algorithm, Application, Boxed, Family, ProcessId};

/// So many steps one line may take before it is taken for endless.
const STEPS_AT_MOST: u64 = 10_000;
/// So many events one scenario may have.
const EVENTS_AT_MOST: usize = 100_000;
/// So many things are listed in an error message.
const LISTED_AT_MOST: usize = 8;

/// What came of playing a scenario.
#[derive(Clone, Debug)]
pub struct Played {
    /// Whether everything came as expected.
    pub passed: bool,
    /// Where the trace differs from the one in the file. None, if the file has no trace.
    pub differences: Vec<Difference>,
    /// The `expect` lines that were not true.
    pub unmet: Vec<ParseError>,
    /// Everything that happened.
    pub events: Vec<Event>,
    /// The properties that were violated, in the order of their first violation.
    pub violated: Vec<&'static str>,
    /// The story, line by line.
    pub trace: Vec<String>,
    /// The file with this story after the rule; header, script and comments untouched.
    pub blessed: String,
}

/// Plays the scenario.
pub(super) fn play<F: Family>(scenario: &Scenario, which: Which) -> Result<Played, ParseError> {
    let mut plan = scenario.header.plan(&scenario.text, which.card())?;
    plan.setup = plan.setup.running(which);
    let world = World::<Boxed<F>>::new(&plan).map_err(|error| scenario.explain(&error))?;
    let events = Events::default();
    let mut sink = events.clone();
    let mut player = Player {
        text: &scenario.text,
        world,
        stage: Stage::new(&scenario.header, &mut sink),
        events,
        begins: Vec::new(),
        unmet: Vec::new(),
        crashing: None,
    };
    player.start()?;
    for words in &scenario.script {
        player.line(words)?;
    }
    player.finish(scenario)
}

/// A world, and what drives it.
pub(super) struct Player<'s, A: Algorithm> {
    pub(super) text: &'s str,
    pub(super) world: World<A>,
    pub(super) stage: Stage<'s>,
    pub(super) events: Events,
    /// The numbers of the events with which a step began.
    pub(super) begins: Vec<usize>,
    pub(super) unmet: Vec<ParseError>,
    /// In the next step its process crashes, after so many messages and outputs.
    crashing: Option<u32>,
}

/// What went wrong with a line, before it is known where to point.
type Wrong = String;

impl<A: Algorithm> Player<'_, A> {
    fn start(&mut self) -> Result<(), ParseError> {
        self.stage.choices = self.stage.header.choices.clone().into();
        self.world.start(&mut self.stage);
        self.all_chosen()
    }

    fn line(&mut self, words: &[Word]) -> Result<(), ParseError> {
        let n = self.world.processes().len();
        let instruction = command::read::<A::Family>(self.text, words, n)?;
        self.stage.choices = instruction.choices.into();
        self.crashing = instruction.crashing.as_ref().map(|(after, _)| *after);
        let wrong = |message| error_at(self.text, &words[0], message);
        match instruction.command {
            Command::Expect(expectation) => self.expect(&expectation, words)?,
            command => self.obey(command).map_err(wrong)?,
        }
        if let (Some(_), Some((_, word))) = (self.crashing.take(), instruction.crashing) {
            let message = "nobody takes a step here, in the middle of which it could crash";
            return Err(error_at(self.text, &word, message.to_owned()));
        }
        self.all_chosen()
    }

    /// Whether just the choices that were fixed could be made.
    fn all_chosen(&mut self) -> Result<(), ParseError> {
        if let Some((word, among)) = self.stage.bad_choice.take() {
            let message = format!("the choice is among {among}: a number from 0 to {}", among - 1);
            return Err(error_at(self.text, &word, message));
        }
        match self.stage.choices.pop_front() {
            Some((_, word)) => {
                let message = "nothing is left to be chosen here".to_owned();
                Err(error_at(self.text, &word, message))
            }
            None => Ok(()),
        }
    }

    fn obey(&mut self, command: Command<A::Input>) -> Result<(), Wrong> {
        match command {
            Command::Input(at, input) => self.ask(at, input),
            Command::Tell { from, to } => self.step(&Action::Tell { from, to }),
            Command::Message(fate, pick) => self.message(fate, &pick),
            Command::DeliverSome(count) => self.deliver_some(count),
            Command::DeliverAll => self.deliver_all(),
            Command::Crash(at) => self.step(&Action::Crash(at)),
            Command::Restart { at, disk } => self.step(&Action::Restart { at, disk }),
            Command::Pause(at) => self.step(&Action::Pause(at)),
            Command::Resume(at) => self.step(&Action::Resume(at)),
            Command::Links(change) => self.step(&Action::Links(change)),
            Command::Fire(at, name) => self.fire(at, &name),
            Command::Sync(at) => self.step(&Action::Sync(at)),
            Command::Wait(us) => self.wait(us),
            Command::Tick => self.step(&Action::Tick),
            Command::Expect(_) => unreachable!("expectations are not obeyed"),
        }
    }

    /// Takes one step, if it is possible; and only the first part of it, if its process crashes.
    fn step(&mut self, action: &Action<A::Input>) -> Result<(), Wrong> {
        self.world.can(action).map_err(|impossible| impossible.to_string())?;
        if self.events.0.borrow().len() > EVENTS_AT_MOST {
            return Err(format!("this goes on too long: more than {EVENTS_AT_MOST} events"));
        }
        match action {
            Action::Deliver(slot) | Action::Drop(slot) => {
                self.stage.agenda.forget(Due::Deliver(*slot));
            }
            Action::Sync(at) | Action::Crash(at) => self.stage.agenda.forget(Due::Sync(*at)),
            Action::Fire { at, timer } => self.stage.agenda.forget(Due::Fire(*at, *timer)),
            _ => {}
        }
        self.begins.push(self.events.0.borrow().len());
        let actor = self.world.actor(action);
        match actor.and_then(|_| self.crashing.take()) {
            Some(after) => {
                let cut = Action::Cut { step: Box::new(action.clone()), after };
                self.world.step(&cut, &mut self.stage);
            }
            None => self.world.step(action, &mut self.stage),
        }
        Ok(())
    }

    /// The application asks, if it is in a position to. A protocol may rely on that.
    fn ask(&mut self, at: ProcessId, input: A::Input) -> Result<(), Wrong> {
        let mut offers = Vec::new();
        self.world.process(at).application.offers(&mut offers);
        let action = Action::Input { at, input };
        self.world.can(&action).map_err(|impossible| impossible.to_string())?;
        let Action::Input { input, .. } = &action else { unreachable!("it was just made") };
        if offers.contains(input) || A::Family::is_order(input) {
            return self.step(&action);
        }
        let words = A::Family::input_in_words(input);
        let why = match self.world.waiting().contains(at) {
            true => format!(": {at} waits for the answer to its last request"),
            false => String::new(),
        };
        let may: Vec<String> = offers.iter().map(A::Family::input_in_words).collect();
        let may = match may.is_empty() {
            true => format!("; {at} may ask nothing now"),
            false => format!("; {at} may: {}", shorten(&may)),
        };
        Err(format!("'{at} {words}' is not possible now{why}{may}"))
    }

    fn message(&mut self, fate: Fate, pick: &Pick) -> Result<(), Wrong> {
        let slot = self.find(pick)?;
        match fate {
            Fate::Deliver => {
                self.must_be_deliverable(slot)?;
                self.step(&Action::Deliver(slot))
            }
            Fate::Drop => self.step(&Action::Drop(slot)),
            Fate::Duplicate => self.step(&Action::Duplicate(slot)),
        }
    }

    /// The message that is meant.
    fn find(&self, pick: &Pick) -> Result<Slot, Wrong> {
        let matching: Vec<Slot> = in_flight(&self.world)
            .into_iter()
            .filter(|(_, envelope)| {
                (envelope.from, envelope.to) == (pick.from, pick.to)
                    && (pick.name.is_empty()
                        || envelope.body.kind() == pick.name
                        || message_text(envelope) == pick.name)
            })
            .map(|(slot, _)| slot)
            .collect();
        matching.get(pick.number - 1).copied().ok_or_else(|| {
            let name = if pick.name.is_empty() { "message" } else { &pick.name };
            let number = if pick.number > 1 { format!(" #{}", pick.number) } else { String::new() };
            let (from, to) = (pick.from, pick.to);
            format!("no {name}{number} is on its way {from} -> {to}; {}", self.on_their_way())
        })
    }

    fn must_be_deliverable(&self, slot: Slot) -> Result<(), Wrong> {
        let Some(envelope) = self.world.flight().get(slot) else { return Ok(()) };
        if self.world.is_deliverable(slot) {
            return Ok(());
        }
        if self.world.process(envelope.to).status == Status::Paused {
            return Err(format!("{0} is paused; resume {0} first", envelope.to));
        }
        let order = format!("{:?}", self.world.order()).to_lowercase();
        let first = "another message must arrive before it";
        Err(format!("the network keeps {order} order, and {first}; {}", self.on_their_way()))
    }

    pub(super) fn on_their_way(&self) -> String {
        let all: Vec<String> =
            in_flight(&self.world).iter().map(|(_, envelope)| message_name(envelope)).collect();
        match all.is_empty() {
            true => "nothing is on its way".to_owned(),
            false => format!("on their way: {}", shorten(&all)),
        }
    }

    fn oldest(&self) -> Option<Slot> {
        let mut slots = in_flight(&self.world).into_iter().map(|(slot, _)| slot);
        slots.find(|slot| self.world.is_deliverable(*slot))
    }

    fn deliver_some(&mut self, count: u64) -> Result<(), Wrong> {
        for done in 0..count {
            let Some(slot) = self.oldest() else {
                return Err(format!("after {done} of {count} nothing can be delivered"));
            };
            self.step(&Action::Deliver(slot))?;
        }
        Ok(())
    }

    /// Disks write and messages arrive, the oldest first, until nothing is left.
    fn deliver_all(&mut self) -> Result<(), Wrong> {
        for _ in 0..STEPS_AT_MOST {
            let writes = |at: &ProcessId| {
                let process = self.world.process(*at);
                process.is_up() && process.is_writing()
            };
            let writer = ProcessId::all(self.world.processes().len()).find(writes);
            match (writer, self.oldest()) {
                (Some(at), _) => self.step(&Action::Sync(at))?,
                (None, Some(slot)) => self.step(&Action::Deliver(slot))?,
                (None, None) => return Ok(()),
            }
        }
        Err(format!(
            "this never ends: after {STEPS_AT_MOST} steps messages are still sent; write deliver \
             20 to deliver only so many; {}",
            self.on_their_way()
        ))
    }

    fn fire(&mut self, at: ProcessId, name: &str) -> Result<(), Wrong> {
        let timers = self.world.process(at).timers();
        let named: Vec<(u64, String)> =
            timers.iter().map(|set| (set.number, plain(&format!("{:?}", set.timer)))).collect();
        let wanted = match named.as_slice() {
            [(number, _)] if name.is_empty() => Some(*number),
            all => all.iter().find(|(_, timer)| timer == name).map(|(number, _)| *number),
        };
        match wanted {
            Some(timer) => self.step(&Action::Fire { at, timer }),
            None if named.is_empty() => Err(format!("{at} has set no timer")),
            None => {
                let all: Vec<String> = named.into_iter().map(|(_, timer)| timer).collect();
                let which = if name.is_empty() {
                    "which timer?".to_owned()
                } else {
                    format!("{at} has no timer {name};")
                };
                Err(format!("{which} {at} has set: {}", shorten(&all)))
            }
        }
    }

    /// Time passes, and what becomes due happens.
    fn wait(&mut self, us: u64) -> Result<(), Wrong> {
        let end_us = self.world.now_us.saturating_add(us);
        for _ in 0..STEPS_AT_MOST {
            let Some((at_us, action)) = self.next_due(end_us) else {
                self.world.now_us = end_us;
                return Ok(());
            };
            self.world.now_us = self.world.now_us.max(at_us);
            self.step(&action)?;
        }
        let now = in_words(self.world.now_us);
        Err(format!("too much happens: {STEPS_AT_MOST} steps, and it is only {now}"))
    }

    /// The first thing that is due and possible. What is due at a paused process waits.
    fn next_due(&self, end_us: u64) -> Option<(u64, Action<A::Input>)> {
        self.stage.agenda.until(end_us).find_map(|(at_us, due)| {
            let action = match due {
                Due::Deliver(slot) if !self.world.is_deliverable(slot) => return None,
                Due::Deliver(slot) => Action::Deliver(slot),
                Due::Fire(at, timer) => Action::Fire { at, timer },
                Due::Sync(at) => Action::Sync(at),
            };
            self.world.can(&action).is_ok().then_some((at_us, action))
        })
    }
}

/// The messages on their way, the oldest first.
pub(super) fn in_flight<A: Algorithm>(world: &World<A>) -> Vec<(Slot, &Envelope<A>)> {
    let mut all: Vec<(Slot, &Envelope<A>)> = world.flight().iter().collect();
    all.sort_by_key(|(slot, envelope)| (envelope.number, *slot));
    all
}

/// What a message says, with one space between the words.
pub(super) fn message_text<A: Algorithm>(envelope: &Envelope<A>) -> String {
    match &envelope.body {
        Body::Message(message) => plain(&format!("{message:?}")),
        Body::Tell(_) => "tell".to_owned(),
    }
}

/// A message with its link.
pub(super) fn message_name<A: Algorithm>(envelope: &Envelope<A>) -> String {
    format!("{} -> {} {}", envelope.from, envelope.to, message_text(envelope))
}

/// The first few, and how many more.
pub(super) fn shorten(all: &[String]) -> String {
    let more = all.len().saturating_sub(LISTED_AT_MOST);
    let listed = list(all.iter().take(LISTED_AT_MOST).map(String::as_str));
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}
