//! The group engine as a layer: every service uses the embedded and the abstract engine in the same
//! way.

use super::abstract_engine::{self, Abstract, Move, PARAMETERS};
use super::embedded::{self, Beat, Embedded};
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::fmt;
use synod_core::card::{OwnFaults, Parameter, Rule};
use synod_core::family::GroupService;
use synod_core::family::group::LEVEL;
use synod_core::family::multicast::{PAYLOAD, Payload, body};
use synod_core::group::{Ask, Capabilities, Engine, Event};
use synod_core::reductions::{FaultBudgets, Fleeting};
use synod_core::{
    Algorithm, Card, Cx, ProcessId, ProcessSet, Protocol, Reductions, Setup, SetupError, Wire,
};

pub use synod_core::family::group::ENGINE;

const ENGINES: &[&str] = &["embedded", "abstract"];

/// A group engine that the setup has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupEngine<M> {
    /// The engine that runs for real.
    Embedded(Box<Embedded<M>>),
    /// The engine for explorers.
    Abstract(Abstract<M>),
}

/// A message of one of the engines.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// Between the members themselves.
    Embedded(embedded::Message<M>),
    /// Between a member and the oracle.
    Abstract(abstract_engine::Message<M>),
}

impl<M: Wire> Wire for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Embedded(message) => message.kind(),
            Message::Abstract(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Embedded(message) => message.label(),
            Message::Abstract(message) => message.label(),
        }
    }
}

/// Prints the message alone: the header of a scenario names the engine.
impl<M: fmt::Debug> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Embedded(message) => message.fmt(f),
            Message::Abstract(message) => message.fmt(f),
        }
    }
}

/// A timer of one of the engines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The next heartbeat.
    Embedded(Beat),
    /// The adversary's next move.
    Abstract(Move),
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Embedded(beat) => beat.fmt(f),
            Timer::Abstract(next) => next.fmt(f),
        }
    }
}

impl<M: Fleeting> GroupEngine<M> {
    /// The events that a lazy oracle has not passed on to a member yet; none for every other
    /// process.
    pub fn waiting_for(&self, node: ProcessId) -> Option<Vec<abstract_engine::Waiting<'_, M>>> {
        match self {
            GroupEngine::Embedded(_) => None,
            GroupEngine::Abstract(engine) => engine.waiting_for(node),
        }
    }

    /// The message by which the oracle passes an event on to a member.
    pub fn passing_on(event: Event<M>) -> Message<M> {
        Message::Abstract(abstract_engine::Message::Tell(event))
    }
}

/// The hints of the abstract engine. The embedded engine has none.
impl<M: Fleeting> GroupEngine<M> {
    fn is_urgent(message: &Message<M>) -> bool {
        matches!(message, Message::Abstract(message) if Abstract::<M>::REDUCTIONS.is_urgent(message))
    }

    fn is_fault(timer: &Timer) -> bool {
        matches!(timer, Timer::Abstract(next) if next.is_fault())
    }

    fn faults_left(&self) -> FaultBudgets {
        match self {
            GroupEngine::Embedded(_) => [0; 8],
            GroupEngine::Abstract(engine) => Abstract::REDUCTIONS.faults_left(engine),
        }
    }
}

/// One step of the engine that was chosen.
macro_rules! step {
    ($self:ident, $cx:ident, |$engine:ident, $below:ident| $step:expr) => {
        match $self {
            GroupEngine::Embedded($engine) => {
                let (message, timer) = (Message::Embedded, Timer::Embedded);
                $cx.through(None, message, timer, identity, |$below| $step);
            }
            GroupEngine::Abstract($engine) => {
                let (message, timer) = (Message::Abstract, Timer::Abstract);
                $cx.through(None, message, timer, identity, |$below| $step);
            }
        }
    };
}

