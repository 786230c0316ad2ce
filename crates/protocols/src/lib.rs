//! The catalogue: every algorithm, one file each. The tree reads like a course's table of contents.
//!
//! No file here knows clocks, sockets, threads or randomness, so that the simulator, the explorer
//! and real processes run the same code: see the crate's `clippy.toml`.
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod commitment;
pub mod consensus;
pub mod detector;
pub mod election;
pub mod group;
pub mod lockstep;
pub mod multicast;
pub mod mutex;
pub mod replication;
pub mod seal;
pub mod slots;
pub mod table;
pub mod time;

pub use catalogue::{ALGORITHMS, Entry, Visit, entries, find, visit, which};
