//! Explores an algorithm, with a progress bar.

use crate::about::unknown;
use crate::catalogue::which;
use crate::progress::Progress;
use crate::words::grouped;
use anyhow::Result;
use synod_check::{Question, resident_bytes};
use synod_drivers::Explored;

/// The result, and the duration in seconds.
pub(crate) fn explore(name: &str, question: &Question) -> Result<(Explored, f64)> {
    let mut bar = Progress::unknown("states");
    let explored = synod_drivers::explore(which, name, question, &mut |progress| {
        bar.at(progress.states, || {
            format!(
                "{} unique, depth {}, {} waiting, {} MiB",
                grouped(progress.unique as u64),
                progress.depth,
                grouped(progress.waiting as u64),
                resident_bytes().unwrap_or(progress.table_bytes) >> 20,
            )
        });
    });
    let explored = explored.ok_or_else(|| unknown(name))??;
    Ok((explored, bar.finish()))
}
