//! Quorums: how many must agree so that nobody else can agree on something different meanwhile.
//!
//! Two quorums of more than half share a process; it knows what the first one did when it is asked
//! for the second. A *fast* quorum may vote without a leader. Then two values may get votes in the
//! same round, and a later leader who sees a classic quorum must be able to tell which of them may
//! have been chosen: any classic quorum and any two fast ones share a process. With traitors, two
//! quorums must share more processes than there are traitors.

use serde::{Deserialize, Serialize};
use synod_core::ProcessSet;

/// The smallest number that is more than half of `n`.
pub fn majority(n: usize) -> usize {
    n / 2 + 1
}

/// How many of a group are a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quorums {
    n: u32,
    classic: u32,
    fast: u32,
}

/// Sizes that do not do what quorums are for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuorumError {
    /// Larger than the group, or nobody.
    #[error("a quorum of {size} among {n} is not possible")]
    Impossible {
        /// The size in question.
        size: usize,
        /// Of so many.
        n: usize,
    },
    /// Two classic quorums may have nobody in common.
    #[error(
        "two quorums of {classic} among {n} may have nobody in common; take more than half, at \
         least {}", majority(*.n)
    )]
    Classic {
        /// The size of a classic quorum.
        classic: usize,
        /// Of so many.
        n: usize,
    },
    /// A classic and two fast quorums may have nobody in common.
    #[error(
        "a quorum of {classic} and two fast ones of {fast} among {n} may have nobody in common; a \
         fast one needs at least {needed}"
    )]
    Fast {
        /// The size of a classic quorum.
        classic: usize,
        /// The size of a fast one.
        fast: usize,
        /// Of so many.
        n: usize,
        /// The smallest size that does it.
        needed: usize,
    },
}

impl Quorums {
    /// More than half; and ⌈3N/4⌉ where nobody leads.
    pub fn of(n: usize) -> Self {
        Quorums::checked(n, majority(n), (3 * n).div_ceil(4)).expect("such quorums intersect")
    }

    /// Quorums of these sizes, if they intersect as they must.
    pub fn checked(n: usize, classic: usize, fast: usize) -> Result<Self, QuorumError> {
        let possible = 1..=n;
        if let Some(size) = [classic, fast].into_iter().find(|size| !possible.contains(size)) {
            return Err(QuorumError::Impossible { size, n });
        }
        if 2 * classic <= n {
            return Err(QuorumError::Classic { classic, n });
        }
        if classic + 2 * fast <= 2 * n {
            let needed = (2 * n + 1 - classic).div_ceil(2);
            return Err(QuorumError::Fast { classic, fast, n, needed });
        }
        Ok(Quorums::unchecked(n, classic, fast))
    }

    /// Quorums of any sizes, for algorithms that are broken on purpose.
    pub(crate) fn unchecked(n: usize, classic: usize, fast: usize) -> Self {
        Quorums { n: n as u32, classic: classic as u32, fast: fast as u32 }
    }

    /// How many processes there are.
    pub fn group(&self) -> usize {
        self.n as usize
    }

    /// How many are a classic quorum.
    pub fn classic(&self) -> usize {
        self.classic as usize
    }

    /// How many are a fast quorum.
    pub fn fast(&self) -> usize {
        self.fast as usize
    }

    /// How many may crash so that a classic quorum is left: F.
    pub fn crashes(&self) -> usize {
        self.group() - self.classic()
    }

    /// How many may crash so that a fast quorum is left: E.
    pub fn fast_crashes(&self) -> usize {
        self.group() - self.fast()
    }

    /// Whether these are a classic quorum.
    pub fn is_classic(&self, those: &ProcessSet) -> bool {
        those.len() >= self.classic()
    }

    /// Whether these are a fast quorum.
    pub fn is_fast(&self, those: &ProcessSet) -> bool {
        those.len() >= self.fast()
    }
}

/// How many traitors a group of `n` can bear: fewer than a third.
pub fn traitors_among(n: usize) -> usize {
    n.saturating_sub(1) / 3
}

/// How many of `n` are a quorum where that many may be traitors: any two share a loyal process, and
/// the loyal ones alone are enough. It is 2f + 1 of 3f + 1.
pub fn byzantine(n: usize) -> usize {
    (n + traitors_among(n)) / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of so many among `n`, as bits.
    fn sets(n: usize, size: usize) -> impl Iterator<Item = u32> + Clone {
        (0..1_u32 << n).filter(move |set| set.count_ones() as usize == size)
    }

    /// Whether all quorums of these sizes intersect as they must, looked at one by one.
    fn intersect(n: usize, classic: usize, fast: usize) -> bool {
        let classics = || sets(n, classic);
        let with = |a: u32| sets(n, fast).any(|b| sets(n, fast).any(|c| a & b & c == 0));
        !classics().any(|a| classics().any(|b| a & b == 0)) && !classics().any(with)
    }

    #[test]
    fn sizes_are_accepted_just_if_all_quorums_of_these_sizes_intersect() {
        for n in 1..=6 {
            for (classic, fast) in (1..=n).flat_map(|c| (1..=n).map(move |f| (c, f))) {
                let accepted = Quorums::checked(n, classic, fast).is_ok();
                assert_eq!(accepted, intersect(n, classic, fast), "{classic} and {fast} of {n}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_would_do() {
        let why = |n, c, f| Quorums::checked(n, c, f).expect_err("it is refused").to_string();
        assert!(why(4, 2, 3).ends_with("more than half, at least 3"));
        assert!(why(5, 3, 3).ends_with("needs at least 4"));
        assert!(why(5, 6, 4).contains("6 among 5 is not possible"));
        assert!(why(5, 3, 0).contains("0 among 5 is not possible"));
    }

    #[test]
    fn the_table_of_sizes_and_of_crashes_that_they_bear() {
        let row = |q: Quorums| (q.group(), q.classic(), q.fast(), q.fast_crashes(), q.crashes());
        let table = [4, 5, 7].map(|n| row(Quorums::of(n)));
        assert_eq!(table, [(4, 3, 3, 1, 1), (5, 3, 4, 1, 2), (7, 4, 6, 1, 3)]);
        let uniform = Quorums::checked(7, 5, 5).expect("3f + 1 of them, f = 2");
        assert_eq!(row(uniform), (7, 5, 5, 2, 2));
        for n in 1..=40 {
            let q = Quorums::of(n);
            assert_eq!((q.crashes(), q.fast_crashes()), (n.div_ceil(2) - 1, n / 4));
        }
    }

    #[test]
    fn two_quorums_among_traitors_share_a_loyal_process_and_loyal_processes_are_enough() {
        assert_eq!([4, 7, 10].map(byzantine), [3, 5, 7]);
        for n in 1..=40 {
            let (f, quorum) = (traitors_among(n), byzantine(n));
            assert!(2 * quorum > n + f && quorum <= n - f, "{n}");
        }
    }
}
