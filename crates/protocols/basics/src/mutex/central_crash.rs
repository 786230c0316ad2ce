//! Mutual exclusion by a central server that has successors.
//!
//! If a client crashes, the server drops it from its queue, and takes the key back that it had. If
//! the server crashes, the first process that is left takes over. It knows neither the queue nor
//! the holder, so it *asks* all others where they stand, and lends the key only when all have
//! answered. From that question on, a client takes no key from the old server.
//!
//! - Assumes: a perfect failure detector below (the parameter `detector`), hence reliable links and
//!   a bound on delays; links in order. If the detector errs about the holder, the key is lent
//!   twice.
//! - Guarantees: ME1, ME2, although all processes but one crash. Not ME3.
//! - Cost: 3 messages per entry, as with a server that never crashes; 2(N − 2) more for each
//!   succession among N processes, and those of the detector.
//! - State: one word at a client; the queue of the server has at most N − 1 names.
//!
//! Sources: the server as in G. Coulouris et al.: Distributed Systems, 5th ed. 2011, §15.2. A new
//! coordinator that asks for the state of all others: H. García-Molina: Elections in a distributed
//! computing system. IEEE Transactions on Computers C-31(1), 1982.

use super::central::{SERVER, State};
use super::cost;
use super::watching::{
    ASKERS, AT_ONCE, BOUNDED, CRASHES, DELAY, DETECTOR, LAYERS, PERFECT, PERIOD, SAFE_AND_LIVE,
    SIGNS_OF_LIFE, STEP, STYLE, Survivor, Watching,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Card, Counterexample, Order, Scope, Source, Tolerance, Variant};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Output};
use synod_core::{Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Wire};

/// The messages between clients and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the server: may I have the key?
    Request,
    /// To a client: here it is.
    Grant,
    /// To the server: I give it back.
    Release,
    /// From a new server to all others: I have taken over. Where do you stand?
    Ask,
    /// To the new server: here.
    Answer(State),
}

impl Wire for Message {}

/// The duty of a process as a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Duty {
    /// It is a client only.
    None,
    /// It has taken over, and these processes have not answered yet.
    Asking {
        /// Those without an answer.
        missing: ProcessSet,
    },
    /// It lends the key.
    Serving,
}

/// One process of the algorithm. With `ASKS` it is right; without, a new server does not ask who
/// has the key: the mutant [`central-server-unasked`](super::mutants::crash).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Successor<const ASKS: bool> {
    /// The process that this one takes for the server.
    server: ProcessId,
    state: State,
    duty: Duty,
    /// At the server: the process that has the key, if it is not at home.
    holder: Option<ProcessId>,
    /// At the server: the processes that wait for the key.
    queue: VecDeque<ProcessId>,
}

/// One process of the right version, with its failure detector.
pub type CentralServerCrash = Watching<Successor<true>>;

impl<const ASKS: bool> Protocol for Successor<ASKS> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request => self.on_request(from, cx),
            Message::Grant => self.on_grant(from, cx),
            Message::Release => self.on_release(from, cx),
            Message::Ask => self.on_ask(from, cx),
            Message::Answer(state) => self.on_answer(from, state, cx),
        }
    }
}

/// The client.
impl<const ASKS: bool> Successor<ASKS> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Released, "only an idle client can ask to enter");
        self.state = State::Wanted;
        self.send(self.server, Message::Request, cx);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Held, "only a client that is inside can exit");
        self.state = State::Released;
        self.send(self.server, Message::Release, cx);
    }

    fn on_grant(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        // A key of a server that has been succeeded: the successor has our answer, and will send
        // its own key.
        if from != self.server {
            return;
        }
        if self.state == State::Wanted {
            self.state = State::Held;
            cx.output(Output::Entered);
        } else {
            cx.accuse(from, "granted what nobody had asked for");
        }
    }

    fn on_ask(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        // Servers succeed each other in the order of their names.
        if from >= self.server {
            self.server = from;
            cx.send(from, Message::Answer(self.state));
        }
    }
}

/// The server.
impl<const ASKS: bool> Successor<ASKS> {
    /// A process that is no server yet ignores the request: when it takes over, it will ask.
    fn on_request(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.duty != Duty::None {
            self.enqueue(from);
            self.lend(cx);
        }
    }

    fn on_release(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.holder == Some(from) {
            self.holder = None;
            self.lend(cx);
        }
    }

    fn take_over(&mut self, others: ProcessSet, cx: &mut Cx<'_, Self>) {
        self.take_in(cx.me(), self.state);
        if ASKS {
            cx.multicast_to(others.clone(), Message::Ask);
            self.duty = Duty::Asking { missing: others };
        } else {
            self.duty = Duty::Serving;
        }
    }

    fn on_answer(&mut self, from: ProcessId, state: State, cx: &mut Cx<'_, Self>) {
        let expected = match &mut self.duty {
            Duty::Asking { missing } => missing.remove(from),
            Duty::None | Duty::Serving => false,
        };
        if expected {
            self.take_in(from, state);
            self.open_if_all_answered(cx);
        } else {
            cx.accuse(from, "answered what nobody had asked");
        }
    }

    fn take_in(&mut self, from: ProcessId, state: State) {
        match state {
            State::Released => {}
            State::Wanted => self.enqueue(from),
            State::Held => self.holder = Some(from),
        }
    }

    /// The request of a process may be known before its answer.
    fn enqueue(&mut self, from: ProcessId) {
        if !self.queue.contains(&from) {
            self.queue.push_back(from);
        }
    }

    fn open_if_all_answered(&mut self, cx: &mut Cx<'_, Self>) {
        if matches!(&self.duty, Duty::Asking { missing } if missing.is_empty()) {
            self.duty = Duty::Serving;
            self.lend(cx);
        }
    }

