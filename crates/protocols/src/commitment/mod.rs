//! Atomic commitment: everywhere or nowhere.

pub mod mutants;
pub mod two_phase;

pub use two_phase::TwoPhaseCommit;
