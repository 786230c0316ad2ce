//! Logical timestamps as values. The rules that advance them are in the protocols that use them.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A Lamport time with the name of its process. Ordered by time, ties broken by name: the total
/// order of the textbook. (To ask only whether one *time* is smaller, compare the `time` fields.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp {
    /// The reading of the logical clock.
    pub time: u64,
    /// Whose clock it was.
    pub process: ProcessId,
}

impl Timestamp {
    /// The time `time` on the clock of `process`.
    pub fn new(time: u64, process: ProcessId) -> Self {
        Timestamp { time, process }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.time, self.process)
    }
}

/// A vector time: for each process, how many of its events are known.
///
/// `a < b` means that `a` happened before `b`; incomparable vectors are concurrent.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VectorStamp(pub Vec<u32>);

impl VectorStamp {
    /// Nothing is known of anybody.
    pub fn zero(n: usize) -> Self {
        VectorStamp(vec![0; n])
    }

    /// Whether neither happened before the other.
    pub fn is_concurrent_with(&self, other: &VectorStamp) -> bool {
        self.partial_cmp(other).is_none()
    }

    /// Takes over whatever `other` knows better.
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
