//! The group engine as a layer: whichever it is, whoever stands on it uses it in the same way.

use super::abstract_engine::{self, Abstract, Move, ORACLE};
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::card::Parameter;
use synod_core::family::GroupService;
use synod_core::family::multicast::Payload;
use synod_core::group::{Ask, Capabilities, Engine, Event};
use synod_core::{Algorithm, Card, Cx, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire};

/// The parameter that names the engine.
pub const ENGINE: Parameter = Parameter {
    name: "engine",
    meaning: "abstract: p0 is the group service itself, and does whatever its contract allows",
};

/// A group engine that was chosen when the group was set up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupEngine<M> {
    /// For explorers.
    Abstract(Abstract<M>),
}

/// What travels.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// Between a member and the oracle.
    Abstract(abstract_engine::Message<M>),
}

impl<M: Wire> Wire for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Abstract(message) => message.kind(),
        }
    }

    fn is_urgent(&self) -> bool {
        match self {
            Message::Abstract(message) => message.is_urgent(),
        }
    }
}

/// Which engine it is says the header of a scenario; each message need not.
impl<M: fmt::Debug> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Abstract(message) => message.fmt(f),
        }
    }
}

/// What an engine waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The adversary's next move.
    Abstract(Move),
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Abstract(next) => next.fmt(f),
        }
    }
}

impl Timer {
    /// Whether it stands for something that goes wrong.
    pub fn is_fault(&self) -> bool {
        match self {
            Timer::Abstract(next) => next.is_fault(),
        }
    }
}

impl<M: Wire> GroupEngine<M> {
    /// The processes of a group that stands on the engine that the parameter [`ENGINE`] names.
    pub fn engines(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        match setup.choice(ENGINE.name, &["abstract"])? {
            "abstract" => {
                let processes = Abstract::processes(setup)?;
                Ok(processes.into_iter().map(GroupEngine::Abstract).collect())
            }
            engine => unreachable!("{engine} is none of them"),
        }
    }

    /// The nodes of such a group that may be members.
    pub fn nodes(setup: &Setup) -> Result<ProcessSet, SetupError> {
        match setup.choice(ENGINE.name, &["abstract"])? {
            "abstract" => Ok(ProcessSet::all_but(setup.n, ORACLE)),
            _ => Ok(ProcessSet::all(setup.n)),
        }
    }

    /// Whether this process may be a member.
    pub fn takes_part(&self) -> bool {
        !matches!(self, GroupEngine::Abstract(Abstract::Oracle(_)))
    }

    /// Whether it goes on sending although nobody wants anything.
    pub fn is_restless(&self) -> bool {
        match self {
            GroupEngine::Abstract(_) => false,
        }
    }

    /// One step of whichever engine it is.
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        of_abstract: impl FnOnce(&mut Abstract<M>, &mut Cx<'_, Abstract<M>>),
    ) {
        match self {
            GroupEngine::Abstract(engine) => {
                let (message, timer) = (Message::Abstract, Timer::Abstract);
                cx.through(None, message, timer, |event| event, |cx| of_abstract(engine, cx));
            }
        }
    }
}

impl<M: Wire> Protocol for GroupEngine<M> {
    type Input = Ask<M>;
    type Output = Event<M>;
    type Message = Message<M>;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.step(cx, |engine, cx| engine.on_start(cx));
    }

    fn on_input(&mut self, ask: Ask<M>, cx: &mut Cx<'_, Self>) {
        self.step(cx, |engine, cx| engine.on_input(ask, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Message<M>, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Abstract(message) => {
                self.step(cx, |engine, cx| engine.on_message(from, message, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Abstract(next) => self.step(cx, |engine, cx| engine.on_timer(next, cx)),
        }
    }
}

impl<M: Wire> Engine<M> for GroupEngine<M> {
    fn capabilities(&self) -> Capabilities {
        match self {
            GroupEngine::Abstract(engine) => engine.capabilities(),
        }
    }

    fn room(&self) -> usize {
        match self {
            GroupEngine::Abstract(engine) => engine.room(),
        }
    }
}

impl Algorithm for GroupEngine<Payload> {
    type Family = GroupService;

    const CARD: Card = Card {
        name: "group",
        title: "a group service",
        parameters: &[
            ENGINE,
            synod_core::family::group::LEVEL,
            abstract_engine::PARAMETERS[0],
            abstract_engine::PARAMETERS[1],
            abstract_engine::PARAMETERS[2],
            abstract_engine::PARAMETERS[3],
            abstract_engine::PARAMETERS[4],
            abstract_engine::PARAMETERS[5],
            abstract_engine::PARAMETERS[6],
            abstract_engine::PARAMETERS[7],
            abstract_engine::PARAMETERS[8],
        ],
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::engines(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        GroupEngine::takes_part(self)
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.iter().any(GroupEngine::is_restless)
    }

    fn is_fault(timer: &Timer) -> bool {
        timer.is_fault()
    }
}
