//! Whoever wants to know what is chosen: it hears votes, and decides when a quorum agrees.

use super::acceptor::Vote;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::ProcessId;
use synod_core::family::consensus::Value;

/// The state of a learner: at most one vote for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Learner {
    /// It knows the last vote of some.
    Listening(BTreeMap<ProcessId, Vote>),
    /// It knows what is chosen, and nothing else matters.
    Decided(Value),
}

/// What a vote means for a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing yet, or nothing new.
    Nothing,
    /// Now a quorum has accepted this in the same ballot.
    Chosen(Value),
    /// Somebody else voted for another value in the same ballot: one of the two lies, or who led it.
    Contradiction,
}

impl Default for Learner {
    fn default() -> Self {
        Learner::Listening(BTreeMap::new())
    }
}

impl Learner {
    /// What it has decided.
    pub fn decided(&self) -> Option<Value> {
        match self {
            Learner::Decided(value) => Some(*value),
            Learner::Listening(_) => None,
        }
    }

    /// Hears a vote; `quorum` of equal ones are enough. Of each process the last ballot counts: an
    /// older vote that comes late may be forgotten, because the newer ballot ends, too.
    pub fn hear(&mut self, from: ProcessId, vote: Vote, quorum: usize) -> Heard {
        let Learner::Listening(votes) = self else { return Heard::Nothing };
        let contradicts = |v: &&Vote| v.ballot == vote.ballot && v.value != vote.value;
        if votes.values().any(|other| contradicts(&other)) {
            return Heard::Contradiction;
        }
        if votes.get(&from).is_some_and(|last| last.ballot >= vote.ballot) {
            return Heard::Nothing;
        }
        votes.insert(from, vote);
        if votes.values().filter(|other| **other == vote).count() < quorum {
            return Heard::Nothing;
        }
        *self = Learner::Decided(vote.value);
        Heard::Chosen(vote.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Ballot;

    fn vote(round: u32, value: u64) -> Vote {
        Vote { ballot: Ballot { round, owner: ProcessId(0) }, value: Value(value) }
    }

    #[test]
    fn a_learner_decides_when_a_quorum_accepted_in_the_same_ballot() {
        let mut learner = Learner::default();
        assert_eq!(learner.hear(ProcessId(0), vote(1, 7), 2), Heard::Nothing);
        assert_eq!(learner.hear(ProcessId(0), vote(1, 7), 2), Heard::Nothing);
        assert_eq!(learner.hear(ProcessId(1), vote(2, 7), 2), Heard::Nothing);
        assert_eq!(learner.hear(ProcessId(0), vote(2, 7), 2), Heard::Chosen(Value(7)));
        assert_eq!(learner.decided(), Some(Value(7)));
        assert_eq!(learner.hear(ProcessId(2), vote(2, 7), 2), Heard::Nothing);
    }

    #[test]
    fn an_older_vote_does_not_replace_a_newer_one() {
        let mut learner = Learner::default();
        learner.hear(ProcessId(0), vote(2, 7), 2);
        assert_eq!(learner.hear(ProcessId(0), vote(1, 8), 2), Heard::Nothing);
        assert_eq!(learner.hear(ProcessId(1), vote(2, 7), 2), Heard::Chosen(Value(7)));
    }

    #[test]
    fn two_values_in_one_ballot_are_a_lie() {
        let mut learner = Learner::default();
        learner.hear(ProcessId(0), vote(1, 7), 2);
        assert_eq!(learner.hear(ProcessId(1), vote(1, 8), 2), Heard::Contradiction);
    }
}
