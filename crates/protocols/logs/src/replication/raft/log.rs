//! The log of one server: the state after its beginning, and the entries that follow.

use serde::{Deserialize, Serialize};
use synod_core::ProcessSet;
use synod_core::replication::{Entry, Map};

/// A place in a log: the term of the entry there, and its index. Of two logs, the one with the
/// greater last position is the more up-to-date (section 5.4.1).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The term.
    pub term: u64,
    /// The place, from 1.
    pub index: u64,
}

/// `2:7`: term 2, index 7.
impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.term, self.index)
    }
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogEntry<C> {
    /// The term of the leader that wrote it.
    pub term: u64,
    /// The entry itself.
    pub entry: Entry<C>,
}

/// The state in the place of the beginning of a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Snapshot<S> {
    /// The last entry that is in it.
    pub last: Position,
    /// The voters, after that entry.
    pub voters: ProcessSet,
    /// The state; none, if nothing is in it yet.
    pub state: Option<S>,
}

/// A log. A clone of it costs nothing, and shares what neither of the two has changed since: so a
/// judge that keeps the logs of a moment finds what a step has changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de> + Clone, S: Deserialize<'de>"))]
pub struct Log<C, S> {
    snapshot: Snapshot<S>,
    /// By their places, which follow that of the snapshot without a gap.
    entries: Map<u64, LogEntry<C>>,
    /// The voters by the last entry that names them, and its place. A cache: every step asks for
    /// it.
    voters: (ProcessSet, Option<u64>),
}

impl<C> LogEntry<C> {
    /// The voters that it names.
    fn voters(&self) -> Option<&ProcessSet> {
        match &self.entry {
            Entry::Voters(voters) => Some(voters),
            Entry::Nothing | Entry::Command(_) => None,
        }
    }
}

impl<C: Clone + Eq, S: Clone> Log<C, S> {
    /// An empty log of a group with these voters.
    pub fn new(voters: ProcessSet) -> Self {
        let snapshot = Snapshot { last: Position::default(), voters, state: None };
        Log::restored(snapshot, Vec::new())
    }

    /// A log as it was written down.
    pub(super) fn restored(snapshot: Snapshot<S>, entries: Vec<LogEntry<C>>) -> Self {
        let entries = (snapshot.last.index + 1..).zip(entries).collect();
        let mut log = Log { snapshot, entries, voters: (ProcessSet::EMPTY, None) };
        log.look_up_voters();
        log
    }

    fn look_up_voters(&mut self) {
        let named = self.entries.iter().filter_map(|(at, entry)| Some((entry.voters()?, *at)));
        self.voters = match named.last() {
            None => (self.snapshot.voters.clone(), None),
            Some((voters, at)) => (voters.clone(), Some(at)),
        };
    }

    pub(super) fn snapshot(&self) -> &Snapshot<S> {
        &self.snapshot
    }

    /// The entries that are kept, by their places.
    pub(super) fn entries(&self) -> &Map<u64, LogEntry<C>> {
        &self.entries
    }

    /// The same, to be written down.
    pub(super) fn to_vec(&self) -> Vec<LogEntry<C>> {
        self.entries.iter().map(|(_, entry)| entry.clone()).collect()
    }

    /// The position of the last entry.
    pub fn last(&self) -> Position {
        let index = self.last_index();
        self.entry(index).map_or(self.snapshot.last, |entry| Position { term: entry.term, index })
    }

    /// The place of the last entry.
    pub fn last_index(&self) -> u64 {
        self.snapshot.last.index + self.entries.len() as u64
    }

    /// The place after which there are entries.
    pub fn first_kept(&self) -> u64 {
        self.snapshot.last.index
    }

    /// The entry at a place, if it is still there.
    pub fn entry(&self, index: u64) -> Option<&LogEntry<C>> {
        self.entries.get(&index)
    }

    /// The position at a place; none before the snapshot and after the end.
    pub fn position(&self, index: u64) -> Option<Position> {
        if index == self.snapshot.last.index {
            return Some(self.snapshot.last);
        }
        self.entry(index).map(|entry| Position { term: entry.term, index })
    }

    /// Up to `most` entries after a place; none, if the snapshot has replaced them.
    pub fn after(&self, index: u64, most: usize) -> Option<Vec<LogEntry<C>>> {
        let is_kept = (self.first_kept()..=self.last_index()).contains(&index);
        let rest = is_kept.then(|| self.entries.after(Some(&index)))?;
        Some(rest.take(most).map(|(_, entry)| entry.clone()).collect())
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, entry: LogEntry<C>) {
        self.replace_after(self.last_index(), &[entry]);
    }

