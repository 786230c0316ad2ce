//! `synod tour`: a guided first minute.

use crate::Cli;
use crate::output::{BOLD, DIM, Output, heading, paragraph};
use anyhow::{Context, Result};
use clap::{Args, CommandFactory, FromArgMatches};
use serde::Serialize;
use std::process::ExitCode;
use synod_core::Verdict;

const EXAMPLES: &str = "\
Examples:
  synod tour                   the whole tour, in a minute
  synod tour --stop 3          one stop of it
  synod -o json tour           the list of stops, for programs";

/// Show synod in a minute: a run, a proof, a counterexample, a formula, real sockets, a paper
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tour {
    /// Only this stop
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=6))]
    stop: Option<u8>,
}

/// One stop of the tour: a real command, and what to look for.
#[derive(Serialize)]
struct Stop {
    title: &'static str,
    story: &'static str,
    command: &'static str,
    /// Whether the command is meant to find a violation.
    finds_a_violation: bool,
}

const STOPS: [Stop; 6] = [
    Stop {
        title: "A run, simulated and drawn",
        story: "Three processes share one critical section by asking each other for permission \
                (Ricart and Agrawala, 1981). Time runs downwards; thick lanes are inside, dotted \
                ones wait. The same seed gives the same run, on every machine.",
        command: "synod run ricart-agrawala -n 3 --requests 3 --seed 7 --draw",
        finds_a_violation: false,
    },
    Stop {
        title: "A property that holds, in every schedule there is",
        story: "A simulation shows one schedule. The explorer tries them all: every message may \
                be the next to arrive, everybody may ask at any time.",
        command: "synod check ricart-agrawala -n 3 --tells 0",
        finds_a_violation: false,
    },
    Stop {
        title: "A counterexample, found and drawn",
        story: "Now the same algorithm without the rule that breaks ties between equal \
                timestamps. The explorer finds the shortest history in which two processes are \
                inside at once.",
        command: "synod check ra-no-tie-break",
        finds_a_violation: true,
    },
    Stop {
        title: "A count, next to its formula",
        story: "The textbook says how many messages an entry costs. Measured in simulation, for \
                growing groups, the numbers agree exactly.",
        command: "synod sweep ricart-agrawala --n 2..8:2",
        finds_a_violation: false,
    },
    Stop {
        title: "The same algorithm, on real sockets",
        story: "Three operating-system processes, connected by TCP. Each writes down what it takes \
                in before it answers; done again in a world, the run is judged and counted as any \
                other.",
        command: "synod run ricart-agrawala -n 3 --requests 30 --on tcp",
        finds_a_violation: false,
    },
    Stop {
        title: "A published algorithm, refuted",
        story: "SLOTS shares a pool of resources that stays usable on both sides of a partition \
                (Pessolani and others, 2017). p0 stands for the group service, and does whatever its \
                contract allows. With the rules as published a slot gets two owners; with those \
                that `synod run slots` uses it never does: see docs/slots.md.",
        command: "synod check slots --counterexample 3",
        finds_a_violation: true,
    },
];

const FAREWELL: &str = "\
Where to go from here:
  synod list                     every algorithm, and the broken ones
  synod show maekawa             one of them, on a card
  synod check maekawa            its famous deadlock
  synod run suzuki-kasami --seeds 1000
                                 a thousand schedules at once
  synod slots experiment         the paper's experiment, repeated: tables and a page of plots
  synod new my-algorithm         your own: one file, and everything above works for it
";

impl Tour {
    /// Walks through the stops.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        if output.is_json() {
            output.json(&STOPS)?;
            return Ok(Verdict::Holds);
        }
        let mut as_told = true;
        for (index, stop) in STOPS.iter().enumerate() {
            if self.stop.is_none_or(|only| usize::from(only) == index + 1) {
                as_told &= stop.visit(index + 1, output)?;
            }
        }
        output.print(&format!("\n{FAREWELL}"))?;
        Ok(Verdict::from(as_told))
    }
}

impl Stop {
    /// Runs the command as if the user had typed it. False if its outcome differs from the story.
    fn visit(&self, number: usize, output: &Output) -> Result<bool> {
        let title = heading(&format!("{number}. {}", self.title));
        let story = paragraph("", self.story);
        let prompt = format!("{DIM}${DIM:#} {BOLD}{}{BOLD:#}\n", self.command);
        output.print(&format!("{title}{story}\n{prompt}\n"))?;
        let matches = Cli::command()
            .try_get_matches_from(self.command.split_whitespace())
            .context("a command of the tour is out of date")?;
        let cli = Cli::from_arg_matches(&matches)?;
        let code = cli.command.perform(&matches, output)?;
        Ok(code == ExitCode::from(u8::from(self.finds_a_violation)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_tour_is_understood() {
        for stop in &STOPS {
            let parsed = Cli::command().try_get_matches_from(stop.command.split_whitespace());
            assert!(parsed.is_ok(), "{}: {parsed:?}", stop.command);
        }
    }
}
