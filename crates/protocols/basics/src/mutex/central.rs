//! Mutual exclusion by a central server.
//!
//! The server keeps the key of the critical section. A client asks for it, waits until it gets it,
//! and gives it back; meanwhile the requests of others wait in a queue, in the order in which they
//! arrived. That is not the order in which they were made: a request can overtake another that
//! happened before it.
//!
//! The lock daemon of Unix is such a server: NFS keeps no state and so no locks of files, and
//! `lockd`, beside it, serves the requests of its clients for them.
//!
//! - Assumes: reliable links in any order; neither the server nor a client that waits or is inside
//!   crashes.
//! - Guarantees: ME1, ME2. Not ME3.
//! - Cost: 3 messages per entry (request, grant, release), for every N; two hops from exit to
//!   entry, because the key goes back through the server. All the load is on the server.
//! - State: one word at a client; the queue of the server has at most N − 1 names.
//!
//! Source: folklore; G. Coulouris et al.: Distributed Systems, 5th ed. 2011, §15.2.

use super::cost;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Card, Counterexample, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Wire};

/// The process that keeps the key. It makes no requests itself.
pub const SERVER: ProcessId = ProcessId(0);

/// The messages between clients and the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the server: may I have the key?
    Request,
    /// To a client: here it is.
    Grant,
    /// To the server: I give it back.
    Release,
}

impl Wire for Message {}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CentralServer {
    /// The server.
    Server {
        /// The client that has the key; none while the server has it.
        holder: Option<ProcessId>,
        /// The clients that wait for the key, in order of arrival.
        queue: VecDeque<ProcessId>,
    },
    /// A client.
    Client(State),
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It asked, and waits for the key.
    Wanted,
    /// It is inside.
    Held,
}

impl Protocol for CentralServer {
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
        }
    }
}

impl CentralServer {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(*self, Self::Client(State::Released), "only an idle client can ask to enter");
        *self = Self::Client(State::Wanted);
        cx.send(SERVER, Message::Request);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(*self, Self::Client(State::Held), "only a client that is inside can exit");
        *self = Self::Client(State::Released);
        cx.send(SERVER, Message::Release);
    }

    /// The holder may ask again: its next request can overtake its release.
    fn on_request(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Server { holder: holder @ None, .. } => {
                *holder = Some(from);
                cx.send(from, Message::Grant);
            }
            // A client has at most one request in the queue, which bounds the queue by the size of
            // the group.
            Self::Server { queue, .. } if !queue.contains(&from) => queue.push_back(from),
            Self::Server { .. } => cx.accuse(from, "asked again while it was waiting"),
            Self::Client(_) => cx.accuse(from, "asked a client for the key"),
        }
    }

    fn on_release(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Server { holder, queue } if *holder == Some(from) => {
                *holder = queue.pop_front();
                if let Some(next) = *holder {
                    cx.send(next, Message::Grant);
                }
            }
            _ => cx.accuse(from, "gave back a key that it did not have"),
        }
    }

    fn on_grant(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        match self {
            Self::Client(state @ State::Wanted) if from == SERVER => {
                *state = State::Held;
                cx.output(Output::Entered);
            }
            _ => cx.accuse(from, "granted what was not its to grant, or what nobody asked for"),
        }
    }
}

impl Algorithm for CentralServer {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "central-server",
        aliases: &["central"],
        title: "mutual exclusion by a central server",
        source: Source {
            author: "folklore; G. Coulouris, J. Dollimore, T. Kindberg, G. Blair",
            year: 2011,
            work: "Distributed Systems: Concepts and Design, 5th ed., section 15.2",
        },
        idea: "A server keeps the key; clients get it in the order in which their requests arrive. \
               So does lockd, the lock daemon beside NFS, whose servers keep no state.",
        rules: &[
            Rule::on_input("Enter", "enter: ask the server for the key, wait for it"),
            Rule::on_message(
                "Request",
                "server, on a request: if the key is there, hand it out; else queue the client",
            ),
            Rule::on_message("Grant", "on the key: we are inside"),
            Rule::on_input("Exit", "exit: give the key back to the server"),
            Rule::on_message(
                "Release",
                "server, on a release: hand the key to the first of the queue, if there is one",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(3) },
            steps: 6,
            story: "p1 asks the server and then tells p2; p2 asks because of it, its request \
                    arrives first, and p2 gets the key first",
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
        let process = |p| match p {
            SERVER => Self::Server { holder: None, queue: VecDeque::new() },
            _ => Self::Client(State::Released),
        };
        Ok(ProcessId::all(setup.n).map(process).collect())
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        matches!(self, Self::Client(_))
    }
}
