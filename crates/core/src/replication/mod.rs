//! Replicated state machines: several processes that keep the same log, apply it to the same state
//! machine, and so give the same answers as one process that never fails.
//!
//! ```text
//!        client                asks, waits, gets the answer
//!          │ ▲
//!     Replicated               finds who takes requests, asks again, answers once
//!          │ ▲
//!   Append │ │ Committed, Readable, Restored
//!          ▼ │
//!       an engine              Raft, Multi-Paxos, PBFT: agrees on the log
//! ```
//!
//! The seam is the same for all engines: an [`Engine`] is a protocol that is asked to append
//! commands and hands out committed entries in order. [`Replicated`] stands above it. It has the
//! state machine, the table of sessions by which a command that is in the log twice takes effect
//! once, the clients' side (whom to ask, when to ask again, how many equal answers are enough), and
//! snapshots.

mod catalogued;
mod clients;
mod engine;
mod map;
mod message;
mod parts;
mod replicas;
mod replicated;
mod sessions;
mod settings;
pub mod store;

pub use catalogued::{Catalogued, KeyValue};
pub use engine::{Ask, Client, Command, Engine, Entry, Event, RequestId};
pub use map::Map;
pub use message::{Invoke, Message, Notice, Refusal, Timer};
pub use parts::{Incoming, Outgoing, PART_BYTES, Part, Parts};
pub use replicated::{Reads, Replicated, Settings};
pub use sessions::{Outcome, Sessions};
pub use settings::BadSettings;
pub use store::{Action, Answer, Operation, Store};

use crate::protocol::Data;

/// A deterministic state machine: its state changes by operations alone, each time in the same way.
///
/// A snapshot is a clone of it, and travels in [parts](Parts). A part that is joined to the default
/// state gives the part itself.
pub trait StateMachine: Parts + Default {
    /// Its operations.
    type Operation: Data;
    /// Its answers.
    type Answer: Data;

    /// Applies an operation, and answers. Depends on the state and the operation, and on nothing
    /// else.
    fn apply(&mut self, operation: &Self::Operation) -> Self::Answer;

    /// Whether the operation never changes anything.
    fn is_read(operation: &Self::Operation) -> bool;

    /// Answers an operation that never changes anything.
    fn read(&self, operation: &Self::Operation) -> Option<Self::Answer>;
}

impl<K: Data + Ord, V: Data> StateMachine for Store<K, V> {
    type Operation = Operation<K, V>;
    type Answer = Answer<V>;

    fn apply(&mut self, operation: &Operation<K, V>) -> Answer<V> {
        Store::apply(self, operation)
    }

    fn is_read(operation: &Operation<K, V>) -> bool {
        operation.action.is_read()
    }

    fn read(&self, operation: &Operation<K, V>) -> Option<Answer<V>> {
        Self::is_read(operation).then(|| Answer::Value(self.get(&operation.key).cloned()))
    }
}

impl<K: Data + Ord, V: Data> Parts for Store<K, V> {
    type Mark = K;

    fn part(&self, after: Option<&K>, bytes: usize) -> (Self, Option<K>) {
        let (values, end) = self.values.part(after, bytes);
        (Store { values }, end)
    }

    fn join(&mut self, next: Self) {
        self.values.join(next.values);
    }
}

#[cfg(test)]
mod tests;
