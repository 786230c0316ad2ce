//! Multicasts that are broken on purpose.

mod reliable;

pub use reliable::{ReliableLateRelay, ReliableWithoutRelay};
