//! Messages and timers whose type is known only at run time.

use crate::protocol::{Data, Wire};
use foldhash::quality::FixedState;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::any::Any;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Any constant will do: digests must be the same in every run.
const SEED: u64 = 0xb0c5_0f5e_edf0_0d1e;

/// The operations of [`Data`], without the type.
pub(super) trait Value: Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
    fn digest(&self) -> u64;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Data> Value for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }

    fn digest(&self) -> u64 {
        FixedState::with_seed(SEED).hash_one(self)
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The derives of [`Data`], for a type that forwards to `self.value()`.
macro_rules! forwards_to_its_value {
    ($type:ty) => {
        impl PartialEq for $type {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                // Copies are the same value until one of them is changed.
                std::ptr::addr_eq(self.value(), other.value())
                    || self.value().equals(other.value() as &dyn Any)
            }
        }

        impl Eq for $type {}

        impl Hash for $type {
            #[inline]
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                hasher.write_u64(self.value().digest());
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.value().show(f)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(ser::Error::custom(STAYS))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Err(de::Error::custom(STAYS))
            }
        }
    };
}
pub(super) use forwards_to_its_value;

pub(super) const STAYS: &str = "a boxed value stays where it is: only its own type can be stored";

/// Makes both the same value. If they are already, the reference count stays untouched: explorers
/// copy a world over its successor again and again, and most of it is unchanged.
#[inline]
pub(super) fn share<T: ?Sized>(mine: &mut Arc<T>, theirs: &Arc<T>) {
    if !Arc::ptr_eq(mine, theirs) {
        *mine = Arc::clone(theirs);
    }
}

/// A message. A copy shares it.
pub struct BoxedMessage(Arc<dyn Message>);

impl Clone for BoxedMessage {
    #[inline]
    fn clone(&self) -> Self {
        BoxedMessage(Arc::clone(&self.0))
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        share(&mut self.0, &source.0);
    }
}

trait Message: Encode {
    fn kind(&self) -> &'static str;
    fn label(&self) -> String;
}

/// A value as bytes. All values are written by the same function, so that the parts that they share
/// are compiled once.
pub(super) trait Encode: Value {
    fn encode(&self, buffer: &mut [u8]) -> Option<usize>;
}

impl<T: Data> Encode for T {
    fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        match postcard::to_slice(self, buffer) {
            Ok(written) => Some(written.len()),
            Err(postcard::Error::SerializeBufferFull) => None,
            Err(error) => panic!("states, messages and timers are plain data: {error}"),
        }
    }
}

impl<M: Wire> Message for M {
    #[inline]
    fn kind(&self) -> &'static str {
        Wire::kind(self)
    }

    fn label(&self) -> String {
        Wire::label(self)
    }
}

impl BoxedMessage {
    #[inline]
    pub(crate) fn new(message: impl Wire) -> Self {
        BoxedMessage(Arc::new(message))
    }

    #[inline]
    fn value(&self) -> &dyn Value {
        &*self.0
    }

    /// The message itself.
    ///
    /// # Panics
    /// If the message belongs to another algorithm: worlds do not mix them.
    #[inline]
    pub fn open<M: Wire>(&self) -> &M {
        (&*self.0 as &dyn Any).downcast_ref().expect("a message of the same algorithm")
    }
}

impl BoxedMessage {
    /// The message itself; copied only if it is under way elsewhere, too.
    ///
    /// # Panics
    /// If it is of another algorithm: worlds do not mix them.
    #[inline]
    pub(super) fn take<M: Wire>(self) -> M {
        let message = (self.0 as Arc<dyn Any + Send + Sync>).downcast::<M>();
        Arc::unwrap_or_clone(message.expect("a message of the same algorithm"))
    }

    /// Writes the message as real processes send it. Returns its length; None if there is no room.
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        self.0.encode(buffer)
    }
}

forwards_to_its_value!(BoxedMessage);

impl Wire for BoxedMessage {
    #[inline]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn label(&self) -> String {
        self.0.label()
    }
}

/// The name of a timer, and the answers of its algorithm about it.
pub struct BoxedTimer {
    value: Arc<dyn Encode>,
    pub(super) begins_round: bool,
}

impl Clone for BoxedTimer {
    #[inline]
    fn clone(&self) -> Self {
        BoxedTimer { value: Arc::clone(&self.value), ..*self }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        share(&mut self.value, &source.value);
        self.begins_round = source.begins_round;
    }
}

impl BoxedTimer {
    #[inline]
    pub(crate) fn new<A: crate::Algorithm>(timer: A::Timer) -> Self {
        let begins_round = A::begins_round(&timer);
        BoxedTimer { value: Arc::new(timer), begins_round }
    }

    #[inline]
    fn value(&self) -> &dyn Value {
        &*self.value
    }

    /// Writes the name as real processes write it down. Returns its length; None if there is no
    /// room.
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        self.value.encode(buffer)
    }

    /// The name itself.
    ///
    /// # Panics
    /// If the timer belongs to another algorithm: worlds do not mix them.
    #[inline]
    pub(super) fn open<T: Data>(&self) -> &T {
        (&*self.value as &dyn Any).downcast_ref().expect("a timer of the same algorithm")
    }
}

forwards_to_its_value!(BoxedTimer);
