//! The messages of [Cheap Paxos](super): those of Paxos, each with its configuration.

use super::Configuration;
use crate::consensus::acceptor::Vote;
use crate::consensus::ballot::Ballot;
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::Value;
use synod_core::{ProcessId, Wire};

/// The choice of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Command {
    /// Decide on this value.
    Decide(Value),
    /// Go on without this main process, in the next instance.
    Drop(ProcessId),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// 1a.
    Prepare(Configuration, Ballot),
    /// 1b, with the last vote in this instance.
    Promise(Configuration, Ballot, Option<Vote<Command>>),
    /// 2a.
    Accept(Configuration, Vote<Command>),
    /// 2b, to all processes.
    Accepted(Configuration, Vote<Command>),
    /// To a process that asked in an instance that is over: the current configuration.
    Moved(Configuration),
}

impl Wire for Message {}

impl Message {
    /// The configuration of the instance that it is about.
    pub(super) fn configuration(&self) -> &Configuration {
        match self {
            Message::Prepare(configuration, _)
            | Message::Promise(configuration, ..)
            | Message::Accept(configuration, _)
            | Message::Accepted(configuration, _)
            | Message::Moved(configuration) => configuration,
        }
    }

    /// Whether an honest process can have sent this: only the owner leads a ballot.
    pub(super) fn is_sound(&self, from: ProcessId, n: usize) -> bool {
        let is_led = |ballot: &Ballot| ballot.is_sound(n) && ballot.owner == from;
        from.index() < n
            && self.configuration().is_sound(n)
            && match self {
                Message::Prepare(_, ballot) => is_led(ballot),
                Message::Accept(_, vote) => is_led(&vote.ballot),
                Message::Promise(_, of, Some(vote)) => vote.ballot.is_sound(n) && vote.ballot < *of,
                Message::Accepted(_, vote) => vote.ballot.is_sound(n),
                Message::Promise(_, _, None) | Message::Moved(_) => true,
            }
    }
}
