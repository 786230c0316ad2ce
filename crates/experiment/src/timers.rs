//! Timers of all members.

use crate::workload::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Timers of all members, earliest first.
pub(crate) struct Timers<T> {
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    /// The timers that are set: member, timer, and number in the queue.
    set: Vec<(usize, T, u64)>,
    count: u64,
}

impl<T: Eq> Timers<T> {
    pub(crate) fn new() -> Self {
        Timers { queue: BinaryHeap::new(), set: Vec::new(), count: 0 }
    }

    /// Sets a timer, or moves it if it is set.
    pub(crate) fn set(&mut self, node: usize, timer: T, due: Time) {
        self.cancel(node, &timer);
        self.queue.push(Reverse((due, self.count)));
        self.set.push((node, timer, self.count));
        self.count += 1;
    }

    /// Forgets a timer. Its entry stays in the queue, and is skipped when its time comes.
    pub(crate) fn cancel(&mut self, node: usize, timer: &T) {
        self.set.retain(|(at, which, _)| *at != node || which != timer);
    }

    /// The time of the first entry; a forgotten timer may count.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes the next one, if it has not been forgotten.
    pub(crate) fn take(&mut self) -> Option<(usize, T)> {
        let Reverse((_, number)) = self.queue.pop()?;
        let place = self.set.iter().position(|(_, _, set)| *set == number)?;
        let (node, timer, _) = self.set.swap_remove(place);
        Some((node, timer))
    }
}
