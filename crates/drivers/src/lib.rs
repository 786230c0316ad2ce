//! Every driver for every algorithm, by name: what is the same whatever the algorithm.
//!
//! Drivers are generic in the algorithm. Here they are compiled once for each family
//! ([`synod_core::boxed`] says how), for all commands and all tests together. Whoever calls [`simulate`],
//! [`explore`] or [`play`] has nothing to compile but the call.
#![forbid(unsafe_code)]

mod explore;
mod pools;
mod session;

pub use explore::{Explored, Refuted, explore};
pub use pools::explore_pool;
pub use session::{Change, Session, Snapshot, Tree, session};

use std::io;
use synod_core::{Algorithm, SetupError};
use synod_protocols::{Visit, visit};
use synod_sim::scenario::{ParseError, Played, Scenario};
use synod_sim::trace::Tracer;
use synod_sim::{Options, Report, Simulator};

/// One run, if there is an algorithm of that name. Fails with a [`SetupError`] if there can be no
/// such group; the report cannot be made if the trace cannot be written.
pub fn simulate(
    name: &str,
    options: Options,
    tracer: Option<Tracer<'_>>,
    progress: &mut dyn FnMut(u64, u64),
) -> Option<Result<io::Result<Report>, SetupError>> {
    visit(name, Simulate { options, tracer, progress })
}

struct Simulate<'s, 'p> {
    options: Options,
    tracer: Option<Tracer<'s>>,
    progress: &'p mut dyn FnMut(u64, u64),
}

impl Visit for Simulate<'_, '_> {
    type Answer = Result<io::Result<Report>, SetupError>;

    fn visit<A: Algorithm>(self) -> Self::Answer {
        let simulator = Simulator::<A>::new(self.options, self.tracer)?;
        Ok(simulator.run(self.progress))
    }
}

/// Plays a scenario, if there is an algorithm of the name in it.
pub fn play(scenario: &Scenario) -> Option<Result<Played, ParseError>> {
    visit(scenario.algorithm(), Play(scenario))
}

struct Play<'s>(&'s Scenario);

impl Visit for Play<'_> {
    type Answer = Result<Played, ParseError>;

    fn visit<A: Algorithm>(self) -> Self::Answer {
        self.0.play::<A>()
    }
}
