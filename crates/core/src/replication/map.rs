//! A map in the order of its keys, of which a clone costs nothing.
//!
//! It is a tree whose nodes are shared: a clone shares all of them, and a change copies only the
//! shared nodes on the path to the changed leaf. So a snapshot of a map is a clone; the map goes on
//! changing, and nodes that the two have in common are in memory once.
//!
//! Nodes have at most [`WIDTH`] children. A node that is full is split in the middle, or at its end
//! if the new key is the greatest: a map that is filled in the order of its keys has full nodes. A
//! node that is empty is removed; others are not joined, so a map that lost most of its keys has
//! more nodes than it needs.

mod difference;

use super::Parts;
use crate::durable::encoded_len;
use crate::protocol::Data;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

/// No node has more children.
const WIDTH: usize = 16;

/// A map in the order of its keys, of which a clone costs nothing.
#[derive(Clone)]
pub struct Map<K, V> {
    root: Option<Arc<Node<K, V>>>,
    length: usize,
}

/// A node: entries, or children with the least key that each of them ever had.
#[derive(Clone)]
enum Node<K, V> {
    Leaf(Vec<(K, V)>),
    Inner(Vec<(K, Arc<Node<K, V>>)>),
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map { root: None, length: 0 }
    }
}

impl<K, V> Map<K, V> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether one is a clone of the other, and neither was changed since. Then they are equal.
    pub fn shares_all(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// The keys in their order, with their values.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { open: Vec::new(), leaf: [].iter() };
        iter.open.extend(self.root.as_deref());
        iter
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Inner(children) => node = &children[child_of(children, key)].1,
                Node::Leaf(entries) => {
                    let found = entries.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
                    return Some(&entries[found].1);
                }
            }
        }
    }

    /// The entries whose keys are greater than this one, or all.
    pub fn after(&self, key: Option<&K>) -> Iter<'_, K, V> {
        let Some(key) = key else { return self.iter() };
        let mut iter = Iter { open: Vec::new(), leaf: [].iter() };
        let mut node = self.root.as_deref();
        while let Some(Node::Inner(children)) = node {
            let at = child_of(children, key);
            iter.open.extend(children[at + 1..].iter().rev().map(|(_, child)| &**child));
            node = Some(&children[at].1);
        }
        if let Some(Node::Leaf(entries)) = node {
            iter.leaf = entries[entries.partition_point(|(other, _)| other <= key)..].iter();
        }
        iter
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// Gives a key a value. Returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(mut root) = self.root.take() else {
            self.root = Some(Arc::new(Node::Leaf(vec![(key, value)])));
            self.length = 1;
            return None;
        };
        let (old, split) = Arc::make_mut(&mut root).insert(key, value);
        self.root = Some(match split {
            None => root,
            // Of the first child the key is never looked at.
            Some((key, right)) => Arc::new(Node::Inner(vec![(key.clone(), root), (key, right)])),
        });
        self.length += usize::from(old.is_none());
        old
    }

    /// Takes a key and its value away.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        // The removal of a missing key copies no node.
        self.get(key)?;
        let root = self.root.as_mut()?;
        let old = Arc::make_mut(root).remove(key);
        self.length -= usize::from(old.is_some());
        if self.length == 0 {
            self.root = None;
        }
        old
    }
}

/// The child in which a key is, if it is anywhere.
fn child_of<K: Ord, N>(children: &[(K, N)], key: &K) -> usize {
    children[1..].partition_point(|(least, _)| least <= key)
}

/// Where a full node is split, if the new child is at this place.
fn split_at(place: usize) -> usize {
    if place == WIDTH { WIDTH } else { WIDTH / 2 }
}

/// The right half of a node that was split, with its least key.
type Split<K, V> = Option<(K, Arc<Node<K, V>>)>;

impl<K: Ord + Clone, V: Clone> Node<K, V> {
    fn insert(&mut self, key: K, value: V) -> (Option<V>, Split<K, V>) {
        match self {
            Node::Leaf(entries) => {
                let place = match entries.binary_search_by(|(other, _)| other.cmp(&key)) {
                    Ok(found) => {
                        return (Some(std::mem::replace(&mut entries[found].1, value)), None);
                    }
                    Err(place) => place,
                };
                let right = insert_at(entries, place, (key, value));
                (None, right.map(|right| (right[0].0.clone(), Arc::new(Node::Leaf(right)))))
            }
            Node::Inner(children) => {
                let at = child_of(children, &key);
                let (old, split) = Arc::make_mut(&mut children[at].1).insert(key, value);
                let right = split.and_then(|child| insert_at(children, at + 1, child));
                (old, right.map(|right| (right[0].0.clone(), Arc::new(Node::Inner(right)))))
            }
        }
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            Node::Leaf(entries) => {
                let found = entries.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
                Some(entries.remove(found).1)
            }
            Node::Inner(children) => {
                let at = child_of(children, key);
                let child = Arc::make_mut(&mut children[at].1);
                let old = child.remove(key);
                if child.is_empty() {
                    children.remove(at);
                }
                old
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Leaf(entries) => entries.is_empty(),
            Node::Inner(children) => children.is_empty(),
        }
    }
}

/// Adds an item; if there is no room, the right half is returned.
fn insert_at<T>(items: &mut Vec<T>, place: usize, item: T) -> Option<Vec<T>> {
    if items.len() < WIDTH {
        items.insert(place, item);
        return None;
    }
    let middle = split_at(place);
    let mut right = items.split_off(middle);
    match place.checked_sub(middle) {
        Some(place) => right.insert(place, item),
        None => items.insert(place, item),
    }
    Some(right)
}

