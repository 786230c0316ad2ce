//! Fair turns: nobody moves after having seen what others do.

pub mod mutants;
pub mod turn_lock;

pub use turn_lock::TurnLock;
