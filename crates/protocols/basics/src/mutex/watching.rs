//! The failure detector below an algorithm that survives crashes.
//!
//! The algorithm above knows nothing of signs of life: it says in one place what it does without
//! the processes that are taken for crashed ([`Survivor::do_without`]). That place is visited after
//! every event while there are such processes. So a process that crashed before a request is
//! treated like one that crashes after it.
//!
//! - Assumes: the detector is right. A process that is taken for crashed while it is inside loses
//!   the critical section to another: with a detector that errs, every algorithm here breaks ME1.
//! - Cost: that of the detector; without one (the default), none.
//! - State: that of the detector and of the algorithm, and a set of at most N − 1 names.

use crate::detector::{self, Detector, Opinion, parameter, rule};
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::card::{Crashes, Parameter, Settings, Size, Timing, Tolerance};
use synod_core::family::mutex::{Input, ME1, ME2, Mutex, Output};
use synod_core::{
    Algorithm, Card, Cx, Invariant, Never, ProcessId, ProcessSet, Protocol, Rule, Setup,
    SetupError, Trigger, Wire,
};

/// An algorithm for mutual exclusion that survives crashes, if it is told of them.
pub trait Survivor: Protocol<Input = Input, Output = Output, Timer = Never> {
    /// The card of the algorithm with its detector.
    const CARD: Card;

    /// The invariants that the explorer checks in every state.
    const INVARIANTS: &'static [Invariant<Watching<Self>>] = &[];

    /// The processes of a group, without their detectors.
    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// Whether the application at this process makes requests.
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }

    /// The sizes in its cost formulas.
    fn size(processes: &[&Self]) -> Size {
        Size { n: processes.len(), k: processes.len() }
    }

    /// Goes on without these processes, which are taken for crashed. Called after
    /// every event while there are any, so the second time there is nothing left to do.
    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>);

    /// The time of a message of the application: see [`Algorithm::stamp`].
    fn stamp(&mut self) -> u64 {
        0
    }

    /// Such a message arrives.
    fn witness(&mut self, _stamp: u64) {}
}

/// A message of the algorithm, or one between the failure detectors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Watched<M> {
    /// A message of the algorithm.
    Own(M),
    /// A sign of life.
    Detector(detector::Message),
}

impl<M: Wire> Wire for Watched<M> {
    fn kind(&self) -> &'static str {
        match self {
            Watched::Own(message) => message.kind(),
            Watched::Detector(message) => message.kind(),
        }
    }
}

impl<M: fmt::Debug> fmt::Debug for Watched<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watched::Own(message) => message.fmt(f),
            Watched::Detector(message) => message.fmt(f),
        }
    }
}

impl<M> From<detector::Message> for Watched<M> {
    fn from(message: detector::Message) -> Self {
        Watched::Detector(message)
    }
}

/// One process: the algorithm, and a failure detector that may be none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Watching<P> {
    detector: Detector,
    /// The processes that the detector takes for crashed.
    dead: ProcessSet,
    /// Whether the application at this process asks.
    asks: bool,
    pub(super) algorithm: P,
}

