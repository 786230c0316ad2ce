//! A state machine on an engine: clients on one side, the log on the other.
//!
//! A client has one request at a time. The request goes to the processes that the engine names
//! ([`Engine::whom_to_ask`]), and again if no answer comes for a while. It is answered when its own
//! process has applied it, or when enough others give the same answer. Reads may go around the log
//! ([`Reads::Index`]).

use super::{Ask, Command, Engine, Event, Invoke, Message, Notice, Sessions, StateMachine, Timer};
use crate::cx::Cx;
use crate::durable::Durable;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Protocol};
use crate::reductions::Reductions;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// How a group answers. The same at all its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// How reads are done.
    pub reads: Reads,
    /// How long a client waits before it asks again.
    pub patience_ms: u64,
    /// How often it asks again; None: until it is answered.
    pub tries: Option<u32>,
    /// The state is handed to the engine after this many entries, which it then forgets; 0: never.
    pub snapshot_every: u64,
}

impl Default for Settings {
    /// Reads go around the log; a client asks again after a second, until it is answered; a
    /// snapshot is taken every 10,000 entries.
    fn default() -> Self {
        let (reads, patience_ms) = (Reads::Index, 1_000);
        Settings { reads, patience_ms, tries: None, snapshot_every: 10_000 }
    }
}

/// How an operation is done that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reads {
    /// It goes into the log like everything else.
    Log,
    /// The engine tells when this is as good as that ([`Ask::Read`]).
    Index,
}

/// A request of a client at this process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Open<O, A> {
    pub(super) command: Command<O>,
    /// How often it was asked again.
    pub(super) tries: u32,
    /// Who gave which answer.
    pub(super) answers: BTreeMap<ProcessId, A>,
    /// Who said that its session is closed.
    pub(super) closed: ProcessSet,
}

/// How much a client has asked in its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Made {
    /// How many requests went into the log.
    pub(super) logged: u64,
    /// How many went around it.
    pub(super) reads: u64,
    /// How many of its sessions were closed before.
    pub(super) closed: u32,
}

/// One process: clients, the state machine, and the engine below.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "M: StateMachine, L: Data")]
pub struct Replicated<M: StateMachine, L> {
    pub(super) engine: L,
    pub(super) settings: Settings,
    pub(super) state: Sessions<M>,
    /// The last entry that is in the state.
    pub(super) applied: u64,
    /// The last entry that the engine was told it may forget.
    pub(super) compacted: u64,
    /// What the clients at this process wait for.
    pub(super) open: BTreeMap<u32, Open<M::Operation, M::Answer>>,
    /// What each client has asked so far.
    pub(super) made: BTreeMap<u32, Made>,
    /// Reads that wait for the engine, by number.
    pub(super) reads: BTreeMap<u64, Command<M::Operation>>,
    pub(super) reads_made: u64,
}

/// What an engine below is asked.
type AskOf<M> = Ask<Command<<M as StateMachine>::Operation>, Sessions<M>>;

/// Questions to the engine, in order.
pub(super) type Asks<M> = VecDeque<AskOf<M>>;

/// What an engine below tells.
pub(super) type EventOf<M> = Event<Command<<M as StateMachine>::Operation>, Sessions<M>>;

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Replicated<M, L> {
    /// A process with this engine.
    pub fn new(engine: L, settings: Settings) -> Self {
        Replicated {
            engine,
            settings,
            state: Sessions::default(),
            applied: 0,
            compacted: 0,
            open: BTreeMap::new(),
            made: BTreeMap::new(),
            reads: BTreeMap::new(),
            reads_made: 0,
        }
    }

    /// The engine below.
    pub fn engine(&self) -> &L {
        &self.engine
    }

    /// The state machine, and its sessions.
    pub fn state(&self) -> &Sessions<M> {
        &self.state
    }

    /// The last entry that is in the state.
    pub fn applied(&self) -> u64 {
        self.applied
    }
}

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Protocol for Replicated<M, L> {
    type Input = Invoke<M::Operation>;
    type Output = Notice<M::Answer>;
    type Message = Message<M::Operation, M::Answer, L::Message>;
    type Timer = Timer<L::Timer>;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::ignores), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |engine, cx| engine.on_start(cx));
    }

    fn on_input(&mut self, input: Self::Input, cx: &mut Cx<'_, Self>) {
        self.above(cx, |this, asks, cx| match input {
            Invoke::Operation { client, operation } => this.invoke(client, operation, asks, cx),
            Invoke::Reconfigure(voters) => asks.push_back(Ask::Reconfigure(voters)),
            Invoke::Transfer(to) => asks.push_back(Ask::Transfer(to)),
        });
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request(command) => {
                self.above(cx, |this, asks, cx| this.on_request(from, command, asks, cx));
            }
            Message::Reply { request, answer } => self.on_reply(from, request, answer, cx),
            Message::Closed(request) => self.on_closed(from, request, cx),
            Message::Engine(message) => {
                self.below(cx, |engine, cx| engine.on_message(from, message, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Engine(timer) => self.below(cx, |engine, cx| engine.on_timer(timer, cx)),
            Timer::AskAgain(client) => {
                self.above(cx, |this, asks, cx| this.ask_again(client, asks, cx));
            }
        }
    }
}

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Durable for Replicated<M, L> {
    type Record = L::Record;

    fn replay(&mut self, record: L::Record) {
        self.engine.replay(record);
    }
}

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Replicated<M, L> {
    /// Whether the message comes too late: the client has its answer, or the engine is past it.
    fn ignores(&self, from: ProcessId, message: &<Self as Protocol>::Message) -> bool {
        match message {
            Message::Request(_) => false,
            Message::Reply { request, .. } | Message::Closed(request) => self.is_over(request),
            Message::Engine(message) => L::REDUCTIONS.ignores(&self.engine, from, message),
        }
    }

    /// A step of the engine, and all that follows from it.
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        let events = cx.below_logged(|cx| step(&mut self.engine, cx));
        self.settle(events.into_iter().collect(), Asks::<M>::new(), cx);
    }

    /// A step up here, and all that follows from it.
    fn above(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Self, &mut Asks<M>, &mut Cx<'_, Self>),
    ) {
        let mut asks = Asks::<M>::new();
        step(self, &mut asks, cx);
        self.settle(VecDeque::new(), asks, cx);
    }

    /// Deals with all events of the engine before it asks the next question: so a later event
    /// never overtakes an earlier one, also if that led to a question.
    fn settle(
        &mut self,
        mut events: VecDeque<EventOf<M>>,
        mut asks: Asks<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        loop {
            while let Some(event) = events.pop_front() {
                self.on_event(event, &mut asks, cx);
            }
            let Some(ask) = asks.pop_front() else { return };
            events.extend(cx.below_logged(|cx| self.engine.on_input(ask, cx)));
        }
    }
}
