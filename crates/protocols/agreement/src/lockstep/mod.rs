//! Fair turns: no player decides after having seen the moves of others.

pub mod mutants;
pub mod turn_lock;

pub use turn_lock::TurnLock;

synod_core::catalogue! {
    TurnLock,
    mutants::TurnLockNoNonce,
    mutants::TurnLockUnbound,
    mutants::TurnLockOnePhase,
    mutants::TurnLockNoEcho,
}
