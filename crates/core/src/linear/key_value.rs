//! The key-value store as a model: one key is one object. The meaning of its operations stands in
//! [`crate::replication::store`].

use super::Model;
use crate::protocol::Data;
use crate::replication::store::{Answer, Operation};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// The key-value store with keys `K` and values `V`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyValue<K = u64, V = u64>(PhantomData<(K, V)>);

impl<K: Data + Ord, V: Data + Ord> Model for KeyValue<K, V> {
    type Key = K;
    type Operation = Operation<K, V>;
    type Answer = Answer<V>;
    type State = Option<V>;

    fn key(operation: &Self::Operation) -> K {
        operation.key.clone()
    }

    fn apply(state: &mut Self::State, operation: &Self::Operation) -> Answer<V> {
        operation.action.apply(state)
    }

    fn describe(state: &Self::State) -> String {
        Answer::Value(state.clone()).to_string()
    }

    fn is_read(operation: &Self::Operation) -> bool {
        operation.action.is_read()
    }

    fn is_blind(operation: &Self::Operation) -> bool {
        operation.action.is_blind()
    }
}

/// A key or a value as people write them into a file: a whole number, or text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged, expecting = "keys and values are whole numbers or texts")]
pub enum Word {
    /// A whole number.
    Number(i64),
    /// Any other word.
    Text(String),
}

/// Numbers and text as they are, without quotes.
impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Number(number) => write!(f, "{number}"),
            Word::Text(text) => f.write_str(text),
        }
    }
}
