//! States that are handed over in parts, so that no message and no record is as large as a state.
//!
//! A part of a state is a value of the same type: a store with some of its keys. So parts need no
//! encoding of their own, and a receiver that joins all of them has the state. The content of the
//! state alone decides where a part ends, not its history: two processes that have the same state
//! cut it into the same parts. So the digest of a part is the same at both.

use crate::protocol::{Data, Never};
use serde::{Deserialize, Serialize};

/// A part of a state has about this many bytes: it travels, and is written, within a heartbeat.
pub const PART_BYTES: usize = 1 << 20;

/// A state that can be cut into parts.
///
/// A replicated log clones the state whenever it takes a snapshot, and goes on changing the
/// original. A state that can become large keeps its data in [`Map`](super::Map), whose clones
/// share what neither of them has changed.
pub trait Parts: Data {
    /// Names the place where a part ends.
    type Mark: Data;

    /// The part after a place, or the first one, of about `bytes` bytes; and where it ends, unless
    /// it is the last one. A part that is not the last one is not empty.
    fn part(&self, after: Option<&Self::Mark>, bytes: usize) -> (Self, Option<Self::Mark>);

    /// Adds the part that follows.
    fn join(&mut self, next: Self);
}

/// A state that is always small enough for one message: it has one part.
macro_rules! whole {
    ($($state:ty),*) => {$(
        impl Parts for $state {
            type Mark = Never;

            fn part(&self, _after: Option<&Never>, _bytes: usize) -> (Self, Option<Never>) {
                (self.clone(), None)
            }

            fn join(&mut self, next: Self) {
                *self = next;
            }
        }
    )*};
}

whole!((), bool, u8, u16, u32, u64, i64, String);

/// A state that is being handed over, part by part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub struct Outgoing<S: Parts> {
    state: S,
    /// How many parts came before the current one.
    number: u64,
    /// Where the current part begins: after this place, or at the beginning.
    after: Option<S::Mark>,
}

/// One part of a state on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Part<S> {
    /// How many parts come before it.
    pub number: u64,
    /// Whether no part follows.
    pub is_last: bool,
    /// The part.
    pub state: S,
}

impl<S: Parts> Outgoing<S> {
    /// Nothing of this state is handed over yet.
    pub fn new(state: S) -> Self {
        Outgoing { state, number: 0, after: None }
    }

    /// The number of the current part.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The current part, and where it ends.
    fn current(&self, bytes: usize) -> (Part<S>, Option<S::Mark>) {
        let (state, end) = self.state.part(self.after.as_ref(), bytes);
        (Part { number: self.number, is_last: end.is_none(), state }, end)
    }

    /// The current part.
    pub fn part(&self, bytes: usize) -> Part<S> {
        self.current(bytes).0
    }

    /// Goes on to the next part; false if there is none.
    pub fn advance(&mut self, bytes: usize) -> bool {
        let Some(end) = self.current(bytes).1 else { return false };
        self.after = Some(end);
        self.number += 1;
        true
    }

    /// Goes back to the first part.
    pub fn restart(&mut self) {
        (self.number, self.after) = (0, None);
    }

    /// Takes the current part, and goes on to the next.
    pub fn take(&mut self, bytes: usize) -> Part<S> {
        let (part, end) = self.current(bytes);
        self.after = end;
        self.number += 1;
        part
    }
}

/// A state of which the first parts have come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Incoming<S> {
    state: Option<S>,
    /// How many parts have come.
    number: u64,
}

impl<S> Default for Incoming<S> {
    fn default() -> Self {
        Incoming { state: None, number: 0 }
    }
}

impl<S: Parts> Incoming<S> {
    /// The number of the part that comes next.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Adds the next part. The state, if it was the last one.
    pub fn join(&mut self, part: Part<S>) -> Option<S> {
        debug_assert_eq!(part.number, self.number, "parts are joined in their order");
        self.number += 1;
        match &mut self.state {
            Some(state) => state.join(part.state),
            None => self.state = Some(part.state),
        }
        if part.is_last { self.state.take() } else { None }
    }
}
