//! Consensus that is broken on purpose.

pub mod cheap_paxos;
pub mod fast_paxos;
pub mod paxos;
pub mod sync_consensus;

pub use cheap_paxos::CheapPaxosUnilateral;
pub use fast_paxos::FastPaxosSmallQuorum;
pub use paxos::{PaxosAmnesia, PaxosApart, PaxosNoNumber};
pub use sync_consensus::{SyncConsensusFRounds, SyncConsensusOffByOne};
