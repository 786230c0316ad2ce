//! Time: what a clock can say in a system without a common one.
//!
//! Physical clocks can be set by a server's, up to an error. Logical clocks count events instead,
//! and say what happened before what.

pub mod cristian;
pub mod cristian_mutants;
pub mod lamport;
pub mod vector;

pub use cristian::Cristian;
pub use cristian_mutants::{CristianImpostor, CristianSum};
pub use lamport::LamportClock;
pub use vector::VectorClock;