    /// Replaces all entries after this place by these.
    pub fn replace_after(&mut self, index: u64, entries: &[LogEntry<C>]) {
        let index = index.clamp(self.first_kept(), self.last_index());
        for gone in (index + 1..=self.last_index()).rev() {
            self.entries.remove(&gone);
        }
        self.entries.extend((index + 1..).zip(entries.iter().cloned()));
        let is_gone = self.voters.1.is_some_and(|since| since > index);
        if is_gone || entries.iter().any(|entry| entry.voters().is_some()) {
            self.look_up_voters();
        }
    }

    /// The voters.
    pub fn voters(&self) -> &ProcessSet {
        &self.voters.0
    }

    /// The place of the last entry that names the voters, if it is not in the snapshot.
    pub fn voters_since(&self) -> Option<u64> {
        self.voters.1
    }

    /// The state takes the place of everything up to `index`, which is in the log.
    pub fn compact(&mut self, index: u64, state: S) {
        let Some(last) = self.position(index).filter(|_| index > self.first_kept()) else { return };
        let goes = self.entries.iter().take_while(|(at, _)| **at <= index);
        let voters = goes.filter_map(|(_, entry)| entry.voters()).last();
        let voters = voters.unwrap_or(&self.snapshot.voters).clone();
        for gone in self.first_kept() + 1..=index {
            self.entries.remove(&gone);
        }
        self.snapshot = Snapshot { last, voters, state: Some(state) };
        self.look_up_voters();
    }

    /// A state of another server takes the place of the beginning; what agrees with it stays.
    pub fn install(&mut self, snapshot: Snapshot<S>) {
        let agrees = self.position(snapshot.last.index) == Some(snapshot.last);
        let keep = if agrees { self.after(snapshot.last.index, usize::MAX) } else { None };
        *self = Log::restored(snapshot, keep.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::ProcessId;

    fn entry(term: u64, command: u8) -> LogEntry<u8> {
        LogEntry { term, entry: Entry::Command(command) }
    }

    /// Entries of the terms 1, 1, 2, 3.
    fn log() -> Log<u8, &'static str> {
        let mut log = Log::new(ProcessSet::all(3));
        for (term, command) in [(1, 1), (1, 2), (2, 3), (3, 4)] {
            log.push(entry(term, command));
        }
        log
    }

    #[test]
    fn positions_are_those_of_the_entries() {
        assert_eq!(log().last(), Position { term: 3, index: 4 });
        assert_eq!(log().position(3), Some(Position { term: 2, index: 3 }));
        assert_eq!(log().position(0), Some(Position::default()));
        assert_eq!(log().position(5), None);
        assert_eq!(log().after(2, 1), Some(vec![entry(2, 3)]));
        assert_eq!(log().after(9, 1), None);
    }

    #[test]
    fn entries_that_a_snapshot_has_are_gone_from_the_log() {
        let mut log = log();
        log.compact(3, "three");
        assert_eq!((log.first_kept(), log.last_index()), (3, 4));
        assert_eq!((log.entry(3), log.after(2, 9)), (None, None));
        assert_eq!(log.position(3), Some(Position { term: 2, index: 3 }));
        log.compact(2, "two");
        assert_eq!(log.snapshot().state, Some("three"), "an older state is of no use");
    }

    #[test]
    fn a_state_of_another_keeps_what_follows_if_it_agrees() {
        let last = Position { term: 1, index: 2 };
        let snapshot = Snapshot { last, voters: ProcessSet::all(3), state: Some("two") };
        let mut agreeing = log();
        agreeing.install(snapshot.clone());
        assert_eq!((agreeing.first_kept(), agreeing.last_index()), (2, 4));
        let mut other = log();
        other.install(Snapshot { last: Position { term: 2, index: 2 }, ..snapshot });
        assert_eq!((other.first_kept(), other.last_index()), (2, 2));
    }

    #[test]
    fn the_last_entry_that_names_the_voters_counts_even_after_it_is_in_a_snapshot() {
        let two: ProcessSet = [ProcessId(0), ProcessId(1)].into_iter().collect();
        let mut log = log();
        log.push(LogEntry { term: 3, entry: Entry::Voters(two.clone()) });
        log.push(entry(3, 6));
        assert_eq!((log.voters(), log.voters_since()), (&two, Some(5)));
        log.compact(6, "six");
        assert_eq!((log.voters(), log.voters_since()), (&two, None));
        log.replace_after(6, &[entry(4, 7)]);
        assert_eq!(log.last(), Position { term: 4, index: 7 });
    }
}
