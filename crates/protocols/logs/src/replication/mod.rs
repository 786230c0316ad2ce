//! Replicated logs: every process keeps the same commands in the same order.
//!
//! Each of these is an [engine](synod_core::replication::Engine); with the key-value store that
//! stands above all of them, it is an algorithm of the family.
//!
//! # How to embed one
//!
//! An engine is generic in its commands and in the state that takes their place. It does no input
//! and no output. A program that embeds a replicated log brings the rest:
//!
//! 1. A state machine: any type that implements
//!    [`StateMachine`](synod_core::replication::StateMachine). Data that may become large is in a
//!    [`Map`](synod_core::replication::Map), so that a snapshot costs nothing, and
//!    [`Parts`](synod_core::replication::Parts) says how a snapshot is cut into messages.
//! 2. A process: [`Replicated`](synod_core::replication::Replicated) puts the state machine, the
//!    sessions of its clients and the engine together.
//! 3. A driver: the process runs in a [`Host`](synod_core::host::Host). The program hands events
//!    in (a client's request, a message, a timer, the end of a write) and implements
//!    [`Outlet`](synod_core::host::Outlet), which gets messages, outputs and timers. Records go to
//!    the disk before the host lets go of the messages that follow them.
//!
//! `examples/embedded_log.rs` in this crate does all three, with disks and restarts; a test runs
//! it.

pub mod multi_paxos;
pub mod pbft;
pub mod raft;
mod settings;
mod snapshots;

use synod_core::replication::KeyValue;

synod_core::catalogue! {
    MultiPaxos,
    Raft,
    mutants::RaftOldTerm,
    mutants::RaftBlindVote,
    mutants::RaftForgetful,
    Pbft,
    mutants::MultiPaxosFaithless,
    mutants::PbftSmallQuorum,
}

/// [Multi-Paxos](multi_paxos) under a key-value store.
pub type MultiPaxos = KeyValue<multi_paxos::Server<multi_paxos::Sound>>;

/// [Raft](raft) under a key-value store.
pub type Raft = KeyValue<raft::Server<raft::Sound>>;

/// [PBFT](pbft) under a key-value store.
pub type Pbft = KeyValue<pbft::Replica<pbft::Sound>>;

/// Algorithms that are broken on purpose.
pub mod mutants {
    use super::multi_paxos::{self, mutants::BreaksPromises};
    use super::pbft::{self, mutants::SmallQuorums};
    use super::raft::Server;
    use super::raft::mutants::{CountsOldTerms, ForgetsVotes, VotesBlindly};
    use synod_core::replication::KeyValue;

    /// Raft that counts copies of entries of earlier terms.
    pub type RaftOldTerm = KeyValue<Server<CountsOldTerms>>;
    /// Raft that votes for any log.
    pub type RaftBlindVote = KeyValue<Server<VotesBlindly>>;
    /// Raft that does not write down its votes.
    pub type RaftForgetful = KeyValue<Server<ForgetsVotes>>;
    /// Multi-Paxos whose acceptors break their promises.
    pub type MultiPaxosFaithless = KeyValue<multi_paxos::Server<BreaksPromises>>;
    /// PBFT whose quorums are one replica short.
    pub type PbftSmallQuorum = KeyValue<pbft::Replica<SmallQuorums>>;
}
