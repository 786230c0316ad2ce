//! The log of one process: a snapshot, the chosen entries after it, and votes beyond them.

use super::WINDOW;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_agreement::consensus::acceptor::Vote;
use synod_agreement::consensus::ballot::Ballot;
use synod_core::replication::Entry;

/// The state in the place of the beginning of a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Snapshot<S> {
    /// The last place that is in it.
    pub index: u64,
    /// The state; none, if nothing is in it yet.
    pub state: Option<S>,
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Log<C, S> {
    snapshot: Snapshot<S>,
    /// The entries after the snapshot that it knows to be chosen, without a gap.
    chosen: Vec<Entry<C>>,
    /// (n_a, v_a) of the places beyond, where there is any: this is the acceptor's memory.
    votes: BTreeMap<u64, Vote<Entry<C>>>,
}

impl<C, S> Default for Log<C, S> {
    fn default() -> Self {
        let snapshot = Snapshot { index: 0, state: None };
        Log { snapshot, chosen: Vec::new(), votes: BTreeMap::new() }
    }
}

impl<C: Clone + Eq, S> Log<C, S> {
    pub(super) fn snapshot(&self) -> &Snapshot<S> {
        &self.snapshot
    }

    /// The place after which there are entries.
    pub fn first_kept(&self) -> u64 {
        self.snapshot.index
    }

    /// Everything up to here is known to be chosen.
    pub fn commit(&self) -> u64 {
        self.snapshot.index + self.chosen.len() as u64
    }

    /// The votes beyond them.
    pub fn votes(&self) -> &BTreeMap<u64, Vote<Entry<C>>> {
        &self.votes
    }

    /// The chosen entry at a place, if it is known and still there.
    pub fn chosen(&self, index: u64) -> Option<&Entry<C>> {
        let place = index.checked_sub(self.snapshot.index + 1)?;
        self.chosen.get(usize::try_from(place).ok()?)
    }

    /// Up to `most` chosen entries after a place; none, if the snapshot has replaced them, or this
    /// process does not know them yet.
    pub fn after(&self, index: u64, most: usize) -> Option<&[Entry<C>]> {
        let begin = usize::try_from(index.checked_sub(self.snapshot.index)?).ok()?;
        let rest = self.chosen.get(begin..)?;
        Some(&rest[..rest.len().min(most)])
    }

    /// The number of entries after a place that it may accept: so votes have a bound.
    pub fn room_after(&self, index: u64) -> usize {
        let farthest = self.commit() + 2 * WINDOW as u64;
        usize::try_from(farthest.saturating_sub(index)).unwrap_or(usize::MAX)
    }

    /// 2b: accepts these entries at the places after `after`. Chosen places keep their entries,
    /// which are the same. Returns whether it cast a vote.
    pub fn accept(&mut self, ballot: Ballot, after: u64, entries: &[Entry<C>]) -> bool {
        let (commit, mut is_new) = (self.commit(), false);
        for (index, value) in (after + 1..).zip(entries) {
            if index > commit && self.votes.get(&index).is_none_or(|vote| vote.ballot != ballot) {
                self.votes.insert(index, Vote { ballot, value: value.clone() });
                is_new = true;
            }
        }
        is_new
    }

    /// Everything up to `commit` is chosen, says the owner of this ballot: our votes in it are for
    /// the values that it proposed, and so for the chosen ones. Without a ballot: all our votes up
    /// to there are for the chosen values.
    pub fn choose(&mut self, ballot: Option<Ballot>, commit: u64) {
        while self.commit() < commit {
            let next = self.commit() + 1;
            let is_chosen = |vote: &Vote<Entry<C>>| ballot.is_none_or(|of| of == vote.ballot);
            if !self.votes.get(&next).is_some_and(is_chosen) {
                return;
            }
            self.chosen.extend(self.votes.remove(&next).map(|vote| vote.value));
        }
    }

    /// These entries are chosen after a place. Returns those that are news.
    pub fn learn(&mut self, after: u64, entries: Vec<Entry<C>>) -> Option<Vec<Entry<C>>> {
        let known = usize::try_from(self.commit().checked_sub(after)?).ok()?;
        let news: Vec<Entry<C>> = entries.into_iter().skip(known).collect();
        if news.is_empty() {
            return None;
        }
        self.chosen.extend_from_slice(&news);
        self.forget_votes();
        Some(news)
    }

