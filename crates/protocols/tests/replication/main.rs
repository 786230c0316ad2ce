//! Replicated logs with a key-value store above.

mod ignored;
mod multi_paxos;
mod pbft;
mod raft;
mod raft_runs;
mod runs;
mod storms;
