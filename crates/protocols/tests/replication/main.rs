//! Replicated logs with a key-value store above.

mod multi_paxos;
mod raft;
mod storms;
