//! The messages of [ISIS](super).

use super::Place;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::{ProcessId, Wire};

/// The messages of this layer that the layer below multicasts. `message` is the number that its
/// sender gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Round<D> {
    /// From the sender: which place do you propose for this?
    Ask {
        /// The number of the message.
        message: u64,
        /// The payload.
        payload: D,
    },
    /// The same, with the sender's clock, where a clock gives the numbers.
    AskAt {
        /// The number of the message.
        message: u64,
        /// The clock of the sender.
        time: u64,
        /// The payload.
        payload: D,
    },
    /// A proposal, where it cannot be sent to the sender alone.
    Proposed {
        /// The sender of the message.
        to: ProcessId,
        /// The number of the message.
        message: u64,
        /// The number proposed for it.
        number: u64,
    },
    /// From the sender: its place is this.
    Agreed {
        /// The number of the message.
        message: u64,
        /// The largest of all proposals.
        place: Place,
    },
}

/// The messages between members.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// To the sender of a message: I propose this number.
    Propose {
        /// The number of the message.
        message: u64,
        /// The number proposed for it.
        number: u64,
    },
    /// A message of the layer below.
    Carried(M),
}

impl<M: Wire> Wire for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Propose { .. } => "Propose",
            Message::Carried(message) => message.kind(),
        }
    }
}

/// The text of a message shows its layer, so no other mark is needed.
impl<M: fmt::Debug> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Propose { message, number } => {
                write!(f, "Propose {{ message: {message}, number: {number} }}")
            }
            Message::Carried(message) => message.fmt(f),
        }
    }
}

impl<M> From<M> for Message<M> {
    fn from(message: M) -> Self {
        Message::Carried(message)
    }
}
