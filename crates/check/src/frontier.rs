//! The states that wait for their expansion, in the order of discovery.

use std::collections::VecDeque;
use synod_core::Algorithm;
use synod_sim::world::{Translation, Waiting, World};

/// How many states are expanded between two checks of the limits.
pub(crate) const BATCH: usize = 1 << 14;

/// A queue of states, in batches: the memory of a batch is free as soon as its states are expanded.
pub(crate) struct Frontier<A: Algorithm> {
    batches: VecDeque<Waiting<A>>,
    /// The memory of an expanded batch, for the next one.
    spare: Option<Waiting<A>>,
}

impl<A: Algorithm> Default for Frontier<A> {
    fn default() -> Self {
        Frontier { batches: VecDeque::new(), spare: None }
    }
}

impl<A: Algorithm> Frontier<A> {
    pub(crate) fn push(&mut self, world: &World<A>) {
        self.open_batch().0.push(world);
    }

    /// Adds a state that waits elsewhere. The same translation is passed for all states from there.
    pub(crate) fn push_from(
        &mut self,
        other: &Waiting<A>,
        number: usize,
        translation: &mut Translation,
    ) {
        let (batch, is_new) = self.open_batch();
        if is_new {
            *translation = Translation::default();
        }
        batch.push_from(other, number, translation);
    }

    /// The batch to which states are added, and whether it has none yet.
    fn open_batch(&mut self) -> (&mut Waiting<A>, bool) {
        let is_full = self.batches.back().is_none_or(|batch| batch.len() == BATCH);
        if is_full {
            self.batches.push_back(self.spare.take().unwrap_or_default());
        }
        (self.batches.back_mut().expect("a batch was just added"), is_full)
    }

    pub(crate) fn pop_batch(&mut self) -> Option<Waiting<A>> {
        self.batches.pop_front()
    }

    /// The states of a batch are expanded. Keeps the memory of one such batch.
    pub(crate) fn recycle(&mut self, mut batch: Waiting<A>) {
        batch.clear();
        self.spare.get_or_insert(batch);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.batches.iter().map(Waiting::len).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.batches.iter().chain(&self.spare).map(Waiting::bytes).sum()
    }
}
