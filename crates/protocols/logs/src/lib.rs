//! The fourth part of the catalogue: replicated logs under a state machine.
#![forbid(unsafe_code)]

pub mod replication;
