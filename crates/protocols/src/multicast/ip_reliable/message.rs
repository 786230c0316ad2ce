//! What travels, and how a group is set up.

use super::Numbers;
use serde::{Deserialize, Serialize};
use synod_core::{Data, ProcessId, Wire};

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D> {
    /// A message of the one that it comes from.
    Data {
        /// S.
        number: u32,
        /// R, before this message.
        received: Numbers,
        /// What it says.
        payload: D,
    },
    /// A message once more, for one that lacks it.
    Again {
        /// Who multicast it.
        sender: ProcessId,
        /// Its number.
        number: u32,
        /// What it says.
        payload: D,
    },
    /// We lack these messages: please send them again.
    Nack {
        /// Who multicast them.
        sender: ProcessId,
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// R, from one that does not know whether all have everything.
    Heartbeat(Numbers),
    /// R, in answer to that.
    Ack(Numbers),
}

impl<D: Data> Wire for Message<D> {}

/// The time for a heartbeat, if there is reason for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Beat;

/// How a group is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The first number. A mutant has it wrong.
    pub first: u32,
    /// The time between two heartbeats. Only a mutant has none.
    pub heartbeat_ms: Option<u64>,
    /// So many messages of a sender may be unstable.
    pub window: u32,
    /// After so many unanswered heartbeats a process is taken for crashed.
    pub patience: u32,
    /// What is done with a message that is ahead of its turn.
    pub gaps: Gaps,
}

/// What is done with a message that is ahead of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Gaps {
    /// It is delivered at once.
    Deliver,
    /// It is held back until those before it have come.
    Hold,
}
