//! Multicasts that are broken on purpose.

mod ip;
mod order;
mod reliable;

pub use ip::{IpFromZero, IpWithoutHeartbeats};
pub use order::{CausalOwnWaits, IsisNoTieBreak};
pub use reliable::{ReliableLateRelay, ReliableWithoutRelay};
