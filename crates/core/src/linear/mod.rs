//! Linearizability: whether a single object could have given the clients the same answers, one
//! operation after the other, each at some moment between its call and its answer.
//!
//! Every key is an object of its own, and a history is linearizable exactly if the history of every
//! object is (the locality theorem of Herlihy and Wing); so the checker judges each key apart.
//!
//! The [`Checker`] takes in events as they happen and keeps *configurations*: a state that the
//! object may be in, with the fate of each open operation. An operation takes effect only when an
//! answer requires it ("just in time"): at an answer, the checker extends every configuration by
//! open operations in every order until the answered one has taken effect with just this answer. It
//! drops configurations where that is impossible. When none is left, the history is not
//! linearizable.
//!
//! Three rules keep configurations few:
//! - An operation that does not change the state does not branch. A configuration remembers which
//!   answers an open operation *might have had in passing*: in the states that were passed through;
//!   or, if it is a blind write, just before an operation for which that makes no difference.
//! - If the possible futures of one configuration include all those of another, the other one is
//!   dropped. The configurations that are left depend only on the possible futures and not on the
//!   past, so that a checker can be a part of an explored state.
//! - Off line ([`History::check`]) every answer is known when the operation begins, and
//!   configurations that cannot lead to it are never made.
//!
//! An *abandoned* operation, whose client crashed, may take effect at any time later, or never.
//! Deciding linearizability is NP-hard, so the checker keeps a bounded number of configurations;
//! beyond it the verdict is [`Finding::Unknown`], for this key and for good, and never a wrong one.
//!
//! Source: M. Herlihy, J. Wing, "Linearizability: a correctness condition for concurrent objects",
//! TOPLAS 12(3), 1990; J. Wing, C. Gong, "Testing and verifying concurrent objects", JPDC 17, 1993;
//! G. Lowe, "Testing for linearizability", Concurrency and Computation 29(4), 2017.
//!
//! # Layout
//! - `configuration`: one possible state of an object, with the fate of its operations
//! - `object`: all possible configurations of one key
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
use crate::verdict::Verdict;
use std::fmt::{self, Debug, Display};
use std::hash::Hash;

/// The sequential specification of an object: its behaviour with one client at a time.
pub trait Model: Clone + Debug + Ord + Hash + Send + Sync + 'static {
    /// The name of an object.
    type Key: Data + Ord;
    /// A request.
    type Operation: Data + Ord + Display;
    /// An answer.
    type Answer: Data + Ord + Display;
    /// The state of one object. New objects have the default.
    type State: Data + Ord + Default;

    /// The object that the operation is about.
    fn key(operation: &Self::Operation) -> Self::Key;

    /// Applies the operation, and answers.
    fn apply(state: &mut Self::State, operation: &Self::Operation) -> Self::Answer;

    /// The state in words.
    fn describe(state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// Whether the operation never changes any state. If in doubt, it is not a read.
    fn is_read(_operation: &Self::Operation) -> bool {
        false
    }

    /// Whether the operation always leaves the same state and gives the same answer, in every
    /// state. If in doubt, it is not blind.
    fn is_blind(_operation: &Self::Operation) -> bool {
        false
    }
}

/// What a checker finds out about a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Finding<B> {
    /// So far there is an order that explains every answer.
    Linearizable,
    /// No order explains every answer.
    Broken(B),
    /// There are too many possibilities to decide.
    Unknown,
}

impl<B> From<&Finding<B>> for Verdict {
    fn from(finding: &Finding<B>) -> Self {
        match finding {
            Finding::Linearizable => Verdict::Holds,
            Finding::Broken(_) => Verdict::Violated,
            Finding::Unknown => Verdict::Undecided,
        }
    }
}

/// An answer that no order of the operations explains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Broken<M: Model> {
    /// The name of the operation.
    pub id: u64,
    /// The request.
    pub operation: M::Operation,
    /// The answer it got.
    pub answer: M::Answer,
    /// The answers that an order explains, sorted; empty if that is not known.
    pub possible: Vec<M::Answer>,
}

/// The number of possible answers in a message to people.
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
