//! The acceptor, the memory of Paxos: it never forgets its promise and its vote.

use super::ballot::Ballot;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::family::consensus::Value;

/// A value, accepted in a ballot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Vote<V = Value> {
    /// The ballot in which it was accepted.
    pub ballot: Ballot,
    /// The accepted value.
    pub value: V,
}

impl<V: fmt::Debug> fmt::Debug for Vote<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {:?}", self.ballot, self.value)
    }
}

/// The answer of an acceptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<T> {
    /// It agrees. Its state is new, and must be on the disk before the acceptor tells others.
    Agreed(T),
    /// It has agreed before.
    Known,
    /// It has promised this greater ballot to another proposer.
    Refused(Ballot),
}

/// The state of an acceptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Acceptor<V = Value> {
    /// n_p: it takes part in no smaller ballot.
    pub promised: Option<Ballot>,
    /// (n_a, v_a): the last vote.
    pub accepted: Option<Vote<V>>,
}

impl<V> Default for Acceptor<V> {
    fn default() -> Self {
        Acceptor { promised: None, accepted: None }
    }
}

impl<V: Copy> Acceptor<V> {
    /// 1b: promises to take part in no smaller ballot, and tells the last vote.
    pub fn prepare(&mut self, ballot: Ballot) -> Reply<Option<Vote<V>>> {
        match self.promised {
            Some(promised) if promised > ballot => Reply::Refused(promised),
            Some(promised) if promised == ballot => Reply::Known,
            _ => {
                self.promised = Some(ballot);
                Reply::Agreed(self.accepted)
            }
        }
    }

    /// 2b: votes, unless a greater ballot was promised.
    pub fn accept(&mut self, vote: Vote<V>) -> Reply<()> {
        match self.promised {
            Some(promised) if promised > vote.ballot => Reply::Refused(promised),
            // An acceptor votes once in a ballot: the request is a duplicate.
            _ if self.accepted.is_some_and(|last| last.ballot == vote.ballot) => Reply::Known,
            _ => {
                self.promised = Some(vote.ballot);
                self.accepted = Some(vote);
                Reply::Agreed(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::ProcessId;

    fn ballot(round: u32) -> Ballot {
        Ballot { round, owner: ProcessId(0) }
    }

    fn vote(round: u32) -> Vote {
        Vote { ballot: ballot(round), value: Value(7) }
    }

    #[test]
    fn an_acceptor_promises_greater_ballots_only_and_tells_its_last_vote() {
        let mut acceptor = Acceptor::default();
        assert_eq!(acceptor.prepare(ballot(2)), Reply::Agreed(None));
        assert_eq!(acceptor.prepare(ballot(2)), Reply::Known);
        assert_eq!(acceptor.prepare(ballot(1)), Reply::Refused(ballot(2)));
        assert_eq!(acceptor.accept(vote(2)), Reply::Agreed(()));
        assert_eq!(acceptor.prepare(ballot(3)), Reply::Agreed(Some(vote(2))));
    }

    #[test]
    fn an_acceptor_votes_in_the_ballot_it_promised_or_a_greater_one_and_only_once() {
        let mut acceptor = Acceptor::default();
        acceptor.prepare(ballot(2));
        assert_eq!(acceptor.accept(vote(1)), Reply::Refused(ballot(2)));
        assert_eq!(acceptor.accept(vote(3)), Reply::Agreed(()));
        assert_eq!(acceptor.accept(vote(3)), Reply::Known);
        assert_eq!(acceptor, Acceptor { promised: Some(ballot(3)), accepted: Some(vote(3)) });
    }
}
