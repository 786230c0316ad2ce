//! One simulated run of any algorithm.

use crate::about::{About, unknown};
use crate::catalogue::which;
use crate::export::UNWRITTEN;
use anyhow::{Context, Result};
use synod_sim::trace::Tracer;
use synod_sim::{Options, Report};

/// One simulated run. Fails with a [`synod_core::SetupError`] if such a group is not possible.
pub(crate) fn simulate(
    about: &About,
    options: Options,
    tracer: Option<Tracer<'_>>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report> {
    let name = about.card.name;
    let report = synod_drivers::simulate(which, name, options, tracer, progress);
    let report = report.ok_or_else(|| unknown(name))??;
    report.context(UNWRITTEN)
}