impl<P: Survivor> Protocol for Watching<P> {
    type Input = Input;
    type Output = Output;
    type Message = Watched<P::Message>;
    type Timer = detector::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_start(cx));
        assert!(opinions.is_empty(), "no process is suspected before time has passed");
        self.drive(cx, |algorithm, cx| algorithm.on_start(cx));
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.drive(cx, |algorithm, cx| algorithm.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Watched<P::Message>, cx: &mut Cx<'_, Self>) {
        match message {
            Watched::Own(message) => {
                self.drive(cx, |algorithm, cx| algorithm.on_message(from, message, cx));
            }
            Watched::Detector(message) => {
                let opinions = cx.below(|cx| self.detector.on_message(from, message, cx));
                opinions.into_iter().for_each(|opinion| self.on_opinion(opinion, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: detector::Timer, cx: &mut Cx<'_, Self>) {
        let opinions = cx.below(|cx| self.detector.on_timer(timer, cx));
        opinions.into_iter().for_each(|opinion| self.on_opinion(opinion, cx));
    }
}

impl<P: Survivor> Watching<P> {
    fn on_opinion(&mut self, opinion: Opinion, cx: &mut Cx<'_, Self>) {
        match opinion {
            Opinion::Suspect(process) => self.dead.insert(process),
            Opinion::Restore(process) => self.dead.remove(process),
        };
        self.drive(cx, |_, _| ());
    }

    /// Runs one step of the algorithm, and then goes on without the dead.
    fn drive(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut P, &mut Cx<'_, P>)) {
        let Watching { algorithm, dead, .. } = self;
        let timer = |never: Never| match never {};
        cx.through(
            None,
            Watched::Own,
            timer,
            |output| output,
            |cx| {
                step(algorithm, cx);
                if !dead.is_empty() {
                    algorithm.do_without(dead, cx);
                }
            },
        );
    }
}

impl<P: Survivor> Algorithm for Watching<P> {
    type Family = Mutex;

    const CARD: Card = P::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let detector = Detector::from_setup(setup, "none")?;
        let askers = setup.processes(ASKERS.name)?;
        let with_detector = |(me, algorithm)| Watching {
            detector: detector.clone(),
            dead: ProcessSet::EMPTY,
            asks: askers.as_ref().is_none_or(|askers| askers.contains(&me)),
            algorithm,
        };
        let algorithms = P::assemble(setup)?;
        Ok(ProcessId::all(setup.n).zip(algorithms).map(with_detector).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.asks && self.algorithm.takes_part(me)
    }

    fn is_restless(processes: &[Self]) -> bool {
        Self::CARD.restless || processes.iter().any(|process| process.detector != Detector::None)
    }

    fn size(processes: &[Self]) -> Size {
        P::size(&processes.iter().map(|process| &process.algorithm).collect::<Vec<_>>())
    }

    /// Signs of life are no messages of an entry.
    fn has_costs(setup: &Setup) -> bool {
        setup.text(parameter::DETECTOR.name).is_none_or(|detector| detector == "none")
    }

    fn invariants() -> &'static [Invariant<Self>] {
        P::INVARIANTS
    }

    fn stamp(&mut self) -> u64 {
        self.algorithm.stamp()
    }

    fn witness(&mut self, stamp: u64) {
        self.algorithm.witness(stamp);
    }
}

/// The parameter that names the processes whose applications ask.
pub(super) const ASKERS: Parameter = Parameter {
    name: "askers",
    meaning: "the processes whose applications ask, e.g. p1 p2 (default: all that may)",
};

pub(super) const DETECTOR: Parameter = Parameter {
    name: parameter::DETECTOR.name,
    meaning: "perfect, eventually-perfect, eventually-perfect-tick, phi-accrual or none (default: \
              none, and no crash is noticed)",
};
pub(super) const PERIOD: Parameter = parameter::PERIOD;
pub(super) const DELAY: Parameter = parameter::DELAY;
pub(super) const STYLE: Parameter = parameter::STYLE;
pub(super) const STEP: Parameter = parameter::STEP;

/// The layers of every card here.
pub(super) const LAYERS: &[&str] = &["the algorithm", "the failure detector, if there is one"];

/// The rule of the layer below.
pub(super) const SIGNS_OF_LIFE: Rule = Rule::on(
    &[
        Trigger::Message("Heartbeat"),
        Trigger::Message("Ping"),
        Trigger::Message("Pong"),
        Trigger::Timer("TimeOut"),
        Trigger::Timer("Accrual"),
        Trigger::Timer("Common"),
    ],
    rule::DETECTOR,
);

/// A perfect detector, below.
pub(super) const PERFECT: Settings = &[("detector", "perfect")];
/// The bound on delays by which a perfect detector lives.
pub(super) const BOUNDED: Timing = Timing::Synchronous { delay_ms: 1 };
/// Messages arrive in any order, but before any time passes. Worlds of three with all signs of life
/// under way are small enough to be explored then.
pub(super) const AT_ONCE: Timing = Timing::Synchronous { delay_ms: 0 };
/// The faults that a group with a perfect detector tolerates.
pub(super) const CRASHES: Tolerance =
    Tolerance { crashes: Crashes::AllButOne, delay_ms: Some(1), ..Tolerance::NOTHING };
/// The promises that hold although processes crash.
pub(super) const SAFE_AND_LIVE: &[&str] = &[ME1, ME2];
