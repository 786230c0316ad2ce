//! Where two maps differ.

use super::{Iter, Map};

impl<K: Ord + Clone, V: PartialEq> Map<K, V> {
    /// The least key greater than `after`, or the least of all, that has a value in only one of two
    /// maps, or another one in each. Nodes that the maps share are passed over: if one is a clone
    /// of the other with a few changes, the answer takes as long as one change.
    pub fn first_difference(&self, other: &Self, after: Option<&K>) -> Option<K> {
        if self.shares_all(other) {
            return None;
        }
        let (mut mine, mut theirs) = (self.after(after), other.after(after));
        loop {
            pass_over_shared(&mut mine, &mut theirs);
            match (mine.next(), theirs.next()) {
                (None, None) => return None,
                (Some(mine), Some(theirs)) if mine == theirs => {}
                (mine, theirs) => {
                    let keys = mine.map(|(key, _)| key).into_iter();
                    return keys.chain(theirs.map(|(key, _)| key)).min().cloned();
                }
            }
        }
    }
}

/// Passes over the nodes that come next in both, as long as they are the same.
fn pass_over_shared<K, V>(one: &mut Iter<'_, K, V>, other: &mut Iter<'_, K, V>) {
    while one.leaf.as_slice().is_empty() && other.leaf.as_slice().is_empty() {
        let (Some(mine), Some(theirs)) = (one.open.last(), other.open.last()) else { return };
        if std::ptr::eq(*mine, *theirs) {
            one.open.pop();
            other.open.pop();
        } else {
            one.descend();
            other.descend();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_difference_is_that_of_the_contents(
            keys in 0..5_000_u32,
            deeds in prop::collection::vec((any::<bool>(), 0..5_000_u32), 0..4),
            after in prop::option::of(0..5_000_u32),
        ) {
            let one: Map<u32, u32> = (0..keys).map(|key| (key, 0)).collect();
            let mut other = one.clone();
            for (inserts, key) in deeds {
                if inserts { other.insert(key, 1) } else { other.remove(&key) };
            }
            let differs = |key: &u32| one.get(key) != other.get(key);
            let first = after.map_or(0, |after| after + 1);
            let found = (first..5_000).find(differs);
            prop_assert_eq!(one.first_difference(&other, after.as_ref()), found);
            prop_assert_eq!(other.first_difference(&one, after.as_ref()), found);
        }
    }
}
