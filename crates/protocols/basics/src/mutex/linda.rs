//! Mutual exclusion in Linda: the key of the critical section is a tuple.
//!
//! To enter, a process takes the tuple `key` out of the space (`in`); to exit, it puts it back
//! (`out`). That is the whole algorithm. The space knows nothing of keys: it hands a tuple to one
//! process only, and that is enough. A server keeps the space, with the requests that wait.
//!
//! - Assumes: reliable links in any order; neither the server nor a client that waits or is inside
//!   crashes.
//! - Guarantees: ME1, ME2, because waiting requests are served in order. Not ME3.
//! - Cost: 3 messages per entry (in, found, out), for every N; two hops from exit to entry.
//! - State: one word at a client; the server has at most N − 1 requests, and as many tuples as
//!   processes put in: at most [`MOST_TUPLES`](super::tuple_space::MOST_TUPLES).
//!
//! Source: D. Gelernter: Generative communication in Linda. ACM TOPLAS 7(1) (1985). See
//! `tuple_space.rs` for how it compares with `send` and `receive`.

use super::cost;
use super::tuple_space::{Field, Find, Template, Tuple, TupleSpace};
use serde::{Deserialize, Serialize};
use synod_core::card::{Bounds, Card, Counterexample, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Wire};

/// The process that keeps the space. It makes no requests itself.
pub const SERVER: ProcessId = ProcessId(0);

/// The source of the card.
pub(in crate::mutex) const SOURCE: Source = Source {
    author: "D. Gelernter",
    year: 1985,
    work: "Generative communication in Linda. ACM Transactions on Programming Languages and Systems \
           7(1), 80-112",
};

/// The messages between clients and the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the server: put this tuple in.
    Out(Tuple),
    /// To the server: take a tuple that fits out for me.
    In(Template),
    /// To the server: show me a tuple that fits.
    Rd(Template),
    /// To a client: here it is.
    Found(Tuple),
}

impl Wire for Message {}

/// One process of the algorithm. A mutant only reads the key (`TAKES` is false).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LindaProcess<const TAKES: bool> {
    /// The server.
    Server(TupleSpace),
    /// A client.
    Client(State),
}

/// One process of the right version.
pub type Linda = LindaProcess<true>;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It waits for the key.
    Wanted,
    /// It is inside.
    Held,
}

fn key() -> Tuple {
    Tuple(vec![Field::Word("key".to_owned())])
}

fn any_key() -> Template {
    Template(key().0.into_iter().map(Some).collect())
}

impl<const TAKES: bool> Protocol for LindaProcess<TAKES> {
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
            Message::Out(tuple) => self.on_out(from, tuple, cx),
            Message::In(template) => self.on_find(from, Find::Take, template, cx),
            Message::Rd(template) => self.on_find(from, Find::Read, template, cx),
            Message::Found(tuple) => self.on_found(from, &tuple, cx),
        }
    }
}

impl<const TAKES: bool> LindaProcess<TAKES> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(*self, Self::Client(State::Released), "only an idle client can ask to enter");
        *self = Self::Client(State::Wanted);
        let find = if TAKES { Message::In } else { Message::Rd };
        cx.send(SERVER, find(any_key()));
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(*self, Self::Client(State::Held), "only a client that is inside can exit");
        *self = Self::Client(State::Released);
        cx.send(SERVER, Message::Out(key()));
    }

    fn on_out(&mut self, from: ProcessId, tuple: Tuple, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Server(space) if !space.is_full() => {
                for waiter in space.out(tuple.clone()) {
                    cx.send(waiter, Message::Found(tuple.clone()));
                }
            }
            _ => cx.accuse(from, "put a tuple where there is no room for it"),
        }
    }

    /// A process waits for one tuple at a time, which bounds the requests by the size of the group.
    fn on_find(&mut self, from: ProcessId, find: Find, template: Template, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Server(space) if !space.waits(from) => {
                if let Some(tuple) = space.find(from, find, template) {
                    cx.send(from, Message::Found(tuple));
                }
            }
            _ => cx.accuse(from, "asked again while it was waiting, or asked a client"),
        }
    }

    fn on_found(&mut self, from: ProcessId, tuple: &Tuple, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Client(state @ State::Wanted) if from == SERVER && *tuple == key() => {
                *state = State::Held;
                cx.output(Output::Entered);
            }
            _ => cx.accuse(from, "found what nobody asked for"),
        }
    }

    pub(in crate::mutex) fn group(setup: &Setup) -> Vec<Self> {
        let process = |p| match p {
            SERVER => Self::Server(TupleSpace::new([key()])),
            _ => Self::Client(State::Released),
        };
        ProcessId::all(setup.n).map(process).collect()
    }

    pub(in crate::mutex) fn is_client(&self) -> bool {
        matches!(self, Self::Client(_))
    }
}

impl Algorithm for Linda {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "linda",
        aliases: &["tuple-space"],
        title: "mutual exclusion in a tuple space",
        source: SOURCE,
        idea: "The key is a tuple in a space that all share: to enter, take it out; to exit, put it \
               back. A tuple is taken by one process only.",
        rules: &[
            Rule::on_input("Enter", "enter: in(key)"),
            Rule::on_message(
                "In",
                "server, on in: take a tuple that fits out of the space; if there is none, queue the \
                 request",
            ),
            Rule::on_message("Found", "on the key: we are inside"),
            Rule::on_input("Exit", "exit: out(key)"),
            Rule::on_message(
                "Out",
                "server, on out: hand the tuple to the first request that it fits; if there is none, \
                 it stays in the space",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(3) },
            steps: 6,
            story: "p1 asks for the key and then tells p2; p2 asks because of it, its request \
                    arrives first, and p2 takes the key first",
        }],
        costs: &[
            cost::per_entry("3", |_| Bounds::exactly(3)),
            cost::entry_messages("2", |_| Bounds::exactly(2)),
            cost::entry_hops("2", |_| Bounds::exactly(2)),
            cost::relay_hops("2", |_| Bounds::exactly(2)),
        ],
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Self::group(setup))
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_client()
    }
}
