//! SLOTS: a pool of identical resources, shared by a group, that stays usable on every side of a
//! partition.

mod bits;
#[cfg(test)]
mod dice;
pub mod pool;
pub mod ranges;
pub mod table;
mod tokens;