    fn lend(&mut self, cx: &mut Cx<'_, Self>) {
        if self.duty == Duty::Serving && self.holder.is_none() {
            self.holder = self.queue.pop_front();
            if let Some(next) = self.holder {
                self.send(next, Message::Grant, cx);
            }
        }
    }

    /// A message to ourselves needs no network.
    fn send(&mut self, to: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }
}

impl<const ASKS: bool> Successor<ASKS> {
    fn succeed(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        let first = cx.group().find(|process| !dead.contains(*process)).unwrap_or(cx.me());
        self.server = self.server.max(first);
        if first == cx.me() && self.duty == Duty::None {
            self.take_over(cx.others().filter(|process| !dead.contains(*process)).collect(), cx);
        } else if !ASKS && self.state == State::Wanted {
            self.send(self.server, Message::Request, cx);
        }
    }

    fn drop_dead_clients(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        self.queue.retain(|process| !dead.contains(*process));
        self.holder.take_if(|holder| dead.contains(*holder));
        if let Duty::Asking { missing } = &mut self.duty {
            dead.iter().for_each(|process| {
                missing.remove(process);
            });
        }
        self.open_if_all_answered(cx);
        self.lend(cx);
    }

    fn group(setup: &Setup) -> Vec<Self> {
        let process = |me| Successor {
            server: SERVER,
            state: State::Released,
            duty: if me == SERVER { Duty::Serving } else { Duty::None },
            holder: None,
            queue: VecDeque::new(),
        };
        ProcessId::all(setup.n).map(process).collect()
    }
}

impl<const ASKS: bool> Survivor for Successor<ASKS> {
    const CARD: Card = if ASKS { CARD } else { super::mutants::crash::UNASKED };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Self::group(setup))
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != SERVER
    }

    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        if dead.contains(self.server) {
            self.succeed(dead, cx);
        }
        self.drop_dead_clients(dead, cx);
    }
}

const IN_ORDER: Tolerance = Tolerance { order: Order::Fifo, ..Tolerance::NOTHING };

/// The card; the mutant takes most of it over.
pub(super) const CARD: Card = Card {
    name: "central-server-crash",
    aliases: &["central-crash"],
    title: "mutual exclusion by a central server with successors",
    source: Source {
        author: "folklore; H. García-Molina",
        year: 1982,
        work: "Elections in a distributed computing system, IEEE Transactions on Computers C-31(1)",
    },
    idea: "When the server crashes, the next process asks all others who has the key and who \
           waits for it, and goes on.",
    rules: &[
        Rule::on_input("Enter", "enter: ask the server for the key, wait for it"),
        Rule::on_message(
            "Request",
            "server, on a request: if the key is there, hand it out; else queue the client",
        ),
        Rule::on_message(
            "Grant",
            "on the key: we are inside; but take none from a server that was succeeded",
        ),
        Rule::on_input("Exit", "exit: give the key back to the server"),
        Rule::on_message(
            "Release",
            "server, on a release: hand the key to the first of the queue, if there is one",
        ),
        Rule::on_timer(
            "TimeOut",
            "when a client is taken for crashed: drop it from the queue; if it had the key, the \
             key is back. When the server is: the first process left asks all others where they \
             stand",
        ),
        Rule::on_message(
            "Ask",
            "on the question of a new server: obey it from now on, and answer whether we wait or \
             are inside",
        ),
        Rule::on_message(
            "Answer",
            "new server, on an answer: note the holder, queue a client that waits; when all have \
             answered, lend the key",
        ),
        SIGNS_OF_LIFE,
    ],
    assumes: &[
        "reliable links, in order",
        "crashes are noticed by a perfect failure detector, for which no message takes longer \
         than the delay; without a detector, no process crashes",
        "no crashed process comes back",
    ],
    tolerates: IN_ORDER,
    promises: &[ME1, ME2],
    variants: &[Variant {
        set: PERFECT,
        tolerates: Tolerance { order: Order::Fifo, ..CRASHES },
        promises: SAFE_AND_LIVE,
    }],
    usual: Some(2),
    proved: &[
        Scope { order: Order::Fifo, ..Scope::of(3) },
        Scope { order: Order::Fifo, timing: BOUNDED, crashes: 1, set: PERFECT, ..Scope::of(2) },
        Scope { order: Order::Fifo, timing: AT_ONCE, crashes: 1, set: PERFECT, ..Scope::of(3) },
    ],
    counterexamples: &[
        Counterexample {
            property: ME1,
            scope: Scope { order: Order::Fifo, set: PERFECT, ..Scope::of(3) },
            steps: 6,
            story: "without a bound on delays no time-out is long enough: the server takes p1, \
                    which is inside, for crashed and lends the key to p2",
        },
        Counterexample {
            property: ME2,
            scope: Scope { crashes: 1, order: Order::Fifo, ..Scope::of(2) },
            steps: 2,
            story: "without a detector, the server crashes, and p1 waits for the key for ever",
        },
        Counterexample {
            property: ME3,
            scope: Scope { tells: 1, order: Order::Fifo, ..Scope::of(3) },
            steps: 6,
            story: "p1 asks the server and then tells p2; p2 asks because of it, its request \
                    arrives first, and p2 gets the key first",
        },
    ],
    costs: &[
        cost::per_entry("3", |_| Bounds::exactly(3)),
        cost::entry_messages("2", |_| Bounds::exactly(2)),
        cost::entry_hops("2", |_| Bounds::exactly(2)),
        cost::relay_hops("2", |_| Bounds::exactly(2)),
    ],
    parameters: &[ASKERS, DETECTOR, PERIOD, STYLE, DELAY, STEP],
    layers: LAYERS,
    smallest: 2,
    ..Card::BLANK
};
