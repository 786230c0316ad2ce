//! Multicasts that are broken on purpose.

mod ip;
mod reliable;

pub use ip::{IpFromZero, IpWithoutHeartbeats};
pub use reliable::{ReliableLateRelay, ReliableWithoutRelay};
