//! The messages of [Fast Paxos](super).

use crate::consensus::acceptor::Vote;
use crate::consensus::ballot::Ballot;
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::Value;
use synod_core::{ProcessId, Wire};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// From a proposer, to all acceptors.
    Propose(Value),
    /// 1a.
    Prepare(Ballot),
    /// 1b, with the last vote.
    Promise(Ballot, Option<Vote>),
    /// 2a of a fast ballot: accept any value, the first that is proposed to you.
    Any(Ballot),
    /// 2a of a classic ballot.
    Accept(Vote),
    /// 2b, to all processes.
    Accepted(Vote),
}

impl Wire for Message {}

impl Message {
    /// Whether an honest process can have sent this: only the owner leads a ballot.
    pub(super) fn is_sound(&self, from: ProcessId, n: usize) -> bool {
        let is_led = |ballot: &Ballot| ballot.is_sound(n) && ballot.owner == from;
        from.index() < n
            && match self {
                Message::Propose(_) | Message::Promise(_, None) => true,
                Message::Prepare(ballot) | Message::Any(ballot) => is_led(ballot),
                Message::Accept(vote) => is_led(&vote.ballot),
                Message::Promise(of, Some(vote)) => vote.ballot.is_sound(n) && vote.ballot < *of,
                Message::Accepted(vote) => vote.ballot.is_sound(n),
            }
    }
}
