//! Majorities and duplicates in a list of votes.

use std::collections::{BTreeMap, BTreeSet};

/// The value that has more than half of the votes, if there is one.
pub(super) fn more_than_half<V: Ord + Copy>(votes: &[V]) -> Option<V> {
    let mut count = BTreeMap::new();
    votes.iter().for_each(|vote| *count.entry(*vote).or_insert(0) += 1);
    count.into_iter().find(|(_, times)| 2 * times > votes.len()).map(|(vote, _)| vote)
}

/// Whether no two elements are equal.
pub(super) fn all_differ<T: Ord>(all: &[T]) -> bool {
    all.iter().collect::<BTreeSet<_>>().len() == all.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_not_enough() {
        assert_eq!(more_than_half(&[1, 2, 1]), Some(1));
        assert_eq!(more_than_half(&[1, 2, 1, 2]), None);
        assert_eq!(more_than_half(&[1, 2, 3]), None);
        assert_eq!(more_than_half::<u8>(&[]), None);
    }

    #[test]
    fn who_is_there_twice_is_found_wherever_it_stands() {
        assert!(all_differ(&[3, 1, 2]) && !all_differ(&[3, 1, 3]));
    }
}
