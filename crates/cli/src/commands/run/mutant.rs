//! A run in which a mutant fails: with the flags of its card, and the first seed that shows it.

use crate::about::About;
use crate::options::RunFlags;
use crate::simulate::simulate;
use crate::words;
use anyhow::{Context, Result};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use synod_core::Card;
use synod_sim::Options;

/// The number of seeds that are tried, from the given one on.
const SEEDS: u64 = 1_000;

/// The flags on the card of a mutant, if the user gives no flags of a run.
pub(super) fn flags(card: &Card, given: &ArgMatches) -> Result<Option<RunFlags>> {
    if card.mutant.is_none() || is_any_given(given) {
        return Ok(None);
    }
    let words = ["run".to_owned()].into_iter().chain(words::of_shell(card.fails_with));
    let matches =
        of_a_run().try_get_matches_from(words).context("the flags on the card are wrong")?;
    Ok(Some(RunFlags::from_arg_matches(&matches)?))
}

/// A command with the flags of a run alone.
fn of_a_run() -> Command {
    RunFlags::augment_args(Command::new("run"))
}

/// Whether the command line has a flag of a run.
fn is_any_given(given: &ArgMatches) -> bool {
    let Some(("run", given)) = given.subcommand() else { return false };
    let command = of_a_run();
    let mut flags = command.get_arguments().map(|flag| flag.get_id().as_str());
    flags.any(|id| given.value_source(id) == Some(ValueSource::CommandLine))
}

/// The options with the first seed with which a mutant breaks what it breaks. If no seed does, and
/// for a sound algorithm, the seed stays.
pub(super) fn failing(about: &About, options: Options) -> Result<Options> {
    let Some(mutant) = about.card.mutant else { return Ok(options) };
    for seed in options.seed..options.seed.saturating_add(SEEDS) {
        let tried = Options { seed, ..options.clone() };
        let report = simulate(about, tried.clone(), None, &mut |_, _| ())?;
        if report.violations.iter().any(|(violation, _)| violation.property == mutant.breaks) {
            return Ok(tried);
        }
    }
    Ok(options)
}
