//! The set of numbers of one sender's messages that a process has received.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The largest number of messages that one may overtake. It bounds the memory: a message that is
/// further ahead is refused.
pub const AHEAD_AT_MOST: u32 = 1 << 16;

/// The numbers of the messages that were received from one sender. As they have no gaps for long,
/// this is one number and the few that came too early.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Received {
    /// All up to here.
    upto: u32,
    /// And these above it.
    early: BTreeSet<u32>,
}

impl Received {
    /// Adds a number. True if it is new; an error says why no honest process can have sent it.
    pub fn insert(&mut self, number: u32) -> Result<bool, &'static str> {
        if number == 0 {
            return Err("numbered a message 0");
        }
        if number <= self.upto {
            return Ok(false);
        }
        if number - self.upto > AHEAD_AT_MOST {
            return Err("sent a message that is too far ahead");
        }
        let new = self.early.insert(number);
        while self.early.first().is_some_and(|first| *first == self.upto + 1) {
            self.early.pop_first();
            self.upto += 1;
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_gap_are_remembered_as_one() {
        let mut received = Received::default();
        for number in [2, 3, 1, 5] {
            assert_eq!(received.insert(number), Ok(true));
            assert_eq!(received.insert(number), Ok(false));
        }
        assert_eq!(received, Received { upto: 3, early: BTreeSet::from([5]) });
        assert_eq!(received.insert(2), Ok(false));
    }

    #[test]
    fn what_cannot_be_remembered_is_refused() {
        let mut received = Received::default();
        assert!(received.insert(0).is_err());
        assert!(received.insert(AHEAD_AT_MOST + 1).is_err());
        assert!(received.insert(u32::MAX).is_err());
        assert_eq!(received.insert(AHEAD_AT_MOST), Ok(true));
        assert_eq!(received.early.len(), 1);
    }
}
