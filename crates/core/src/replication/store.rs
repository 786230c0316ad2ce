//! The key-value store: its operations, and the effect of each on one key.
//!
//! This is the only place that says what a `Get` or a `CompareAndSwap` means. Replicas apply
//! operations to a [`Store`]; the linearizability checker asks [`Action::apply`] what one
//! key would have answered. So a replica and its judge cannot disagree about the meaning.
//!
//! Keys and values are any types that can be compared and stored: small numbers where every state
//! is explored, bytes where clients bring their own.

use super::Map;
use crate::protocol::Data;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An operation of the store. It concerns one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Operation<K = u64, V = u64> {
    /// The key.
    pub key: K,
    /// What the client wants done with it.
    pub action: Action<V>,
}

/// What can be done with a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action<V = u64> {
    /// Tell its value.
    Get,
    /// Give it this value, in the place of the one that it had.
    Put(V),
    /// Take its value away, and tell whether there was one.
    Delete,
    /// Give it the value `new` if it has the value `expect`; `None` is a key without a value.
    CompareAndSwap {
        /// What it must have.
        expect: Option<V>,
        /// What it has then.
        new: V,
    },
}

/// What the store answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer<V = u64> {
    /// To a `Get`: the value, if there is one.
    Value(Option<V>),
    /// To a `Put`: it is done.
    Done,
    /// To a `Delete`: whether there was a value.
    Deleted(bool),
    /// To a `CompareAndSwap`: whether the key had what was expected, and has the new value now.
    Swapped(bool),
}

impl<V: Clone + Eq> Action<V> {
    /// Does it to the value of one key, and answers.
    pub fn apply(&self, value: &mut Option<V>) -> Answer<V> {
        match self {
            Action::Get => Answer::Value(value.clone()),
            Action::Put(new) => {
                *value = Some(new.clone());
                Answer::Done
            }
            Action::Delete => Answer::Deleted(value.take().is_some()),
            Action::CompareAndSwap { expect, new } => {
                let swaps = value == expect;
                if swaps {
                    *value = Some(new.clone());
                }
                Answer::Swapped(swaps)
            }
        }
    }
}

impl<V: Eq> Action<V> {
    /// Whether it never changes anything.
    pub fn is_read(&self) -> bool {
        match self {
            Action::Get => true,
            Action::Put(_) | Action::Delete => false,
            Action::CompareAndSwap { expect, new } => expect.as_ref() == Some(new),
        }
    }

    /// Whether its effect and its answer do not depend on the value before.
    pub fn is_blind(&self) -> bool {
        matches!(self, Action::Put(_))
    }
}

/// Every key that has a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Data + Ord, V: Data"))]
pub struct Store<K: Ord = u64, V = u64> {
    pub(super) values: Map<K, V>,
}

impl<K: Ord, V> Default for Store<K, V> {
    fn default() -> Self {
        Store { values: Map::default() }
    }
}

impl<K: Data + Ord, V: Data> Store<K, V> {
    /// Applies an operation, and answers.
    pub fn apply(&mut self, operation: &Operation<K, V>) -> Answer<V> {
        let Operation { key, action } = operation;
        if let Action::Get = action {
            // A read copies no node of a map that a snapshot shares.
            return action.apply(&mut self.values.get(key).cloned());
        }
        let mut value = self.values.remove(key);
        let answer = action.apply(&mut value);
        if let Some(value) = value {
            self.values.insert(key.clone(), value);
        }
        answer
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    /// How many keys have a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no key has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The keys in their order, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.values.iter()
    }
}

/// `get x`, `put x 1`, `delete x`, `swap x 1 -> 2`.
impl<K: fmt::Debug, V: fmt::Debug> fmt::Display for Operation<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.action {
            Action::Get => write!(f, "get {key:?}"),
            Action::Put(value) => write!(f, "put {key:?} {value:?}"),
            Action::Delete => write!(f, "delete {key:?}"),
            Action::CompareAndSwap { expect: Some(old), new } => {
                write!(f, "swap {key:?} {old:?} -> {new:?}")
            }
            Action::CompareAndSwap { expect: None, new } => {
                write!(f, "swap {key:?} nothing -> {new:?}")
            }
        }
    }
}

/// `1`, `nothing`, `done`, `deleted`, `swapped`, …
impl<V: fmt::Debug> fmt::Display for Answer<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Value(Some(value)) => write!(f, "{value:?}"),
            Answer::Value(None) => f.write_str("nothing"),
            Answer::Done => f.write_str("done"),
            Answer::Deleted(true) => f.write_str("deleted"),
            Answer::Deleted(false) => f.write_str("not there"),
            Answer::Swapped(true) => f.write_str("swapped"),
            Answer::Swapped(false) => f.write_str("not swapped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swap(expect: Option<u64>, new: u64) -> Action {
        Action::CompareAndSwap { expect, new }
    }

    /// The answers of a new store to these, one after the other, and its content then.
    fn answers<const N: usize>(asked: [(u64, Action); N]) -> ([Answer; N], Vec<(u64, u64)>) {
        let mut store = Store::default();
        let answers = asked.map(|(key, action)| store.apply(&Operation { key, action }));
        (answers, store.iter().map(|(key, value)| (*key, *value)).collect())
    }

    #[test]
    fn a_key_has_the_value_that_was_put_last() {
        let (answers, left) = answers([
            (1, Action::Get),
            (1, Action::Put(5)),
            (2, Action::Put(6)),
            (1, Action::Put(7)),
            (1, Action::Get),
        ]);
        assert_eq!(answers[0], Answer::Value(None));
        assert_eq!(answers[1..4], [Answer::Done, Answer::Done, Answer::Done]);
        assert_eq!(answers[4], Answer::Value(Some(7)));
        assert_eq!(left, [(1, 7), (2, 6)]);
    }

    #[test]
    fn a_deleted_key_has_no_value_and_takes_no_room() {
        let (answers, left) =
            answers([(1, Action::Put(5)), (1, Action::Delete), (1, Action::Delete)]);
        assert_eq!(answers[1..], [Answer::Deleted(true), Answer::Deleted(false)]);
        assert_eq!(left, []);
    }

    #[test]
    fn a_swap_happens_only_if_the_key_has_what_is_expected() {
        let (answers, left) = answers([
            (1, swap(Some(0), 1)),
            (1, swap(None, 2)),
            (1, swap(None, 3)),
            (1, swap(Some(2), 4)),
        ]);
        assert_eq!(answers, [false, true, false, true].map(Answer::Swapped));
        assert_eq!(left, [(1, 4)]);
    }

    #[test]
    fn operations_and_answers_are_told_in_short() {
        let told = |action| Operation { key: "x", action }.to_string();
        assert_eq!(told(Action::Get), "get \"x\"");
        assert_eq!(told(Action::Put(1)), "put \"x\" 1");
        assert_eq!(told(swap(None, 2)), "swap \"x\" nothing -> 2");
        assert_eq!(Answer::Value(Some(1)).to_string(), "1");
        assert_eq!(Answer::<u64>::Swapped(false).to_string(), "not swapped");
    }
}
