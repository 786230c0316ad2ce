//! The judge of all logs together: log matching and leader completeness.
//!
//! It keeps the logs of the last moment, which share with those of this one what no step has
//! changed since. So it finds the changes, compares new entries, and knows of the rest whether it
//! agrees. With no memory it compares everything, and its answer is the same.

use super::{Log, LogEntry, Rules, Server};
use std::cell::RefMut;
use std::ops::Deref;
use synod_core::algorithm::Snapshot;
use synod_core::replication::{Catalogued, Command, KeyValue, Map, Operation, Sessions, Store};

type Entries = Map<u64, LogEntry<Command<Operation>>>;
type LogOf = Log<Command<Operation>, Sessions<Store>>;

/// Log matching: no two logs have an entry of the same term at the same place, and differ up to
/// there.
pub(super) fn logs_match<R: Rules>(snapshot: &Snapshot<'_, KeyValue<Server<R>>>) -> bool
where
    Server<R>: Catalogued,
{
    let servers = servers(snapshot);
    Agreement::now(snapshot, &servers).clashes == 0
}

/// Leader completeness: a leader has all that servers of its term or an earlier one know to be
/// committed.
pub(super) fn leaders_are_complete<R: Rules>(snapshot: &Snapshot<'_, KeyValue<Server<R>>>) -> bool
where
    Server<R>: Catalogued,
{
    let servers = servers(snapshot);
    if servers.iter().all(|server| !server.leads()) {
        return true;
    }
    let agreement = Agreement::now(snapshot, &servers);
    let knows = |leader: usize, other: usize| {
        let (one, another) = (&servers[leader], &servers[other]);
        let same = agreement.same(leader, other);
        another.term() > one.term()
            || has_committed(one.log(), another.log(), another.commit(), same)
    };
    let mut leaders = (0..servers.len()).filter(|at| servers[*at].leads());
    leaders.all(|leader| (0..servers.len()).all(|other| knows(leader, other)))
}

fn servers<'a, R: Rules>(snapshot: &Snapshot<'a, KeyValue<Server<R>>>) -> Vec<&'a Server<R>>
where
    Server<R>: Catalogued,
{
    snapshot.processes().map(|p| p.process().engine()).collect()
}

/// Whether a leader's log has what another log has up to `commit`, as far as both keep it. They are
/// known to have the same entries up to `same`.
fn has_committed(leader: &LogOf, other: &LogOf, commit: u64, same: u64) -> bool {
    let first = leader.first_kept().max(other.first_kept());
    let has = |index: u64| leader.position(index) == other.position(index);
    leader.last_index() >= commit
        && (first > commit || has(first))
        && (same.max(first) + 1..=commit).all(has)
}

/// How far the logs agree, each two of them.
#[derive(Default)]
struct Agreement {
    /// The logs of the last moment: after which place they begin, and their entries.
    logs: Vec<(u64, Entries)>,
    /// For each server, the pairs with those before it.
    pairs: Vec<Vec<Pair>>,
    /// How many pairs clash.
    clashes: usize,
}

/// The knowledge about two logs, from the place on that both keep.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// The place after which both have entries.
    first: u64,
    /// The entries up to here are the same.
    same: u64,
    /// Those after `same` are of different terms, up to here.
    compared: u64,
    /// The entry at `compared` is of the same term in both, though the logs differ up to there.
    clashes: bool,
}

impl Agreement {
    /// The agreement of these servers at this moment.
    fn now<'a, R: Rules>(
        snapshot: &Snapshot<'a, KeyValue<Server<R>>>,
        servers: &[&Server<R>],
    ) -> impl Deref<Target = Self> + use<'a, R>
    where
        Server<R>: Catalogued,
    {
        let mut agreement: RefMut<'a, Self> = snapshot.memory();
        agreement.take_in(servers.iter().map(|server| server.log()));
        agreement
    }

    /// Up to which place two logs are known to be the same.
    fn same(&self, one: usize, other: usize) -> u64 {
        match one.cmp(&other) {
            std::cmp::Ordering::Less => self.pairs[other][one].same,
            std::cmp::Ordering::Equal => self.logs[one].0 + self.logs[one].1.len() as u64,
            std::cmp::Ordering::Greater => self.pairs[one][other].same,
        }
    }

    /// Compares what has changed since the last moment.
    fn take_in<'l>(&mut self, logs: impl ExactSizeIterator<Item = &'l LogOf>) {
        if self.logs.is_empty() {
            self.logs.resize(logs.len(), Default::default());
            self.pairs = (0..logs.len()).map(|at| vec![Pair::default(); at]).collect();
        }
        for (at, log) in logs.enumerate() {
            if let Some(from) = self.note(at, log) {
                self.review(at, from);
            }
        }
    }

    /// Keeps this log. Returns the place from which on it may differ from that of the last moment;
    /// none if it is the same.
    fn note(&mut self, at: usize, log: &LogOf) -> Option<u64> {
        let (first, entries) = &mut self.logs[at];
        let before = std::mem::replace(first, log.first_kept());
        if before == *first && entries.shares_all(log.entries()) {
            return None;
        }
        let changed = entries.first_difference(log.entries(), Some(first));
        *entries = log.entries().clone();
        // A log that begins earlier than before is another one: a disk has brought it back.
        Some(if *first < before { 0 } else { changed.unwrap_or(u64::MAX) })
    }

    /// Compares a log that has changed from a place on with all others.
    fn review(&mut self, at: usize, from: u64) {
        let Agreement { logs, pairs, clashes } = self;
        for other in (0..logs.len()).filter(|other| *other != at) {
            let pair = &mut pairs[at.max(other)][at.min(other)];
            *clashes -= usize::from(pair.clashes);
            pair.review(from, &logs[at], &logs[other]);
            *clashes += usize::from(pair.clashes);
        }
    }
}

