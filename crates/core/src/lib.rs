//! What a distributed algorithm *is*, for every driver that runs one.
//!
//! A [`Protocol`] is a value that reacts to four kinds of event: start, input, message, timer.
//! Everything it wants done in the world it says to its [`Cx`], in order. It never blocks, never
//! reads a clock, never opens a socket; so the same value is simulated, explored exhaustively and
//! run for real.
//!
//! An [`Algorithm`] is a protocol with a name: it belongs to a [`Family`], which fixes what the
//! application may ask and be told, and which brings the workload and the property monitors; and
//! it has a [`Card`], which says where it comes from, what it assumes, promises and costs.
//!
//! # Layout
//! - [`process`]: the names of processes, and sets of them
//! - [`protocol`]: the trait, and what travels
//! - [`cx`]: effects, and how a layer drives the one below
//! - [`host`]: one process as every driver has it: state, timers, records and what waits for them
//! - [`reductions`]: hints for explorers, and why they may be followed
//! - [`durable`]: stable storage, for the protocols that need it
//! - [`byzantine`]: traitors, and what they say
//! - [`group`]: views and deliveries: what a group engine offers to a service above it
//! - [`linear`]: whether what clients were told is linearizable
//! - [`replication`]: the key-value store that replicated logs keep
//! - [`stamp`]: logical timestamps as values
//! - [`algorithm`], [`card`], [`setup`]: what the catalogue knows about each
//! - [`budget`]: how much goes wrong in a small world, and how much more may
//! - [`family`]: mutual exclusion, logical time, …: inputs, outputs, applications, monitors
#![forbid(unsafe_code)]

pub mod algorithm;
pub mod boxed;
pub mod budget;
pub mod byzantine;
pub mod card;
pub mod clock;
mod copy;
pub mod cx;
pub mod durable;
pub mod family;
pub mod group;
pub mod host;
mod kind;
pub mod linear;
pub mod process;
pub mod protocol;
pub mod reductions;
pub mod replication;
pub mod setup;
pub mod stamp;

pub use algorithm::{Algorithm, Invariant, Kit, Notes, Snapshot, System};
pub use boxed::Boxed;
pub use budget::Budget;
pub use card::{Bounds, Card, Cost, Mutant, Source};
pub use clock::{Clock, Moment};
pub use cx::{Cx, Effect, EffectOf, step};
pub use durable::{Durable, Record};
pub use family::{Application, Family, Monitor, Property, Violation};
pub use host::{Host, Outlet};
pub use process::{ProcessId, ProcessSet};
pub use protocol::{Aside, Data, Never, Protocol, Wire};
pub use reductions::Reductions;
pub use setup::{Setup, SetupError};
pub use stamp::{Timestamp, VectorStamp};
