//! A history: the actions and choices by which any driver repeats what happened.

use crate::lasso::{Duty, duty};
use crate::question::Question;
use crate::roots::Root;
use crate::successors::Successors;
use std::io;
use synod_core::card::Order;
use synod_core::family::AnyInput;
use synod_core::{Algorithm, Application, Boxed, Family, ProcessId, SetupError};
use synod_sim::count::Meter;
use synod_sim::trace::Tracer;
use synod_sim::world::{Action, Driver, FaultsLeft, Happening, Process, Slot, Status, Step, World};

/// A run of a world, step by step, from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<I> {
    /// The choices made while the processes started.
    pub start: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step<I>>,
    /// Of an endless history: the number of the step from which the rest repeats for ever.
    pub returns_to: Option<usize>,
}

impl<I> History<I> {
    /// The same history, with every input translated.
    pub fn map<J>(self, translate: impl Fn(I) -> J) -> History<J> {
        let History { start, steps, returns_to } = self;
        let steps = steps.into_iter().map(|step| step.map(&translate)).collect();
        History { start, steps, returns_to }
    }
}

/// The next state of a history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// The successor with this number.
    Successor(u32),
    /// The successor with this fingerprint, by a step that does this duty. On a circle the number
    /// of a successor is of no use: successors are numbered by the places of messages, and a state
    /// that is reached again may have its messages in other places.
    State(u64, Option<Duty>),
}

/// The history that leads from a root through these states. An endless one repeats from the state
/// number `returns_to`.
pub(crate) fn follow<A: Algorithm>(
    question: &Question,
    root: Root<A>,
    states: impl IntoIterator<Item = Next>,
    returns_to: Option<usize>,
) -> Result<History<A::Input>, SetupError> {
    let normal = question.is_normal::<A>();
    let Root { history: History { start, steps, .. }, mut world, .. } = root;
    let mut successors = Successors::new(&world);
    let mut full = Full::begin(question, &start, steps)?;
    let mut began = Vec::new();
    for wanted in states {
        let mut found = None;
        successors.each(&world, |ordinal, action, choices, after| {
            let is_wanted = match wanted {
                Next::Successor(number) => ordinal == number,
                Next::State(print, done) => {
                    after.whole_fingerprint(normal) == print && duty(&world, action) == done
                }
            };
            if is_wanted {
                let step = Step { action: action.clone(), choices: choices.to_vec() };
                found = Some((step, after.clone()));
            }
            !is_wanted
        });
        let (step, after) = found.expect("the search took this step");
        began.push(full.steps.len());
        full.take(&world, step);
        world = after;
    }
    let returns_to = returns_to.map(|step| began[step]);
    Ok(History { start, steps: full.steps, returns_to })
}

/// The full world, where the same happens as in the lean world that was searched. A history is a
/// history of the full world: other drivers forget no messages.
struct Full<A: Algorithm> {
    world: World<A>,
    steps: Vec<Step<A::Input>>,
}

impl<A: Algorithm> Full<A> {
    fn begin(
        question: &Question,
        start: &[u32],
        steps: Vec<Step<A::Input>>,
    ) -> Result<Self, SetupError> {
        let mut world = World::new(&question.plan::<A>())?;
        world.start(&mut Replayer::new(start, None, question.scope.n));
        let mut full = Full { world, steps: Vec::new() };
        steps.into_iter().for_each(|step| full.step(step));
        full.world.faults = FaultsLeft::from(&question.scope);
        Ok(full)
    }

    /// Takes a step of the lean world.
    fn take(&mut self, lean: &World<A>, Step { action, choices }: Step<A::Input>) {
        let action = self.translate(lean, action);
        self.step(Step { action, choices });
    }

    fn step(&mut self, step: Step<A::Input>) {
        let n = self.world.processes().len();
        self.world.step(&step.action, &mut Replayer::new(&step.choices, None, n));
        self.steps.push(step);
    }

    /// The same action in the full world, where messages are in other places. A link that keeps its
    /// order first delivers the messages ahead, which the lean world has forgotten because their
    /// receiver ignores them.
    fn translate(&mut self, lean: &World<A>, action: Action<A::Input>) -> Action<A::Input> {
        match action {
            Action::Deliver(slot) => {
                let number = number_of(lean, slot);
                while let Some(ahead) = self.first_ahead(number) {
                    self.step(Step { action: Action::Deliver(ahead), choices: Vec::new() });
                }
                Action::Deliver(self.slot_of(number))
            }
            Action::Drop(slot) => Action::Drop(self.slot_of(number_of(lean, slot))),
            Action::Duplicate(slot) => Action::Duplicate(self.slot_of(number_of(lean, slot))),
            Action::Late(slot) => Action::Late(self.slot_of(number_of(lean, slot))),
            Action::Cut { step, after } => {
                let step = Box::new(self.translate(lean, *step));
                Action::Cut { step, after }
            }
            other => other,
        }
    }

