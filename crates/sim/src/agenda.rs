//! The agenda: planned events, by time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Planned events in order of time; events with the same time keep the order of planning.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<D> {
    heap: BinaryHeap<Item<D>>,
    planned: u64,
}

#[derive(Clone, Debug)]
struct Item<D> {
    /// The time, and below it the number of the plan: one comparison instead of two.
    key: u128,
    due: D,
}

impl<D> Default for Agenda<D> {
    fn default() -> Self {
        Agenda { heap: BinaryHeap::new(), planned: 0 }
    }
}

impl<D> Agenda<D> {
    #[inline]
    pub(crate) fn plan(&mut self, at_us: u64, due: D) {
        let number = self.number();
        self.plan_as(number, at_us, due);
    }

    /// The number of a plan to be made later, as if it were made now.
    pub(crate) fn number(&mut self) -> u64 {
        self.planned += 1;
        self.planned - 1
    }

    /// Plans an event under a number that was given out earlier.
    #[inline]
    pub(crate) fn plan_as(&mut self, number: u64, at_us: u64, due: D) {
        let key = u128::from(at_us) << 64 | u128::from(number);
        self.heap.push(Item { key, due });
    }

    /// The next event: its time, its number, and the event.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u64, u64, D)> {
        self.heap.pop().map(|item| ((item.key >> 64) as u64, item.key as u64, item.due))
    }

    /// The time of the next event.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.heap.peek().map(|item| (item.key >> 64) as u64)
    }

    /// Removes every event that `is_over`. Costs a look at each planned event.
    pub(crate) fn forget(&mut self, mut is_over: impl FnMut(&D) -> bool) {
        self.heap.retain(|item| !is_over(&item.due));
    }
}

impl<D> PartialEq for Item<D> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<D> Eq for Item<D> {}

impl<D> PartialOrd for Item<D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<D> Ord for Item<D> {
    // A heap returns its largest item, so the earliest one must compare as the largest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_earlier_comes_first_and_then_what_was_planned_earlier() {
        let mut agenda = Agenda::default();
        for (at_us, due) in [(5, 'c'), (1, 'a'), (5, 'd'), (u64::MAX, 'e'), (1, 'b')] {
            agenda.plan(at_us, due);
        }
        let order: String = std::iter::from_fn(|| agenda.next()).map(|(.., due)| due).collect();
        assert_eq!(order, "abcde");
    }

    #[test]
    fn what_is_planned_under_an_earlier_number_comes_before_what_was_planned_since() {
        let mut agenda = Agenda::default();
        let number = agenda.number();
        agenda.plan(5, 'b');
        agenda.plan_as(number, 5, 'a');
        assert_eq!(agenda.next(), Some((5, 0, 'a')));
        assert_eq!(agenda.next(), Some((5, 1, 'b')));
    }

    #[test]
    fn what_is_struck_out_never_comes_and_the_order_of_the_rest_stays() {
        let mut agenda = Agenda::default();
        for (at_us, due) in [(3, 'x'), (2, 'b'), (1, 'x'), (1, 'a'), (9, 'c')] {
            agenda.plan(at_us, due);
        }
        agenda.forget(|due| *due == 'x');
        assert_eq!(agenda.next_us(), Some(1));
        let order: String = std::iter::from_fn(|| agenda.next()).map(|(.., due)| due).collect();
        assert_eq!(order, "abc");
    }
}