/// The entries of a map, in the order of keys.
pub struct Iter<'a, K, V> {
    /// Nodes of which nothing was shown, the next one last.
    open: Vec<&'a Node<K, V>>,
    leaf: std::slice::Iter<'a, (K, V)>,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            self.descend()?;
        }
    }
}

impl<K, V> Iter<'_, K, V> {
    /// Opens the next node.
    fn descend(&mut self) -> Option<()> {
        match self.open.pop()? {
            Node::Leaf(entries) => self.leaf = entries.iter(),
            Node::Inner(children) => {
                self.open.extend(children.iter().rev().map(|(_, child)| &**child));
            }
        }
        Some(())
    }
}

impl<K: Data + Ord, V: Data> Parts for Map<K, V> {
    type Mark = K;

    fn part(&self, after: Option<&K>, bytes: usize) -> (Self, Option<K>) {
        let (mut part, mut used) = (Map::default(), 0);
        let mut rest = self.after(after).peekable();
        while let Some((key, value)) = rest.next() {
            part.insert(key.clone(), value.clone());
            used += encoded_len(&(key, value));
            if used >= bytes && rest.peek().is_some() {
                return (part, Some(key.clone()));
            }
        }
        (part, None)
    }

    fn join(&mut self, next: Self) {
        self.extend(next.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Map::default();
        map.extend(entries);
        map
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

// What a map is depends on its entries, and not on its nodes.

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && (self.shares_all(other) || self.iter().eq(other.iter()))
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for Map<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.iter().partial_cmp(other.iter())
    }
}

impl<K: Ord, V: Ord> Ord for Map<K, V> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<K: Hash, V: Hash> Hash for Map<K, V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.length.hash(hasher);
        self.iter().for_each(|entry| entry.hash(hasher));
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.length))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, K, V> Deserialize<'de> for Map<K, V>
where
    K: Deserialize<'de> + Ord + Clone,
    V: Deserialize<'de> + Clone,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for Entries<K, V>
where
    K: Deserialize<'de> + Ord + Clone,
    V: Deserialize<'de> + Clone,
{
    type Value = Map<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Map<K, V>, A::Error> {
        let mut map = Map::default();
        while let Some((key, value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_map_has_what_an_ordered_map_has_and_a_clone_does_not_change(
            deeds in prop::collection::vec((any::<bool>(), 0..200_u8, any::<u16>()), 0..600),
            halfway in 0..600_usize,
        ) {
            let (mut map, mut model) = (Map::default(), BTreeMap::new());
            let mut kept = (map.clone(), model.clone());
            for (number, (inserts, key, value)) in deeds.into_iter().enumerate() {
                if number == halfway {
                    kept = (map.clone(), model.clone());
                }
                match inserts {
                    true => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                    false => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
            }
            for (map, model) in [(&map, &model), (&kept.0, &kept.1)] {
                prop_assert_eq!(map.len(), model.len());
                prop_assert!(map.iter().eq(model.iter()));
                for key in [0, 7, 100, 199] {
                    prop_assert!(map.after(Some(&key)).eq(model.range(key + 1..)));
                }
            }
        }

        #[test]
        fn the_parts_of_a_map_are_as_large_as_wanted_and_together_they_are_the_map(
            entries in prop::collection::btree_map(any::<u16>(), any::<u8>(), 0..300),
            bytes in 1..200_usize,
        ) {
            let map: Map<u16, u8> = entries.into_iter().collect();
            let (mut joined, mut after) = (Map::default(), None);
            loop {
                let (part, end) = map.part(after.as_ref(), bytes);
                // An entry has at most 5 bytes.
                prop_assert!(encoded_len(&part) <= bytes + 5 + 2);
                prop_assert!(end.is_none() || encoded_len(&part) >= bytes);
                joined.join(part);
                let Some(end) = end else { break };
                after = Some(end);
            }
            prop_assert_eq!(&joined, &map);
        }
    }

    /// How many nodes two maps have in common, and how many the first has.
    fn shared(one: &Map<u32, u32>, other: &Map<u32, u32>) -> (usize, usize) {
        fn nodes(map: &Map<u32, u32>) -> Vec<*const Node<u32, u32>> {
            let (mut found, mut open) = (Vec::new(), Vec::from_iter(&map.root));
            while let Some(node) = open.pop() {
                found.push(Arc::as_ptr(node));
                if let Node::Inner(children) = &**node {
                    open.extend(children.iter().map(|(_, child)| child));
                }
            }
            found
        }
        let (one, other) = (nodes(one), nodes(other));
        (one.iter().filter(|node| other.contains(node)).count(), one.len())
    }

    #[test]
    fn a_clone_shares_all_nodes_and_a_change_copies_only_those_on_its_way() {
        let mut map: Map<u32, u32> = (0..4_000).map(|key| (key, 0)).collect();
        let snapshot = map.clone();
        let (same, all) = shared(&map, &snapshot);
        assert_eq!(same, all);
        map.insert(2_000, 1);
        // 250 full leaves, 16 nodes above them, and the root.
        assert_eq!((shared(&map, &snapshot), snapshot.get(&2_000)), ((264, 267), Some(&0)));
    }

    #[test]
    fn maps_are_written_compared_and_printed_like_ordered_maps_whatever_their_nodes() {
        let forwards: Map<u8, u8> = (0..100).map(|key| (key, key)).collect();
        let backwards: Map<u8, u8> = (0..100).rev().map(|key| (key, key)).collect();
        let model: BTreeMap<u8, u8> = (0..100).map(|key| (key, key)).collect();
        assert_eq!(forwards, backwards);
        assert_eq!(format!("{forwards:?}"), format!("{model:?}"));
        let written = postcard::to_allocvec(&backwards).expect("it is data");
        assert_eq!(Ok(&written), postcard::to_allocvec(&model).as_ref());
        assert_eq!(postcard::from_bytes(&written), Ok(forwards));
    }
}
