//! The definition of a distributed algorithm, for every driver that runs one.
//!
//! A [`Protocol`] is a value that reacts to four kinds of event: start, input, message, timer. It
//! asks its [`Cx`] for every effect on the world, in order. It never blocks, never reads a clock,
//! never opens a socket; so the same value is simulated, explored exhaustively and run for real.
//!
//! An [`Algorithm`] is a protocol with a name: it belongs to a [`Family`], which fixes the inputs
//! and outputs of the application, and which brings the workload and the property monitors; and it
//! has a [`Card`] with its source, assumptions, promises and costs.
//!
//! # Layout
//! - [`process`]: the names of processes, and sets of them
//! - [`protocol`]: the trait, and the messages
//! - [`cx`]: effects, and how a layer drives the one below
//! - [`host`]: one process as every driver has it: state, timers, records and what waits for them
//! - [`reductions`]: hints for explorers, and why they may be followed
//! - [`durable`]: stable storage, for the protocols that need it
//! - [`byzantine`]: traitors, and their messages
//! - [`group`]: views and deliveries, which a group engine offers to a service above it
//! - [`linear`]: whether the answers to clients are linearizable
//! - [`replication`]: the key-value store that replicated logs keep
//! - [`sight`]: what pictures show of a process beside its events
//! - [`stamp`]: logical timestamps as values
//! - [`algorithm`], [`card`], [`setup`]: the catalogue's knowledge of each algorithm
//! - [`budget`]: the fault budget of a small world, and whether it may be raised
//! - [`verdict`]: a property holds, is violated, or is not decided
//! - [`family`]: mutual exclusion, logical time, …: inputs, outputs, applications, monitors
#![forbid(unsafe_code)]

pub mod algorithm;
pub mod boxed;
pub mod budget;
pub mod byzantine;
pub mod card;
mod catalogue;
pub mod clock;
mod copy;
pub mod cx;
pub mod durable;
pub mod family;
pub mod group;
pub mod host;
pub mod linear;
pub mod process;
pub mod protocol;
pub mod reductions;
pub mod replication;
pub mod setup;
pub mod sight;
pub mod stamp;
mod variant_name;
pub mod verdict;

pub use algorithm::{Algorithm, Invariant, Kit, Notes, Snapshot, System};
pub use boxed::Boxed;
pub use budget::Budget;
pub use card::{Bounds, Card, Cost, Mutant, Rule, Source, Trigger};
pub use catalogue::Visit;
pub use clock::{Clock, Moment};
pub use copy::copy_list;
pub use cx::{Cx, Effect, EffectOf, step};
pub use durable::{Durable, Record};
pub use family::{Application, Family, Monitor, Property, Violation};
pub use host::{Host, Outlet};
pub use process::{ProcessId, ProcessSet};
pub use protocol::{Data, Never, Protocol, Unhashed, Wire};
pub use reductions::Reductions;
pub use setup::{Setup, SetupError};
pub use sight::Sight;
pub use stamp::{Timestamp, VectorStamp};
pub use verdict::Verdict;
