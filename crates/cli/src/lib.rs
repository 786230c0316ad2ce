//! The command `synod`: simulate, explore and draw distributed algorithms.
//!
//! The command line is a library, so that a crate with algorithms of its own has all of it:
//! [`run`] takes them and treats them as those of the catalogue. `synod new NAME --crate` writes
//! such a crate.
//!
//! # Layout
//! - `commands`: one file for each sub-command, thin; the common parts are beside them
//! - `catalogue`, `about`: the algorithms that this program knows, and their facts
//! - `cluster`: what the commands for clusters of real nodes have in common
//! - `options`: the flags of the group, the network, the load and the faults
//! - `simulate`, `real`: one run of any algorithm: in a world, or on real sockets
//! - `export`: traces and pictures of a run, simulated or real
//! - `output`, `progress`: tables, JSON, and bars for long work
//! - `parse`, `words`, `parallel`: values of flags, words for numbers, work for all cores
//!
//! The exit code is 0 if every judged property holds, 1 if one is violated, a formula is wrong or a
//! scenario comes out differently, 2 if the command could not be carried out, and 3 if none is
//! violated but some were not decided. Commands that talk to a cluster have more
//! (`cluster::trouble`).
#![forbid(unsafe_code)]

mod about;
mod catalogue;
mod cluster;
mod commands;
mod export;
mod options;
mod output;
mod parallel;
mod parse;
mod progress;
mod real;
mod simulate;
mod words;

use clap::{CommandFactory, FromArgMatches, Parser};
use cluster::trouble::{self, Trouble};
use commands::Command;
use output::{Format, Output};
use std::process::ExitCode;
use synod_core::boxed::Which;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EXAMPLES: &str = "\
Examples:
  synod tour                                   a guided first minute
  synod list                                   every algorithm, and the broken ones
  synod show ricart-agrawala                   the card of one: rules, promises, costs
  synod run ricart-agrawala -n 5 --seed 42     simulate it, count its messages
  synod check ra-no-tie-break                  find the shortest counterexample
  synod sweep central-server --n 2..32         measured costs against the formulas
  synod compare mutex                          a whole family side by side: costs and faults
  synod linear history.jsonl                   are the answers to clients linearizable?

A real cluster on this machine ('synod up --help' tells more):
  synod up                                     five nodes
  synod pool create ports --range 20000-29999  in another terminal: a pool of ports
  synod pool claim ports                       one of them, on every side of a cut

Exit codes: 0 every judged property holds, 1 one is violated, 2 the command could not be carried
out, 3 none is violated, but some were not decided.";

/// Coordination and agreement for clusters, proven before it runs.
#[derive(Parser)]
#[command(name = "synod", version, after_help = EXAMPLES)]
struct Cli {
    /// The form of the answer: words and tables, or JSON
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Human)]
    #[arg(value_name = "FORMAT")]
    output: Format,

    #[command(subcommand)]
    command: Command,
}

/// Parses the command line and performs the command, for the algorithms of the catalogue and these
/// beside them. The exit code of the program is the answer.
pub fn run(own: &[Which]) -> ExitCode {
    if let Err(error) = catalogue::add(own) {
        output::complain(&anyhow::anyhow!(error));
        return ExitCode::from(2);
    }
    let matches = Cli::command().get_matches();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let output = Output::new(cli.output);
    match cli.command.perform(&matches, &output) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&error);
            if let (true, Some(trouble)) = (output.is_json(), error.downcast_ref::<Trouble>()) {
                // A reader that is gone needs no reason.
                let _ = output.json(&trouble.json());
            }
            ExitCode::from(trouble::exit_code(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_flags_of_a_command_are_the_same() {
        Cli::command().debug_assert();
    }

    /// The commands among the examples of a help text. Two spaces end a command; its story follows.
    fn examples(help: &str) -> Vec<String> {
        let joined = help.replace("\\\n", " ");
        let lines = joined.lines().map(str::trim).filter(|line| line.starts_with("synod "));
        let lines = lines.map(|line| line.split("  ").next().unwrap_or(line));
        let alone = |line: &str| {
            let end = [" | ", " < ", " > "].iter().filter_map(|mark| line.find(mark)).min();
            line[..end.unwrap_or(line.len())].to_owned()
        };
        lines.map(alone).collect()
    }

    /// The words of a command; quotes keep spaces.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate().flat_map(|(index, part)| {
            let part = part.trim();
            match index % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            }
        });
        parts.collect()
    }

    fn all(command: &clap::Command) -> Vec<String> {
        let own = command.get_after_help().map(|help| examples(&help.to_string()));
        let own = own.unwrap_or_default().into_iter();
        own.chain(command.get_subcommands().flat_map(all)).collect()
    }

    #[test]
    fn every_example_of_every_help_text_is_understood() {
        let lines = all(&Cli::command());
        assert!(lines.len() > 120, "{}", lines.len());
        for line in lines {
            if let Err(error) = Cli::command().try_get_matches_from(words(&line)) {
                let is_help = error.kind() == clap::error::ErrorKind::DisplayHelp;
                assert!(is_help, "{line}: {error}");
            }
        }
    }
}
