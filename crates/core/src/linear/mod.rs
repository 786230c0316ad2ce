//! Linearizability: whether what clients were told could have been told by a single object that does
//! one operation after the other, each at some moment between its call and its answer.
//!
//! Every key is an object of its own, and a history is linearizable just if the history of every
//! object is (the locality theorem of Herlihy and Wing); so keys are judged one by one.
//!
//! The [`Checker`] is told what happens as it happens and keeps *configurations*: a state that the
//! object may be in, with what has become of each open operation. Nothing takes effect before
//! somebody's answer asks for it ("just in time"): at an answer, every configuration is extended by
//! open operations in every order until the answered one has taken effect with just this answer.
//! Configurations where that is impossible are dropped, and when none is left, the history is not
//! linearizable.
//!
//! Three things keep configurations few:
//! - An operation that does not change the state does not branch. A configuration remembers which
//!   answers an open operation *might have had in passing*: in the states that were passed through;
//!   or, if it is a blind write, just before an operation for which that makes no difference.
//! - Whatever can still become of one configuration may include all that can become of another: then
//!   the other one is dropped. Those that are left depend on the possibilities and not on how they
//!   came about, so that a checker can be a part of an explored state.
//! - Off line ([`History::check`]) every answer is known when the operation begins, and
//!   configurations that cannot lead to it are never made.
//!
//! An operation that is *abandoned*, because its client crashed, may take effect at any time later, or
//! never. Deciding is NP-hard, so there is a bound on how much is kept; beyond it the verdict is
//! [`Verdict::Unknown`], for this key and for good, and never a wrong one.
//!
//! Source: M. Herlihy, J. Wing, "Linearizability: a correctness condition for concurrent objects",
//! TOPLAS 12(3), 1990; J. Wing, C. Gong, "Testing and verifying concurrent objects", JPDC 17, 1993;
//! G. Lowe, "Testing for linearizability", Concurrency and Computation 29(4), 2017.
//!
//! # Layout
//! - `configuration`: one way in which things may stand
//! - `object`: all the ways, for one key
//! - `checker`: all keys, event by event
//! - `key_value`: the model of the key-value store
//! - `history`: recorded histories, as lines of JSON
//! - `offline`: the verdict on a recorded history
//! - `explain`, `diagram`: a short counterexample, drawn

mod checker;
mod configuration;
mod diagram;
mod explain;
mod history;
mod key_value;
mod object;
mod offline;

pub use checker::{Checker, USUAL_LIMIT};
pub use explain::Counterexample;
pub use history::{Event, History, HistoryError, What};
pub use key_value::{KeyValue, Word};

use crate::protocol::Data;
use std::fmt::{self, Debug, Display};
use std::hash::Hash;

/// What an object does if nobody else is there: its sequential specification.
pub trait Model: Clone + Debug + Ord + Hash + Send + Sync + 'static {
    /// Which object an operation is about.
    type Key: Data + Ord;
    /// What can be asked.
    type Operation: Data + Ord + Display;
    /// What is answered.
    type Answer: Data + Ord + Display;
    /// The state of one object. New objects have the default.
    type State: Data + Ord + Default;

    /// The object that the operation is about.
    fn key(operation: &Self::Operation) -> Self::Key;

    /// Does it, and answers.
    fn apply(state: &mut Self::State, operation: &Self::Operation) -> Self::Answer;

    /// The state in words.
    fn describe(state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// Whether the operation never changes any state. If in doubt, it is not a read.
    fn is_read(_operation: &Self::Operation) -> bool {
        false
    }

    /// Whether the operation always leaves the same state and answers the same, whatever the state
    /// was. If in doubt, it is not blind.
    fn is_blind(_operation: &Self::Operation) -> bool {
        false
    }
}

/// What can be said about a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict<B> {
    /// So far there is an order that explains every answer.
    Linearizable,
    /// There is none.
    Broken(B),
    /// There are too many possibilities to tell.
    Unknown,
}

/// An answer that no order of the operations explains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Broken<M: Model> {
    /// Under which name the operation was called.
    pub id: u64,
    /// What was asked.
    pub operation: M::Operation,
    /// What was answered.
    pub answer: M::Answer,
    /// What might have been answered instead, in order; empty if that is not known.
    pub possible: Vec<M::Answer>,
}

/// So many possible answers are told to people.
const TOLD: usize = 5;

/// `get x was answered 1, but only 2 or 3 was possible`.
impl<M: Model> Display for Broken<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was answered {}", self.operation, self.answer)?;
        let told: Vec<String> = self.possible.iter().take(TOLD).map(M::Answer::to_string).collect();
        match (&told[..], self.possible.len()) {
            ([], _) => f.write_str(", which no order of the operations explains"),
            (told, all) if all > told.len() => {
                write!(f, ", but only {} or {} others were possible", told.join(", "), all - TOLD)
            }
            (told, _) => write!(f, ", but only {} was possible", told.join(" or ")),
        }
    }
}
