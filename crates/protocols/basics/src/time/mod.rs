//! Time, in a system without a common clock.
//!
//! A physical clock can be set by that of a server, up to an error. Logical clocks count events
//! instead, and say which event happened before which.

pub mod berkeley;
pub mod cristian;
mod kept;
pub mod lamport;
pub mod median;
pub mod mutants;
pub mod slewed;
pub mod vector;

pub use berkeley::Berkeley;
pub use cristian::Cristian;
pub use lamport::LamportClock;
pub use median::TimeServers;
pub use slewed::CristianSlewed;
pub use vector::VectorClock;

synod_core::catalogue! {
    Cristian,
    CristianSlewed,
    TimeServers,
    Berkeley,
    LamportClock,
    VectorClock,
    mutants::CristianSum,
    mutants::CristianImpostor,
    mutants::CristianStepped,
    mutants::TimeServersMean,
    mutants::BerkeleyUntravelled,
    mutants::LamportDeaf,
    mutants::VectorDirect,
}
