//! A script that is written while it is played: the possible next lines, and the state of the run.

use super::command::list;
use super::error::ParseError;
use super::parse::{Word, error_in, join, plain, words};
use super::play::{Player, in_flight, message_text};
use super::write::line;
use super::{Scenario, verdict};
use crate::simulator::{Past, Probe, Run};
use crate::world::{Action, Judged, Status, World};
use synod_core::family::AnyInput;
use synod_core::{Algorithm, Boxed, ProcessId, Verdict};

/// A possible next step, named by its line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The line.
    pub line: String,
    /// The kind of the step.
    pub kind: OfferKind,
    /// The process that takes the step or suffers it. None: the network.
    pub at: Option<ProcessId>,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// An application asks.
    Ask,
    /// A message arrives.
    Deliver,
    /// A timer runs out.
    Timer,
    /// A disk has written.
    Disk,
    /// A fault, or its repair.
    Fault,
}

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnItsWay {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// The name under which it is counted.
    pub kind: &'static str,
    /// Its whole text.
    pub text: String,
    /// Its number, in the order of sending.
    pub number: u64,
    /// Whether the order that the network keeps lets it arrive now.
    pub deliverable: bool,
}

/// The verdict on a property so far, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The id of the property, or the name of an invariant.
    pub property: &'static str,
    /// The verdict. It is not decided while a process waits that may yet be answered.
    pub verdict: Verdict,
    /// Why it is violated, or which processes wait. Empty if it holds.
    pub because: String,
    /// The number of the event that shows the violation.
    pub event: Option<u64>,
}

/// A place in a run to which a player can return.
pub struct Mark {
    run: Run<'static, Boxed>,
    events: usize,
    begins: usize,
}

impl Scenario {
    /// The lines of the script, each with its number in the file, without comments.
    pub fn script(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.script.iter().map(|words| (words[0].line, join(words)))
    }

    /// The text up to the script: comments, header and the line that ends it.
    pub fn preamble(&self) -> &str {
        let mut end = 0;
        for line in self.text.split_inclusive('\n') {
            end += line.len();
            if line.trim_end() == super::parse::BEGIN {
                break;
            }
        }
        &self.text[..end]
    }
}

impl Player {
    /// Plays one line. If it fails, the world may have taken a part of its steps: return to a mark.
    pub fn play_line(&mut self, line: &str) -> Result<(), ParseError> {
        let words: Vec<Word> = words(line, 1);
        if words.is_empty() {
            return Err(error_in(line, 1, 1, 1, "this line says nothing".to_owned()));
        }
        self.line(line, &words)?;
        self.unmet.pop().map_or(Ok(()), Err)
    }

    /// Takes the next planned event by the seed, as the line `run 1` does. False if no event is
    /// planned; then time may have passed.
    pub fn go_on(&mut self) -> Result<bool, ParseError> {
        self.run.wake();
        self.turn().map_err(|message| error_in("run 1", 1, 1, 3, message))
    }

    /// Whether a run by the seed ends here: no event is planned, or every request is fulfilled.
    pub fn has_ended(&self) -> bool {
        self.run.has_ended()
    }

    /// This place, to return to.
    pub fn mark(&self) -> Mark {
        let run = self.run.clone();
        Mark { run, events: self.events.len(), begins: self.begins.len() }
    }

    /// Returns to a mark that this player has set. Then `again` repeats the next steps that the
    /// player took from there, as many as are to stand; their invariants are not judged again.
    pub fn return_to(&mut self, mark: &Mark, again: impl FnOnce(&mut Self)) {
        let past = self.past_since(mark);
        self.run = mark.run.clone();
        self.events.truncate(mark.events);
        self.begins.truncate(mark.begins);
        self.unmet.clear();
        self.run.engine.past = Some(past);
        again(self);
        self.run.engine.past = None;
    }

    /// Another player that repeats the next steps from the mark on, like [`Player::return_to`]. It
    /// does not have the events before the mark.
    pub fn repeat(&self, mark: &Mark, again: impl FnOnce(&mut Self)) -> Self {
        let mut run = mark.run.clone();
        run.engine.past = Some(self.past_since(mark));
        let mut other = Player { run, events: Vec::new(), begins: Vec::new(), unmet: Vec::new() };
        again(&mut other);
        other.run.engine.past = None;
        other
    }

    fn past_since(&self, mark: &Mark) -> Past {
        let is_invariant = |name: &str| self.world().is_invariant(name);
        Past::of(&self.events[mark.events..], &self.begins, is_invariant)
    }

    /// The number of the first event of the step to which this event belongs.
    pub fn first_of_step(&self, event: u64) -> u64 {
        let begun = self.begins.partition_point(|begin| *begin <= event);
        begun.checked_sub(1).map_or(0, |last| self.begins[last])
    }

