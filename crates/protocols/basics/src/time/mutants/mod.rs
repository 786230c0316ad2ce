//! Clocks that are broken on purpose: each is a small change to a right one, and the explorer must
//! find the property that it breaks.

pub mod cristian;
pub mod lamport;

pub use cristian::{CristianImpostor, CristianSum};
pub use lamport::LamportDeaf;
