//! Replicated logs with a key-value store above.

mod multi_paxos;
mod pbft;
mod raft;
mod storms;
