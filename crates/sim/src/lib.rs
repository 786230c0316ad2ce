//! One world: processes, messages in flight, timers, disks and faults; and the simulator that
//! drives it by time and seed.
//!
//! # Layout
//! - [`world`]: the world and its one way to change, `step(action)`
//! - [`simulator`]: chooses the next action by simulated time and seed
//! - [`workload`]: the requests of applications, and their times
//! - [`scheduler`]: an adversary that chooses the next action by its effect
//! - [`network`], [`faults`], [`storm`]: delays, losses and faults
//! - [`count`]: messages and operations counted, next to the formulas
//! - [`scenario`]: stories as text files: a script, and the trace that it must produce
//! - [`trace`]: events, with Lamport and vector times
#![forbid(unsafe_code)]

mod agenda;
pub mod count;
pub mod faults;
pub mod network;
pub mod scenario;
pub mod scheduler;
pub mod simulator;
pub mod storm;
pub mod trace;
mod witness;
pub mod workload;
pub mod world;

pub use scenario::Scenario;
pub use simulator::{Ended, Options, Report, Simulator};
pub use witness::Witness;
pub use world::{Action, Judged, Plan, Step, World};
