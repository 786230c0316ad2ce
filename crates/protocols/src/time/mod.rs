//! Time: what a clock can say in a system without a common one.
//!
//! Physical clocks can be set by a server's, up to an error. Logical clocks count events instead,
//! and say what happened before what.

pub mod cristian;
pub mod lamport;
pub mod mutants;
pub mod vector;

pub use cristian::Cristian;
pub use lamport::LamportClock;
pub use vector::VectorClock;
