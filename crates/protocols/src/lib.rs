//! The catalogue: every algorithm, one file each. The tree reads like a course's table of contents.
//!
//! The algorithms lie in four crates, the parts of the course, so that an edit compiles a part and
//! its users again, and not all of them. No file there knows clocks, sockets, threads or
//! randomness, so that the simulator, the explorer and real processes run the same code: see
//! `clippy.toml`.
#![forbid(unsafe_code)]

pub mod catalogue;

pub use catalogue::{Entry, algorithms, entries, find, visit, which};
pub use synod_agreement::{commitment, consensus, lockstep, seal};
pub use synod_basics::{detector, election, multicast, mutex, time};
pub use synod_core::Visit;
pub use synod_groups::{group, slots, switchboard, table};
pub use synod_logs::replication;