    /// The state takes the place of everything up to `index`, which is chosen.
    pub fn compact(&mut self, index: u64, state: S) {
        if index <= self.commit() && index > self.snapshot.index {
            self.chosen.drain(..(index - self.snapshot.index) as usize);
            self.snapshot = Snapshot { index, state: Some(state) };
        }
    }

    /// A log of which the beginning is in a state that is yet to come.
    pub(super) fn after_state(index: u64) -> Self {
        Log { snapshot: Snapshot { index, state: None }, ..Log::default() }
    }

    /// The state has come.
    pub(super) fn set_state(&mut self, state: S) {
        self.snapshot.state = Some(state);
    }

    /// A state of another process that is farther than ours.
    pub fn install(&mut self, snapshot: Snapshot<S>) {
        self.chosen.clear();
        self.snapshot = snapshot;
        self.forget_votes();
    }

    fn forget_votes(&mut self) {
        self.votes = self.votes.split_off(&(self.commit() + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::ProcessId;

    const ONE: Ballot = Ballot { round: 1, owner: ProcessId(0) };
    const TWO: Ballot = Ballot { round: 2, owner: ProcessId(0) };

    fn entries(commands: &[u8]) -> Vec<Entry<u8>> {
        commands.iter().map(|command| Entry::Command(*command)).collect()
    }

    /// Nothing at place 2; two ballots.
    fn log() -> Log<u8, &'static str> {
        let mut log = Log::default();
        log.accept(ONE, 0, &entries(&[1]));
        log.accept(ONE, 2, &entries(&[3, 4]));
        log.accept(TWO, 3, &entries(&[5]));
        log
    }

    #[test]
    fn what_was_accepted_in_the_leaders_ballot_is_chosen_up_to_the_first_gap() {
        let mut log = log();
        log.choose(Some(ONE), 4);
        assert_eq!((log.commit(), log.votes().len()), (1, 2), "there is nothing at place 2");
        log.accept(ONE, 1, &entries(&[2]));
        log.choose(Some(ONE), 4);
        assert_eq!(log.commit(), 3, "place 4 was accepted in another ballot");
        log.choose(Some(TWO), 4);
        assert_eq!(log.after(0, 9), Some(&entries(&[1, 2, 3, 5])[..]));
    }

    #[test]
    fn what_is_accepted_twice_is_not_new_and_a_greater_ballot_takes_its_place() {
        let mut log = log();
        assert!(!log.accept(ONE, 2, &entries(&[3])));
        assert!(log.accept(TWO, 2, &entries(&[6, 5])));
        assert_eq!(log.votes()[&3], Vote { ballot: TWO, value: Entry::Command(6) });
    }

    #[test]
    fn nothing_is_accepted_far_beyond_what_is_chosen() {
        let far = 2 * WINDOW as u64;
        let mut log = log();
        assert_eq!([far - 2, far, far + 9].map(|index| log.room_after(index)), [2, 0, 0]);
        log.choose(Some(ONE), 1);
        assert_eq!(log.room_after(far), 1);
    }

    #[test]
    fn what_is_learnt_takes_the_place_of_votes() {
        let mut log = log();
        assert_eq!(log.learn(1, entries(&[2])), None, "place 1 is not known to be chosen");
        assert_eq!(log.learn(0, entries(&[1, 2, 7])), Some(entries(&[1, 2, 7])));
        assert_eq!(log.learn(1, entries(&[2, 7])), None, "it is known");
        assert_eq!(log.learn(2, entries(&[7, 8])), Some(entries(&[8])));
        assert!(log.votes().is_empty());
    }

    #[test]
    fn what_a_snapshot_has_is_gone() {
        let mut log = log();
        log.learn(0, entries(&[1, 2]));
        log.compact(1, "one");
        assert_eq!((log.first_kept(), log.commit()), (1, 2));
        assert_eq!((log.after(0, 9), log.chosen(1)), (None, None));
        log.compact(3, "three");
        assert_eq!(log.snapshot().state, Some("one"), "place 3 is not known to be chosen");
        log.install(Snapshot { index: 3, state: Some("three") });
        assert_eq!((log.commit(), log.votes().len()), (3, 1));
    }
}
