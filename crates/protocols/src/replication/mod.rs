//! Replicated logs: every process keeps the same commands in the same order.
//!
//! Each of these is an [engine](synod_core::replication::Engine); with the key-value store that stands
//! above all of them, it is an algorithm of the family.

pub mod multi_paxos;
pub mod pbft;
pub mod raft;

use synod_core::replication::KeyValue;

/// [Multi-Paxos](multi_paxos) under a key-value store.
pub type MultiPaxos = KeyValue<multi_paxos::Server>;

/// [Raft](raft) under a key-value store.
pub type Raft = KeyValue<raft::Server<raft::Sound>>;

/// [PBFT](pbft) under a key-value store.
pub type Pbft = KeyValue<pbft::Replica>;

/// Algorithms that are broken on purpose.
pub mod mutants {
    use super::raft::Server;
    use super::raft::mutants::{CountsOldTerms, ForgetsVotes, VotesBlindly};
    use synod_core::replication::KeyValue;

    /// Raft that counts copies of entries of earlier terms.
    pub type RaftOldTerm = KeyValue<Server<CountsOldTerms>>;
    /// Raft that votes for any log.
    pub type RaftBlindVote = KeyValue<Server<VotesBlindly>>;
    /// Raft that does not write down its votes.
    pub type RaftForgetful = KeyValue<Server<ForgetsVotes>>;
}
