//! The experiment with SLOTS: allocators under load, round by round, over an ideal total order.
//!
//! The allocators are services ([`synod_core::group::Service`]), the same values that stand on an
//! engine elsewhere. Here only one order of multicasts and a clock lie between them, so that a
//! hundred thousand rounds take a second.
//!
//! # Layout
//! - [`settings`]: the settings of a run; [`run`](fn@run): one run
//! - `workload`: the times and durations of claims; the same for every policy
//! - `turns`, `clean`: the two timings, that of the authors and one without limits
//! - `waiting`: claims that wait for their slots
//! - `members`, `membership`: services, what they ask for, and the views that they see
//! - [`mod@reference`]: allocators to compare with; [`erlang`]: what no allocator can beat
//! - [`compare`]: the alternatives that the paper names, beside SLOTS
//! - [`study`], [`report`]: the whole experiment, and how it is told
//! - [`measure`], [`statistics`]: the counts, and how sure the means are
//! - `proof`: the pools themselves, explored without a budget of faults
#![forbid(unsafe_code)]

mod clean;
pub mod compare;
pub mod erlang;
pub mod measure;
mod members;
mod membership;
mod policy;
mod proof;
pub mod reference;
pub mod report;
mod run;
pub mod settings;
mod slots;
pub mod statistics;
pub mod study;
mod summary;
mod timers;
mod turns;
mod waiting;
mod wheel;
mod workload;

pub use policy::{Holding, Policy, Program};
pub use proof::explore_pool;
pub use run::{Allocator, run};
pub use settings::Settings;
pub use summary::Summary;
pub use waiting::Delays;
