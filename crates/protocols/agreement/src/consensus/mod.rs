//! Consensus: all processes decide on the same value, once and for all.

pub mod acceptor;
pub mod ballot;
pub mod cheap_paxos;
pub mod consensus_from_generals;
pub mod consensus_from_total_order;
mod cost;
pub mod decision;
pub mod either;
pub mod fast_paxos;
pub mod generalized_paxos;
pub mod generals_from_consensus;
pub mod interactive_consistency;
pub mod learner;
pub mod mutants;
pub mod naive_consensus;
pub mod oral_messages;
pub mod paxos;
pub mod quorum;
pub mod quorum_system;
pub mod rounds;
pub mod signed_messages;
pub mod sync_consensus;
mod vote;

pub use ballot::Ballot;
pub use cheap_paxos::CheapPaxos;
pub use consensus_from_generals::ConsensusFromGenerals;
pub use consensus_from_total_order::ConsensusFromTotalOrder;
pub use fast_paxos::FastPaxos;
pub use generalized_paxos::GeneralizedPaxos;
pub use generals_from_consensus::GeneralsFromConsensus;
pub use interactive_consistency::InteractiveConsistency;
pub use naive_consensus::NaiveConsensus;
pub use oral_messages::OralGenerals;
pub use paxos::Paxos;
pub use quorum::{Quorums, majority};
pub use signed_messages::SignedGenerals;
pub use sync_consensus::SyncConsensus;

synod_core::catalogue! {
    NaiveConsensus,
    SyncConsensus,
    OralGenerals,
    SignedGenerals,
    InteractiveConsistency,
    ConsensusFromGenerals,
    GeneralsFromConsensus,
    ConsensusFromTotalOrder,
    mutants::SyncConsensusOffByOne,
    mutants::SyncConsensusFRounds,
    Paxos,
    FastPaxos,
    CheapPaxos,
    GeneralizedPaxos,
    mutants::PaxosNoNumber,
    mutants::PaxosAmnesia,
    mutants::PaxosApart,
    mutants::FastPaxosSmallQuorum,
    mutants::CheapPaxosUnilateral,
}
