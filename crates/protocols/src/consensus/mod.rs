//! Consensus: all decide on the same value, once and for all.

pub mod ballot;
pub mod quorum;

pub use ballot::Ballot;
pub use quorum::{Quorums, majority};
