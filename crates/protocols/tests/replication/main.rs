//! Replicated logs with a key-value store above.

mod raft;
mod storms;
