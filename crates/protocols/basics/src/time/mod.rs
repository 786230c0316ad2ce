//! Time, in a system without a common clock.
//!
//! A physical clock can be set by that of a server, up to an error. Logical clocks count events
//! instead, and say which event happened before which.

pub mod cristian;
pub mod lamport;
pub mod mutants;
pub mod vector;

pub use cristian::Cristian;
pub use lamport::LamportClock;
pub use vector::VectorClock;

synod_core::catalogue! {
    Cristian,
    LamportClock,
    VectorClock,
    mutants::CristianSum,
    mutants::CristianImpostor,
    mutants::LamportDeaf,
}
