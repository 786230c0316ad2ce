//! Consensus: all decide on the same value, once and for all.

pub mod acceptor;
pub mod ballot;
pub mod learner;
pub mod mutants;
pub mod paxos;
pub mod quorum;

pub use ballot::Ballot;
pub use paxos::Paxos;
pub use quorum::{Quorums, majority};
