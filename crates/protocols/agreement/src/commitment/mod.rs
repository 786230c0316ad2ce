//! Atomic commitment: all processes commit a transaction, or none does.

pub mod mutants;
pub mod two_phase;

pub use two_phase::TwoPhaseCommit;

synod_core::catalogue! {
    TwoPhaseCommit,
    mutants::TwoPhaseForgetful,
    mutants::TwoPhaseUnprepared,
}
