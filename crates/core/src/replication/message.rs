//! The requests of clients, the answers, and the messages between processes.

use super::{Command, RequestId};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Data, Wire};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A request of a client, or of an operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Invoke<O> {
    /// A client's operation. The client has no other one under way.
    Operation {
        /// The client, among those at this process.
        client: u32,
        /// The operation.
        operation: O,
    },
    /// These processes are to vote from now on.
    Reconfigure(ProcessSet),
    /// This process is to lead.
    Transfer(ProcessId),
}

/// An answer to a client, or news for the operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Notice<A> {
    /// To a client: the operation is done, and this is the answer.
    Returned {
        /// The client, among those at this process.
        client: u32,
        /// The answer.
        answer: A,
    },
    /// This process has applied the entry at this place.
    Applied {
        /// The place.
        index: u64,
        /// The request, if the entry is a command.
        request: Option<RequestId>,
        /// Whether it took effect now; false if it had done so before.
        fresh: bool,
    },
    /// This process has taken over the state after this place.
    Restored(u64),
    /// This process leads in this term.
    Leads(u64),
    /// A client's session is closed: whether its request took effect stays unknown.
    Closed {
        /// The client, among those at this process.
        client: u32,
    },
    /// To a client: this process did not take its last request in. The request changes nothing.
    Refused {
        /// The client, among those at this process.
        client: u32,
        /// Why.
        error: Refusal,
    },
}

/// Why a request is not taken in.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error,
)]
pub enum Refusal {
    /// A client has one request at a time.
    #[error(
        "the client's request {open} is still open; wait until it is answered, or ask as another \
         client"
    )]
    StillOpen {
        /// The one that is open.
        open: RequestId,
    },
}

/// The messages between processes.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<O, A, M> {
    /// From the process of a client: append this command.
    Request(Command<O>),
    /// To that process: the command is applied.
    Reply {
        /// The request.
        request: RequestId,
        /// The answer.
        answer: A,
    },
    /// To that process: the session of this request is closed.
    Closed(RequestId),
    /// A message of the engine.
    Engine(M),
}

impl<O: Data, A: Data, M: Wire> Wire for Message<O, A, M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Request(_) => "Request",
            Message::Reply { .. } => "Reply",
            Message::Closed(_) => "Closed",
            Message::Engine(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Request(command) => format!("Request {}", command.request),
            Message::Reply { request, .. } => format!("Reply {request}"),
            Message::Closed(request) => format!("Closed {request}"),
            Message::Engine(message) => message.label(),
        }
    }
}

/// Prints the message alone: its name already shows the layer.
impl<O: fmt::Debug, A: fmt::Debug, M: fmt::Debug> fmt::Debug for Message<O, A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(command) => write!(f, "Request({command:?})"),
            Message::Reply { request, answer } => write!(f, "Reply({request} {answer:?})"),
            Message::Closed(request) => write!(f, "Closed({request})"),
            Message::Engine(message) => message.fmt(f),
        }
    }
}

impl<O, A, M> From<M> for Message<O, A, M> {
    fn from(message: M) -> Self {
        Message::Engine(message)
    }
}

/// A timer of the engine, or of a client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer<T> {
    /// The engine waits.
    Engine(T),
    /// A client has heard nothing for a while.
    AskAgain(u32),
}

impl<T: fmt::Debug> fmt::Debug for Timer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Engine(timer) => timer.fmt(f),
            Timer::AskAgain(client) => write!(f, "AskAgain({client})"),
        }
    }
}

impl<T> From<T> for Timer<T> {
    fn from(timer: T) -> Self {
        Timer::Engine(timer)
    }
}
