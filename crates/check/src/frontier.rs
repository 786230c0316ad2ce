//! The states that wait for their expansion, in the order of discovery.

use std::collections::VecDeque;
use synod_core::Algorithm;
use synod_sim::world::{Waiting, World};

/// How many states are expanded between two checks of the limits.
pub(crate) const BATCH: usize = 1 << 14;

/// A queue of states, in batches: the memory of a batch is free as soon as its states are expanded.
pub(crate) struct Frontier<A: Algorithm> {
    batches: VecDeque<Waiting<A>>,
}

impl<A: Algorithm> Default for Frontier<A> {
    fn default() -> Self {
        Frontier { batches: VecDeque::new() }
    }
}

impl<A: Algorithm> Frontier<A> {
    pub(crate) fn push(&mut self, world: &World<A>) {
        match self.batches.back_mut() {
            Some(batch) if batch.len() < BATCH => batch.push(world),
            _ => {
                let mut batch = Waiting::default();
                batch.push(world);
                self.batches.push_back(batch);
            }
        }
    }

    pub(crate) fn pop_batch(&mut self) -> Option<Waiting<A>> {
        self.batches.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.batches.iter().map(Waiting::len).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.batches.iter().map(Waiting::bytes).sum()
    }
}
