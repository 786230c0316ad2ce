//! The messages of [Paxos](super).

use crate::consensus::acceptor::Vote;
use crate::consensus::ballot::Ballot;
use serde::{Deserialize, Serialize};
use synod_core::{ProcessId, Wire};

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// 1a: will you take part in this ballot, and in no smaller one?
    Prepare(Ballot),
    /// 1b: I will; and this is my last vote.
    Promise(Ballot, Option<Vote>),
    /// 2a: accept this value in this ballot.
    Accept(Vote),
    /// 2b, to learners: I have accepted this value in this ballot.
    Accepted(Vote),
    /// I do not take part in the first ballot, because I have promised the second.
    Refusal(Ballot, Ballot),
}

impl Wire for Message {}

impl Message {
    /// Whether an honest process can have sent this: only the owner begins a ballot, a promise
    /// tells a vote of a smaller ballot, and a refusal names a greater one.
    pub(super) fn is_sound(&self, from: ProcessId, n: usize) -> bool {
        from.index() < n
            && match self {
                Message::Prepare(ballot) | Message::Accept(Vote { ballot, .. }) => {
                    ballot.is_sound(n) && ballot.owner == from
                }
                Message::Promise(ballot, Some(vote)) => {
                    vote.ballot.is_sound(n) && vote.ballot < *ballot
                }
                Message::Promise(_, None) => true,
                Message::Accepted(vote) => vote.ballot.is_sound(n),
                Message::Refusal(ballot, promised) => promised.is_sound(n) && promised > ballot,
            }
    }
}
