//! A timing wheel: the items that are due in each round, up to two thousand rounds ahead.

use crate::workload::{ROUND, Time};

/// More rounds than the longest lifetime, and what comes before it.
const ROUNDS: usize = 2_048;

/// A wheel with one bucket for each round.
pub(crate) struct Wheel<T> {
    buckets: Vec<Vec<(Time, usize, T)>>,
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Wheel { buckets: (0..ROUNDS).map(|_| Vec::new()).collect() }
    }

    /// An item is due at a member, in a later round than this one.
    #[inline]
    pub(crate) fn put(&mut self, due: Time, node: usize, item: T) {
        self.buckets[(due / ROUND) as usize % ROUNDS].push((due, node, item));
    }

    /// Moves all items that are due in this round to `due`, which is emptied first.
    #[inline]
    pub(crate) fn take(&mut self, round: u64, due: &mut Vec<(Time, usize, T)>) {
        due.clear();
        std::mem::swap(&mut self.buckets[round as usize % ROUNDS], due);
    }
}