impl<M: Fleeting> Protocol for GroupEngine<M> {
    type Input = Ask<M>;
    type Output = Event<M>;
    type Message = Message<M>;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> = Reductions {
        is_urgent: Some(Self::is_urgent),
        is_fault: Some(Self::is_fault),
        faults_left: Some(Self::faults_left),
        thorough: Abstract::<M>::REDUCTIONS.thorough,
        ..Reductions::NONE
    };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        step!(self, cx, |engine, cx| engine.on_start(cx));
    }

    fn on_input(&mut self, ask: Ask<M>, cx: &mut Cx<'_, Self>) {
        step!(self, cx, |engine, cx| engine.on_input(ask, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Message<M>, cx: &mut Cx<'_, Self>) {
        match (self, message) {
            (GroupEngine::Embedded(engine), Message::Embedded(message)) => {
                let (wrap, timer) = (Message::Embedded, Timer::Embedded);
                let step = |cx: &mut Cx<'_, Embedded<M>>| engine.on_message(from, message, cx);
                cx.through(None, wrap, timer, identity, step);
            }
            (GroupEngine::Abstract(engine), Message::Abstract(message)) => {
                let (wrap, timer) = (Message::Abstract, Timer::Abstract);
                let step = |cx: &mut Cx<'_, Abstract<M>>| engine.on_message(from, message, cx);
                cx.through(None, wrap, timer, identity, step);
            }
            _ => cx.accuse(from, "speaks as another engine does"),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match (self, timer) {
            (GroupEngine::Embedded(engine), Timer::Embedded(beat)) => {
                let (message, wrap) = (Message::Embedded, Timer::Embedded);
                let step = |cx: &mut Cx<'_, Embedded<M>>| engine.on_timer(beat, cx);
                cx.through(None, message, wrap, identity, step);
            }
            (GroupEngine::Abstract(engine), Timer::Abstract(next)) => {
                let (message, wrap) = (Message::Abstract, Timer::Abstract);
                let step = |cx: &mut Cx<'_, Abstract<M>>| engine.on_timer(next, cx);
                cx.through(None, message, wrap, identity, step);
            }
            _ => unreachable!("an engine sets its own timers"),
        }
    }
}

impl<M: Fleeting> Engine<M> for GroupEngine<M> {
    fn capabilities(&self) -> Capabilities {
        match self {
            GroupEngine::Embedded(engine) => engine.capabilities(),
            GroupEngine::Abstract(engine) => engine.capabilities(),
        }
    }

    fn room(&self) -> usize {
        match self {
            GroupEngine::Embedded(engine) => engine.room(),
            GroupEngine::Abstract(engine) => engine.room(),
        }
    }

    const RULES: &'static [Rule] = &[embedded::MEMBERSHIP, embedded::ORDER, abstract_engine::RULE];

    const PARAMETERS: &'static [Parameter] = &ALL_PARAMETERS;

    const OWN_FAULTS: Option<OwnFaults> = Some(abstract_engine::OWN_FAULTS);

    /// The engine that the parameter [`ENGINE`] names.
    fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        match setup.choice(ENGINE.name, ENGINES)? {
            "abstract" => {
                let processes = Abstract::engines(setup)?;
                Ok(processes.into_iter().map(GroupEngine::Abstract).collect())
            }
            _ => {
                let processes = Embedded::engines(setup)?.into_iter();
                Ok(processes.map(|engine| GroupEngine::Embedded(Box::new(engine))).collect())
            }
        }
    }

    fn nodes(setup: &Setup) -> Result<ProcessSet, SetupError> {
        match setup.choice(ENGINE.name, ENGINES)? {
            "abstract" => Abstract::<M>::nodes(setup),
            _ => <Embedded<M>>::nodes(setup),
        }
    }

    fn takes_part(&self) -> bool {
        match self {
            GroupEngine::Embedded(engine) => engine.takes_part(),
            GroupEngine::Abstract(engine) => engine.takes_part(),
        }
    }

    fn parts(&self) -> Vec<ProcessSet> {
        match self {
            GroupEngine::Embedded(engine) => engine.parts(),
            GroupEngine::Abstract(engine) => engine.parts(),
        }
    }

    fn is_restless(&self) -> bool {
        match self {
            GroupEngine::Embedded(engine) => engine.is_restless(),
            GroupEngine::Abstract(engine) => engine.is_restless(),
        }
    }
}

/// The choice of the engine, and the parameters of both.
const ALL_PARAMETERS: [Parameter; 1 + embedded::PARAMETERS.len() + PARAMETERS.len()] = {
    let mut all = [ENGINE; 1 + embedded::PARAMETERS.len() + PARAMETERS.len()];
    let (own, mut at) = (embedded::PARAMETERS.len(), 0);
    while at + 1 < all.len() {
        all[at + 1] = if at < own { embedded::PARAMETERS[at] } else { PARAMETERS[at - own] };
        at += 1;
    }
    all
};

/// The rules of the embedded engine, one by one, and that of the abstract one.
const RULES: [Rule; embedded::CARD.rules.len() + 1] =
    Rule::both(embedded::CARD.rules, &[abstract_engine::RULE]);

impl Algorithm for GroupEngine<Payload> {
    type Family = GroupService;

    const CARD: Card = Card {
        rules: &RULES,
        parameters: &[
            ENGINE,
            embedded::PERIOD,
            embedded::TIMEOUT,
            embedded::WINDOW_OF,
            embedded::VIEWS_AT_MOST,
            LEVEL,
            PAYLOAD,
            abstract_engine::PARAMETERS[0],
            abstract_engine::PARAMETERS[1],
            abstract_engine::PARAMETERS[2],
            abstract_engine::PARAMETERS[3],
            abstract_engine::PARAMETERS[4],
            abstract_engine::PARAMETERS[5],
            abstract_engine::PARAMETERS[6],
            abstract_engine::PARAMETERS[7],
            abstract_engine::PARAMETERS[8],
            abstract_engine::PARAMETERS[9],
            abstract_engine::PARAMETERS[10],
            abstract_engine::PARAMETERS[11],
        ],
        own_faults: Some(abstract_engine::OWN_FAULTS),
        ..embedded::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        body(setup)?;
        setup.choice(LEVEL.name, &["agreed", "safe", "mixed"])?;
        Self::engines(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        Engine::takes_part(self)
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.iter().any(Engine::is_restless)
    }

    fn begins_round(timer: &Timer) -> bool {
        matches!(timer, Timer::Embedded(Beat))
    }

    fn has_costs(setup: &Setup) -> bool {
        setup.text(ENGINE.name) != Some("abstract")
    }
}
