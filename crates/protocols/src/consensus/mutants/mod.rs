//! Consensus that is broken on purpose.

pub mod paxos;
pub mod sync_consensus;

pub use paxos::{PaxosAmnesia, PaxosNoNumber};
pub use sync_consensus::{SyncConsensusFRounds, SyncConsensusOffByOne};
