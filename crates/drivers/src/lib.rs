//! Every driver for every algorithm, by name.
//!
//! Drivers are generic in the algorithm. This crate compiles them once for all algorithms
//! ([`synod_core::boxed`] says how), for all commands and all tests together. A caller of
//! [`simulate`], [`explore`] or [`play`] compiles nothing but the call. This crate knows no
//! algorithm either: the caller brings a [`Catalogue`]. So an edited algorithm compiles no driver
//! anew.
#![forbid(unsafe_code)]

mod explore;
mod session;

pub use explore::{Explored, Refuted, explore};
pub use session::{Change, Session, Snapshot, Tree, session};

use std::io;
use synod_core::SetupError;
use synod_core::boxed::Which;
use synod_sim::scenario::{ParseError, Played, Scenario};
use synod_sim::trace::Tracer;
use synod_sim::{Options, Report, Simulator};

/// Finds an algorithm by its name or an alias: `synod_protocols::which`, or a function that knows
/// others beside these.
pub type Catalogue = fn(&str) -> Option<Which>;

/// Simulates one run of the algorithm of that name, if the catalogue has it. Fails with a
/// [`SetupError`] if the algorithm refuses the group. The inner error is that of a trace that
/// cannot be written.
pub fn simulate(
    catalogue: Catalogue,
    name: &str,
    mut options: Options,
    tracer: Option<Tracer<'_>>,
    progress: &mut dyn FnMut(u64, u64),
) -> Option<Result<io::Result<Report>, SetupError>> {
    let which = catalogue(name)?;
    options.plan.setup = options.plan.setup.running(which);
    let simulator = match Simulator::new(options, tracer) {
        Ok(simulator) => simulator,
        Err(refused) => return Some(Err(refused)),
    };
    Some(Ok(simulator.run(progress)))
}

/// Plays a scenario, if the catalogue has its algorithm.
pub fn play(catalogue: Catalogue, scenario: &Scenario) -> Option<Result<Played, ParseError>> {
    let which = catalogue(scenario.algorithm())?;
    Some(scenario.play_boxed(which))
}