impl Pair {
    /// One of the two logs has changed from this place on.
    fn review(&mut self, from: u64, one: &(u64, Entries), other: &(u64, Entries)) {
        let first = one.0.max(other.0);
        let last = (one.0 + one.1.len() as u64).min(other.0 + other.1.len() as u64);
        if first < self.first || self.clashes {
            *self = Pair { first, same: first, compared: first, clashes: false };
        }
        self.first = first;
        self.same = self.same.min(from.saturating_sub(1)).max(first);
        self.compared = self.compared.min(from.saturating_sub(1)).max(self.same);
        while self.compared < last && !self.clashes {
            self.compare(one.1.get(&(self.compared + 1)), other.1.get(&(self.compared + 1)));
        }
    }

    /// Compares the next two entries.
    fn compare(
        &mut self,
        one: Option<&LogEntry<Command<Operation>>>,
        other: Option<&LogEntry<Command<Operation>>>,
    ) {
        if self.same == self.compared && one == other {
            self.same += 1;
        } else {
            self.clashes = one.map(|entry| entry.term) == other.map(|entry| entry.term);
        }
        self.compared += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::raft::log::Snapshot as Beginning;
    use proptest::prelude::*;
    use synod_core::ProcessSet;
    use synod_core::replication::Entry;

    /// A change of one log.
    #[derive(Clone, Debug)]
    enum Change {
        /// The entries after a place are replaced by empty ones of these terms.
        Replace(u64, Vec<u64>),
        /// The entry of this term at a place names voters instead: the same term, and not the same.
        Spoil(u64),
        Compact(u64),
        /// The log of another server takes its place.
        Copy(usize),
        /// A disk brings back what was there at some earlier moment.
        Restore(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            6 => (0..12_u64, prop::collection::vec(1..4_u64, 0..4))
                .prop_map(|(at, terms)| Change::Replace(at, terms)),
            1 => (1..12_u64).prop_map(Change::Spoil),
            2 => (0..12_u64).prop_map(Change::Compact),
            2 => (0..3_usize).prop_map(Change::Copy),
            1 => any::<prop::sample::Index>().prop_map(|at| Change::Restore(at.index(40))),
        ]
    }

    fn apply(change: Change, at: usize, logs: &mut [LogOf], past: &[LogOf]) {
        let log = &mut logs[at];
        let entry = |term| LogEntry { term, entry: Entry::Nothing };
        match change {
            Change::Replace(after, terms) => {
                log.replace_after(after, &terms.into_iter().map(entry).collect::<Vec<_>>());
            }
            Change::Spoil(index) => {
                let Some(position) = log.position(index).filter(|_| log.entry(index).is_some())
                else {
                    return;
                };
                let rest = log.after(index, usize::MAX).unwrap_or_default();
                let named = Entry::Voters(ProcessSet::all(1));
                log.replace_after(index - 1, &[LogEntry { term: position.term, entry: named }]);
                log.replace_after(index, &rest);
            }
            Change::Compact(index) => log.compact(index, Sessions::default()),
            Change::Copy(from) => logs[at] = logs[from].clone(),
            Change::Restore(moment) => *log = past[moment % past.len()].clone(),
        }
    }

    /// Log matching, as it is said.
    fn match_as_said(one: &LogOf, other: &LogOf) -> bool {
        let first = one.first_kept().max(other.first_kept());
        let last = one.last_index().min(other.last_index());
        let same = |index: &u64| one.position(*index) == other.position(*index);
        let end = (first..=last).rev().find(same).unwrap_or(first);
        (first + 1..=end).all(|index| one.entry(index) == other.entry(index))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn a_judge_with_a_memory_says_what_one_without_says(
            changes in prop::collection::vec((0..3_usize, change(), 0..12_u64), 1..60),
        ) {
            let mut logs = vec![LogOf::new(ProcessSet::all(3)); 3];
            let (mut past, mut agreement) = (logs.clone(), Agreement::default());
            for (at, change, commit) in changes {
                apply(change, at, &mut logs, &past);
                past.push(logs[at].clone());
                agreement.take_in(logs.iter());
                let pairs = [(0, 1), (0, 2), (1, 2)];
                let clashes = pairs.iter().filter(|(a, b)| !match_as_said(&logs[*a], &logs[*b]));
                prop_assert_eq!(agreement.clashes, clashes.count());
                for (leader, other) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
                    let has = |same| has_committed(&logs[leader], &logs[other], commit, same);
                    prop_assert_eq!(has(agreement.same(leader, other)), has(0));
                }
            }
        }
    }

    #[test]
    fn a_step_that_changes_no_log_compares_nothing() {
        let mut log = LogOf::new(ProcessSet::all(2));
        log.push(LogEntry { term: 1, entry: Entry::Nothing });
        let mut agreement = Agreement::default();
        agreement.take_in([&log, &log].into_iter());
        assert_eq!(agreement.note(1, &log), None);
        log.push(LogEntry { term: 1, entry: Entry::Nothing });
        assert_eq!(agreement.note(1, &log), Some(2));
        let last = Beginning { last: log.last(), ..log.snapshot().clone() };
        log.install(last);
        assert_eq!(agreement.note(1, &log), Some(u64::MAX), "what both keep is the same");
    }
}
