//! The messages between members, and the settings of a group.

use super::Numbers;
use serde::{Deserialize, Serialize};
use synod_core::{Data, ProcessId, Wire};

/// A message between members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D> {
    /// A message of the process that sends it.
    Data {
        /// S: its number.
        number: u32,
        /// R of the sender, before this message.
        received: Numbers,
        /// The payload.
        payload: D,
    },
    /// A message once more, for a member that lacks it.
    Again {
        /// The process that multicast it.
        sender: ProcessId,
        /// Its number.
        number: u32,
        /// The payload.
        payload: D,
    },
    /// A negative acknowledgement: the sender lacks these messages.
    Nack {
        /// The process that multicast them.
        sender: ProcessId,
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// R, from a member that does not know whether all have every message.
    Heartbeat(Numbers),
    /// R, in answer to a heartbeat.
    Ack(Numbers),
}

impl<D: Data> Wire for Message<D> {
    fn label(&self) -> String {
        match self {
            Message::Data { number, received, .. } => format!("Data {number} {received:?}"),
            Message::Again { sender, number, .. } => format!("Again {sender}#{number}"),
            Message::Nack { sender, numbers } => match &numbers[..] {
                [number] => format!("Nack {sender}#{number}"),
                several => format!("Nack {sender} +{}", several.len()),
            },
            Message::Heartbeat(received) => format!("Heartbeat {received:?}"),
            Message::Ack(received) => format!("Ack {received:?}"),
        }
    }
}

/// The timer of the next heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Beat;

/// The settings of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The first number: 1. A mutant begins with 0.
    pub first: u32,
    /// The time between two heartbeats. `None` only in a mutant.
    pub heartbeat_ms: Option<u64>,
    /// The largest number of unstable messages of a sender.
    pub window: u32,
    /// The number of unanswered heartbeats after which a process is taken for crashed.
    pub patience: u32,
    /// The treatment of a message that is ahead of its turn.
    pub gaps: Gaps,
}

/// The treatment of a message that is ahead of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Gaps {
    /// It is delivered at once.
    Deliver,
    /// It is held back until those before it have come.
    Hold,
}
