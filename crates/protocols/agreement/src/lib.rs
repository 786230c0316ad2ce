//! The third part of the catalogue: agreement in spite of faults. Consensus, also among traitors,
//! the commitment of transactions, and turns whose moves stay secret until all have committed.
#![forbid(unsafe_code)]

pub mod commitment;
pub mod consensus;
pub mod lockstep;
pub mod seal;