    /// Keeps the worlds before and after the step that begins with this event.
    pub fn watch_for(&mut self, first_event: u64) {
        self.run.engine.probe = Some(Box::new(Probe::new(first_event)));
    }

    /// The worlds before and after the step that was watched for, if it was taken.
    pub fn watched(&mut self) -> Option<(World<Boxed>, World<Boxed>)> {
        self.run.engine.probe.take()?.into_worlds()
    }

    /// The possible next steps: first those of the algorithm, its applications and the network,
    /// then faults.
    pub fn offers(&self) -> Vec<Offer> {
        let world = self.world();
        let mut actions = Vec::new();
        world.enabled(&mut actions);
        let sound = actions.len();
        world.enabled_faults(&mut actions);
        actions.extend(mishaps(world));
        let offer = |(index, action): (usize, &Action<AnyInput>)| {
            let kind = match action {
                _ if index >= sound => OfferKind::Fault,
                Action::Input { .. } => OfferKind::Ask,
                Action::Fire { .. } => OfferKind::Timer,
                Action::Sync(_) => OfferKind::Disk,
                _ => OfferKind::Deliver,
            };
            Offer { line: line(world, action), kind, at: place(world, action) }
        };
        actions.iter().enumerate().map(offer).collect()
    }

    /// The messages in flight, the oldest first.
    pub fn on_its_way(&self) -> Vec<OnItsWay> {
        let world = self.world();
        let shown = in_flight(world).into_iter().map(|(slot, envelope)| OnItsWay {
            from: envelope.from,
            to: envelope.to,
            kind: envelope.body.kind(),
            text: message_text(envelope),
            number: envelope.number,
            deliverable: world.is_deliverable(slot),
        });
        shown.collect()
    }

    /// The timers that are set, by process and in the order of setting.
    pub fn timers(&self) -> Vec<(ProcessId, String)> {
        let all = ProcessId::all(self.world().processes().len());
        let of = |at: ProcessId| {
            let timers = self.world().process(at).timers().iter();
            timers.map(move |set| (at, plain(&format!("{:?}", set.timer))))
        };
        all.flat_map(of).collect()
    }

    /// The verdict on every property that can be judged.
    pub fn verdicts(&self) -> Vec<Judgement> {
        let ids = Judged::All.ids::<Boxed>(self.world().setup());
        ids.into_iter().map(|property| self.judgement(property)).collect()
    }

    fn judgement(&self, property: &'static str) -> Judgement {
        let verdict = self.verdict_on(property);
        let known = &self.run.engine.witness.violations;
        let shown = known.iter().find(|(violation, _)| violation.property == property);
        let (because, event) = match (verdict, shown) {
            (_, Some((violation, event))) => (violation.because.clone(), Some(*event)),
            (Verdict::Holds, None) => (String::new(), None),
            (Verdict::Undecided, None) => {
                (format!("waiting: {}", self.waiting_for(property)), None)
            }
            (Verdict::Violated, None) => {
                let stuck = self.world().unfulfilled_of(property, verdict::STUCK);
                (stuck.map(|violation| violation.because).unwrap_or_default(), None)
            }
        };
        Judgement { property, verdict, because, event }
    }

    fn waiting_for(&self, property: &str) -> String {
        use synod_core::Monitor;
        let waiting = self.world().monitor().waiting(property);
        let names: Vec<String> = waiting.iter().map(|at| at.to_string()).collect();
        list(names.iter().map(String::as_str))
    }
}

/// The faults that are possible now, and their repairs.
fn mishaps<A: Algorithm>(world: &World<A>) -> Vec<Action<A::Input>> {
    let mut actions = Vec::new();
    for at in ProcessId::all(world.processes().len()) {
        match world.process(at).status {
            Status::Up => actions.extend([Action::Crash(at), Action::Pause(at)]),
            Status::Paused => actions.extend([Action::Resume(at), Action::Crash(at)]),
            Status::Crashed => actions.push(Action::Restart { at, disk: true }),
        }
    }
    for (slot, _) in in_flight(world) {
        actions.extend([Action::Drop(slot), Action::Duplicate(slot)]);
    }
    actions
}

/// The process that takes or suffers a step.
fn place<A: Algorithm>(world: &World<A>, action: &Action<A::Input>) -> Option<ProcessId> {
    match action {
        Action::Drop(slot) | Action::Duplicate(slot) | Action::Deliver(slot) => {
            world.flight().get(*slot).map(|envelope| envelope.to)
        }
        Action::Crash(at) | Action::Pause(at) | Action::Resume(at) | Action::Restart { at, .. } => {
            Some(*at)
        }
        _ => world.actor(action),
    }
}
