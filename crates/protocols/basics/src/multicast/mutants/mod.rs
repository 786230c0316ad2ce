//! Multicasts that are broken on purpose.

mod acknowledged;
mod ip;
mod order;
mod reliable;

pub use acknowledged::AcknowledgedTwice;
pub use ip::{IpFromZero, IpWithoutHeartbeats};
pub use order::{CausalOwnWaits, IsisDeaf, IsisNoTieBreak};
pub use reliable::{ReliableLateRelay, ReliableWithoutRelay};
