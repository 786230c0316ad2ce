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

/// The settings of a group, the same at all its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The path of reads.
    pub reads: Reads,
    /// A client asks again after this time without an answer.
    pub patience_ms: u64,
    /// Limit of its repetitions; None: it asks until it is answered.
    pub tries: Option<u32>,
    /// The engine gets a snapshot after this many entries, and discards them; 0: never.
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

/// The path of an operation that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reads {
    /// Through the log, like every other operation.
    Log,
    /// Around the log: the engine says when the local state is recent enough ([`Ask::Read`]).
    Index,
}

/// A request of a client at this process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Open<O, A> {
    pub(super) command: Command<O>,
    /// The number of repetitions so far.
    pub(super) tries: u32,
    /// The replies so far.
    pub(super) answers: BTreeMap<ProcessId, A>,
    /// The processes that said that its session is closed.
    pub(super) closed: ProcessSet,
}

/// The counts of a client's requests in its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Made {
    /// Requests through the log.
    pub(super) logged: u64,
    /// Reads around the log.
    pub(super) reads: u64,
    /// Its sessions that were closed before.
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
    /// The last entry in the last snapshot that the engine got.
    pub(super) compacted: u64,
    /// The open requests of the clients at this process.
    pub(super) open: BTreeMap<u32, Open<M::Operation, M::Answer>>,
    /// The counts of each client's requests.
    pub(super) made: BTreeMap<u32, Made>,
    /// Reads that wait for the engine, by number.
    pub(super) reads: BTreeMap<u64, Command<M::Operation>>,
    pub(super) reads_made: u64,
}

/// A request to the engine below.
type AskOf<M> = Ask<Command<<M as StateMachine>::Operation>, Sessions<M>>;

/// Requests to the engine, in order.
pub(super) type Asks<M> = VecDeque<AskOf<M>>;

/// An event of the engine below.
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

    /// Takes a step of the engine, and deals with its events.
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        let events = cx.below_logged(|cx| step(&mut self.engine, cx));
        self.settle(events.into_iter().collect(), Asks::<M>::new(), cx);
    }

    /// Takes a step of this layer, and passes its requests to the engine.
    fn above(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Self, &mut Asks<M>, &mut Cx<'_, Self>),
    ) {
        let mut asks = Asks::<M>::new();
        step(self, &mut asks, cx);
        self.settle(VecDeque::new(), asks, cx);
    }

    /// Deals with all events of the engine before the next request to it. So no event overtakes an
    /// earlier one, even if the earlier one led to a request.
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
