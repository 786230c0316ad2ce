//! One run, whatever the algorithm.

use crate::about::{About, unknown};
use crate::export::UNWRITTEN;
use anyhow::{Context, Result};
use std::io;
use synod_core::{Algorithm, SetupError};
use synod_protocols::{Visit, visit};
use synod_sim::trace::Tracer;
use synod_sim::{Options, Report, Simulator};

/// One run, whatever the algorithm. Fails with a [`SetupError`] if there can be no such group.
pub(crate) fn simulate(
    about: &About,
    options: Options,
    tracer: Option<Tracer<'_>>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report> {
    let simulate = Simulate { options, tracer, progress };
    let report = visit(about.card.name, simulate).ok_or_else(|| unknown(about.card.name))??;
    report.context(UNWRITTEN)
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
