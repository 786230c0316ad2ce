//! Consensus that is broken on purpose.

pub mod paxos;

pub use paxos::{PaxosAmnesia, PaxosNoNumber};
