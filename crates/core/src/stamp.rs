//! Logical timestamps as values. The rules that advance them are in the protocols that use them.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A Lamport time with the name of its process. Ordered by time, ties broken by name: the total
/// order of the textbook, which is not the order of the clocks alone: see [`Timestamp::clock_lt`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp {
    /// The reading of the logical clock.
    pub time: u64,
    /// The process whose clock it was.
    pub process: ProcessId,
}

impl Timestamp {
    /// The time `time` on the clock of `process`.
    pub fn new(time: u64, process: ProcessId) -> Self {
        Timestamp { time, process }
    }

    /// Whether the *time* is smaller. This is the `<` of `a → b ⇒ C(a) < C(b)`, and it leaves
    /// events of the same time unordered.
    pub fn clock_lt(self, other: Timestamp) -> bool {
        self.time < other.time
    }

    /// Whether this comes first in the total order: by time, then by name. The same as `<`.
    pub fn total_lt(self, other: Timestamp) -> bool {
        self < other
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.time, self.process)
    }
}

/// A vector time: for each process, the number of its events known here.
///
/// `a < b` means that `a` happened before `b`; incomparable vectors are concurrent.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VectorStamp(pub Vec<u32>);

impl VectorStamp {
    /// No event is known.
    pub fn zero(n: usize) -> Self {
        VectorStamp(vec![0; n])
    }

    /// Whether this happened before `other`: no component is larger, and at least one is smaller.
    pub fn happened_before(&self, other: &VectorStamp) -> bool {
        self < other
    }

    /// Whether neither happened before the other.
    pub fn is_concurrent_with(&self, other: &VectorStamp) -> bool {
        self.partial_cmp(other).is_none()
    }

    /// Takes the larger of the two counts, for each process.
    pub fn merge(&mut self, other: &VectorStamp) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

impl PartialOrd for VectorStamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let (mut less, mut greater) = (false, false);
        for (mine, theirs) in self.0.iter().zip(&other.0) {
            less |= mine < theirs;
            greater |= mine > theirs;
        }
        match (less, greater) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => None,
        }
    }
}

impl fmt::Debug for VectorStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, known) in self.0.iter().enumerate() {
            write!(f, "{}{known}", if index == 0 { "" } else { "," })?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector<const N: usize>(known: [u32; N]) -> VectorStamp {
        VectorStamp(known.to_vec())
    }

    #[test]
    fn equal_times_are_unordered_by_the_clock_and_ordered_by_name_in_the_total_order() {
        let (a, x) = (Timestamp::new(1, ProcessId(1)), Timestamp::new(1, ProcessId(3)));
        assert!(!a.clock_lt(x) && !x.clock_lt(a));
        assert!(a.total_lt(x) && !x.total_lt(a));
    }

    #[test]
    fn a_vector_comes_before_another_if_it_knows_no_more_and_not_the_same() {
        assert!(vector([2, 0, 0]).happened_before(&vector([2, 1, 0])));
        assert!(!vector([2, 1, 0]).happened_before(&vector([2, 0, 0])));
        assert!(!vector([2, 0, 0]).happened_before(&vector([2, 0, 0])));
    }

    #[test]
    fn vectors_of_which_each_knows_an_event_that_the_other_does_not_are_concurrent() {
        let (a, x) = (vector([1, 0, 0]), vector([0, 0, 1]));
        assert!(a.is_concurrent_with(&x) && x.is_concurrent_with(&a));
        assert!(!a.is_concurrent_with(&a), "an event is not concurrent with itself");
        assert!(!a.happened_before(&x) && !x.happened_before(&a));
    }

    #[test]
    fn merging_keeps_the_larger_number_of_each_process() {
        let mut mine = vector([2, 0, 5]);
        mine.merge(&vector([1, 3, 5]));
        assert_eq!(mine, vector([2, 3, 5]));
    }
}
