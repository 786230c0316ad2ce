//! Quorums: the number of processes that must agree, so that no others can agree on another value
//! at the same time.
//!
//! Two quorums of more than half share a process; it knows the decision of the first one when the
//! second one asks it. A *fast* quorum may vote without a leader. Then two values may get votes in
//! the same round, and a later leader that sees a classic quorum must be able to tell which of them
//! may have been chosen: any classic quorum and any two fast ones share a process. With traitors,
//! two quorums must share more processes than there are traitors.

use serde::{Deserialize, Serialize};
use synod_core::ProcessSet;

/// The smallest number that is more than half of `n`.
pub fn majority(n: usize) -> usize {
    n / 2 + 1
}

/// The sizes of the quorums in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quorums {
    n: u32,
    classic: u32,
    fast: u32,
}

/// Sizes whose quorums need not intersect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuorumError {
    /// A size of zero, or larger than the group.
    #[error("a quorum of {size} among {n} is not possible")]
    Impossible {
        /// The size in question.
        size: usize,
        /// The size of the group.
        n: usize,
    },
    /// Two classic quorums may have no member in common.
    #[error(
        "two quorums of {classic} among {n} may have no member in common; take more than half, at \
         least {}", majority(*.n)
    )]
    Classic {
        /// The size of a classic quorum.
        classic: usize,
        /// The size of the group.
        n: usize,
    },
    /// A classic and two fast quorums may have no member in common.
    #[error(
        "a quorum of {classic} and two fast ones of {fast} among {n} may have no member in common; \
         a fast one needs at least {needed}"
    )]
    Fast {
        /// The size of a classic quorum.
        classic: usize,
        /// The size of a fast one.
        fast: usize,
        /// The size of the group.
        n: usize,
        /// The smallest size of a fast quorum that suffices.
        needed: usize,
    },
}

impl Quorums {
    /// More than half for a classic quorum, ⌈3N/4⌉ for a fast one.
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

    /// The size of the group.
    pub fn group(&self) -> usize {
        self.n as usize
    }

    /// The size of a classic quorum.
    pub fn classic(&self) -> usize {
        self.classic as usize
    }

    /// The size of a fast quorum.
    pub fn fast(&self) -> usize {
        self.fast as usize
    }

    /// F: the number of crashes after which a classic quorum is left.
    pub fn crashes(&self) -> usize {
        self.group() - self.classic()
    }

    /// E: the number of crashes after which a fast quorum is left.
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

/// The number of traitors that a group of `n` can bear: fewer than a third.
pub fn traitors_among(n: usize) -> usize {
    n.saturating_sub(1) / 3
}

/// The size of a quorum among `n` where that many may be traitors: any two quorums share a loyal
/// process, and the loyal ones alone are a quorum. It is 2f + 1 of 3f + 1.
pub fn byzantine(n: usize) -> usize {
    (n + traitors_among(n)) / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of `size` among `n`, as bits.
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
