//! Ballots: the numbers of attempts, of which no two are the same.
//!
//! A ballot is a round and the process that began it. The greater round wins, and within a round
//! the greater name. So a process that has seen a ballot can begin a greater one, and no two
//! processes begin the same. The textbook's number for it is round · N + id, which has the same
//! order.

use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::ProcessId;

/// The last round, so that adding to a round never overflows. A message with a greater one lies.
pub const LAST_ROUND: u32 = 1 << 30;

/// The number of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ballot {
    /// The round, from 1.
    pub round: u32,
    /// The process that began it. No other process may use it.
    pub owner: ProcessId,
}

impl Ballot {
    /// The smallest ballot of `owner` above the greatest that was seen; `None` after the last
    /// round.
    pub fn above(seen: Option<Ballot>, owner: ProcessId) -> Option<Ballot> {
        let next = match seen {
            None => Ballot { round: 1, owner },
            Some(seen) if owner > seen.owner => Ballot { round: seen.round, owner },
            Some(seen) => Ballot { round: seen.round.checked_add(1)?, owner },
        };
        (next.round <= LAST_ROUND).then_some(next)
    }

    /// The ballot as one number, in a group of `n`.
    pub fn number(self, n: usize) -> u64 {
        u64::from(self.round) * n as u64 + u64::from(self.owner.0)
    }

    /// Whether a process of a group of `n` may have begun it.
    pub fn is_sound(self, n: usize) -> bool {
        (1..=LAST_ROUND).contains(&self.round) && self.owner.index() < n
    }

    /// The ballot with rounds counted from a later one. Explorers compare states in which only the
    /// differences of rounds matter.
    #[must_use]
    pub fn back_by(self, rounds: u32) -> Ballot {
        Ballot { round: self.round.saturating_sub(rounds), owner: self.owner }
    }
}

impl fmt::Debug for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.round, self.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ballots(n: u32) -> Vec<Ballot> {
        let of = |round| (0..n).map(move |owner| Ballot { round, owner: ProcessId(owner) });
        (1..=4).flat_map(of).collect()
    }

    #[test]
    fn ballots_have_the_order_of_the_numbers_round_times_n_plus_id() {
        let numbers: Vec<u64> = ballots(3).iter().map(|ballot| ballot.number(3)).collect();
        assert_eq!(numbers, (3..15).collect::<Vec<u64>>());
        assert!(ballots(3).is_sorted());
    }

    #[test]
    fn the_next_ballot_is_the_smallest_of_its_owner_above_what_was_seen() {
        for seen in ballots(3) {
            for owner in ProcessId::all(3) {
                let next = Ballot::above(Some(seen), owner).expect("there are more");
                assert!(next > seen && next.owner == owner);
                let all_of_owner = ballots(3).into_iter().filter(|b| b.owner == owner);
                assert!(all_of_owner.filter(|b| *b > seen).all(|b| b >= next));
            }
        }
        assert_eq!(Ballot::above(None, ProcessId(2)).map(|b| b.number(3)), Some(5));
    }

    #[test]
    fn after_the_last_round_there_is_none() {
        let last = Ballot { round: LAST_ROUND, owner: ProcessId(1) };
        assert_eq!(Ballot::above(Some(last), ProcessId(1)), None);
        let far = Ballot { round: u32::MAX, ..last };
        assert_eq!(Ballot::above(Some(far), ProcessId(0)), None);
        assert!(last.is_sound(2) && !far.is_sound(2) && !last.is_sound(1));
        assert!(!Ballot { round: 0, ..last }.is_sound(2));
    }
}
