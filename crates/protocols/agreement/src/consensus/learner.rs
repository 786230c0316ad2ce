//! The learner: it hears votes, and decides when a quorum agrees.

use super::acceptor::Vote;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::family::consensus::Value;
use synod_core::{ProcessId, ProcessSet};

/// The state of a learner: at most one vote for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Learner<V = Value> {
    /// It knows the last vote of some processes.
    Listening(BTreeMap<ProcessId, Vote<V>>),
    /// It knows the chosen value, and forgets the votes.
    Decided(V),
}

/// The effect of a vote on a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<V = Value> {
    /// No decision, or no news.
    Nothing,
    /// A quorum has now accepted this value in the same ballot.
    Chosen(V),
    /// Another process voted for another value in the same ballot: one of the two lies, or the
    /// leader of the ballot.
    Contradiction,
}

impl<V> Default for Learner<V> {
    fn default() -> Self {
        Learner::Listening(BTreeMap::new())
    }
}

impl<V: Copy + PartialEq> Learner<V> {
    /// The value that it has decided on.
    pub fn decided(&self) -> Option<V> {
        match self {
            Learner::Decided(value) => Some(*value),
            Learner::Listening(_) => None,
        }
    }

    /// The last vote of each process that this one has heard from.
    pub fn votes(&self) -> impl Iterator<Item = (ProcessId, Vote<V>)> {
        let listening = match self {
            Learner::Listening(votes) => Some(votes),
            Learner::Decided(_) => None,
        };
        listening.into_iter().flatten().map(|(from, vote)| (*from, *vote))
    }

    /// Hears a vote of a ballot with a leader, in which all votes are for the same value; `quorum`
    /// equal ones are enough.
    pub fn hear(&mut self, from: ProcessId, vote: Vote<V>, quorum: usize) -> Heard<V> {
        self.hear_from(from, vote, |those| those.len() >= quorum)
    }

    /// The same, where not the number of equal votes decides but whose they are.
    pub fn hear_from(
        &mut self,
        from: ProcessId,
        vote: Vote<V>,
        is_quorum: impl Fn(&ProcessSet) -> bool,
    ) -> Heard<V> {
        let contradicts = |other: Vote<V>| other.ballot == vote.ballot && other.value != vote.value;
        let is_contradicted = self.votes().any(|(_, other)| contradicts(other));
        match is_contradicted {
            true => Heard::Contradiction,
            false => self.count_from(from, vote, is_quorum),
        }
    }

    /// Hears a vote; others of the same ballot may be for other values. Only the last vote of each
    /// process counts. An older vote that comes late may be forgotten: if its ballot chose a value,
    /// the newer ballot chooses the same one.
    pub fn count(&mut self, from: ProcessId, vote: Vote<V>, quorum: usize) -> Heard<V> {
        self.count_from(from, vote, |those| those.len() >= quorum)
    }

    fn count_from(
        &mut self,
        from: ProcessId,
        vote: Vote<V>,
        is_quorum: impl Fn(&ProcessSet) -> bool,
    ) -> Heard<V> {
        let Learner::Listening(votes) = self else { return Heard::Nothing };
        if votes.get(&from).is_some_and(|last| last.ballot >= vote.ballot) {
            return Heard::Nothing;
        }
        votes.insert(from, vote);
        let agree = votes.iter().filter(|(_, other)| **other == vote);
        if !is_quorum(&agree.map(|(process, _)| *process).collect()) {
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