    fn slot_of(&self, number: u64) -> Slot {
        let mut all = self.world.flight().iter();
        let found = all.find(|(_, envelope)| envelope.number == number);
        found.expect("the full world has every message of the lean one").0
    }

    /// The first message on the link of this message, if links keep their order and it is another
    /// one.
    fn first_ahead(&self, number: u64) -> Option<Slot> {
        let flight = self.world.flight();
        let wanted = flight.get(self.slot_of(number)).expect("it was just found");
        let link = (wanted.from, wanted.to);
        let on_link = flight.iter().filter(|(_, other)| (other.from, other.to) == link);
        let (slot, first) = on_link.min_by_key(|(_, other)| other.number)?;
        (self.world.order() != Order::Any && first.number != number).then_some(slot)
    }
}

fn number_of<A: Algorithm>(world: &World<A>, slot: Slot) -> u64 {
    world.flight().get(slot).expect("the action is possible").number
}

/// Replays a history, step by step. The tracer sees every event. Returns the meter, and the world
/// at the end.
pub fn replay<A: Algorithm>(
    question: &Question,
    history: &History<A::Input>,
    tracer: Option<Tracer<'_>>,
) -> Result<Replayed<A>, ReplayError> {
    let mut world = World::<A>::new(&question.plan::<A>())?;
    world.faults = FaultsLeft::from(&question.scope);
    let mut replayer = Replayer::new(&history.start, tracer, world.processes().len());
    world.start(&mut replayer);
    for (taken, step) in history.steps.iter().enumerate() {
        must_be_possible(&world, taken, &step.action)?;
        replayer.next(&step.choices);
        world.step(&step.action, &mut replayer);
    }
    if let Some(tracer) = replayer.tracer {
        tracer.finish()?;
    }
    Ok(Replayed { world, meter: replayer.meter })
}

/// The same for any algorithm: the setup of the question says which.
pub fn replay_boxed(
    question: &Question,
    history: &History<AnyInput>,
    tracer: Option<Tracer<'_>>,
) -> Result<Replayed<Boxed>, ReplayError> {
    replay(question, history, tracer)
}

/// Checks a step of a history before the world takes it, after `taken` others. A history is data,
/// but a protocol relies on its application to ask only what it offers, and on the network to keep
/// its order.
pub(crate) fn must_be_possible<A: Algorithm>(
    world: &World<A>,
    taken: usize,
    action: &Action<A::Input>,
) -> Result<(), ReplayError> {
    let impossible = |why| ReplayError::Impossible { number: taken + 1, why };
    world.can(action).map_err(|reason| impossible(reason.0))?;
    match action {
        Action::Deliver(slot) if !world.is_deliverable(*slot) => {
            let to = world.flight().get(*slot).map_or(ProcessId(0), |envelope| envelope.to);
            let order = format!("{:?}", world.order()).to_lowercase();
            let why = match world.process(to).status {
                Status::Paused => format!("{to} is paused"),
                _ => format!("the network keeps {order} order, and another message goes first"),
            };
            Err(impossible(why))
        }
        Action::Input { at, input } => {
            if world.process(*at).application.may_ask(input) || A::Family::is_order(input) {
                return Ok(());
            }
            let words = A::Family::input_in_words(input);
            Err(impossible(format!("the application of {at} does not offer '{words}' now")))
        }
        Action::Cut { step, .. } => must_be_possible(world, taken, step),
        _ => Ok(()),
    }
}

/// The outcome of a replay.
pub struct Replayed<A: Algorithm> {
    /// The world at its end.
    pub world: World<A>,
    /// Messages, events and times, as counted.
    pub meter: Meter,
}

/// Why a history cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The group cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A step is not possible: the history is of another algorithm, another version or another
    /// set-up.
    #[error(
        "step {number} of the history is not possible: {why}; take it out, or replay the history in the \
         set-up in which it was made"
    )]
    Impossible {
        /// The number of the step, from 1.
        number: usize,
        /// What stands in its way.
        why: String,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] io::Error),
}

/// The driver of a replay: it makes the choices of the history.
pub(crate) struct Replayer<'s> {
    /// The choices to come, the next one last.
    choices: Vec<u32>,
    tracer: Option<Tracer<'s>>,
    meter: Meter,
}

impl<'s> Replayer<'s> {
    pub(crate) fn new(choices: &[u32], tracer: Option<Tracer<'s>>, n: usize) -> Self {
        let mut replayer = Replayer { choices: Vec::new(), tracer, meter: Meter::new(n) };
        replayer.next(choices);
        replayer
    }

    /// The choices of the next step.
    pub(crate) fn next(&mut self, choices: &[u32]) {
        self.choices.clear();
        self.choices.extend(choices.iter().rev());
    }
}

impl<A: Algorithm> Driver<A> for Replayer<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        self.choices.pop().unwrap_or(0).min(among - 1)
    }

    fn look(&mut self, processes: &[Process<A>]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.look(processes);
        }
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, A>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.see(now_us, &happening);
        }
        self.meter.see(now_us, &happening);
    }
}
