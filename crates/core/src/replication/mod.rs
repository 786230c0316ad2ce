//! Replication of a state machine: what replicas have in common, whichever protocol keeps them
//! together.

pub mod store;

pub use store::{Action, Answer, Operation, Store};
