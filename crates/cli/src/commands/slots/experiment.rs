//! `synod slots experiment`: allocators under load, as in the paper and beyond.

use super::report;
use crate::export;
use crate::output::Output;
use crate::parallel::{in_order, threads};
use crate::parse;
use crate::progress::Progress;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use synod_core::Verdict;
use synod_experiment::settings::{HotSpot, Lives, Partition, Start};
use synod_experiment::study::{ALLOCATORS, Case, Row, Wishes, on_demand};
use synod_experiment::{Allocator, Summary, run};

const EXAMPLES: &str = "\
Examples:
  synod slots experiment                                the paper's table, and a clean network
  synod slots experiment --html report.html             with all plots, as one page
  synod slots experiment --load 0.95 --timing clean     claims at random times
  synod slots experiment --policy offers --policy static --hot-spot 0.5 --timing clean
  synod slots experiment --alternatives                 beside what the paper's section II names
  synod slots experiment --free-low 2 --lambda 0.3:0.6 --lifetimes inverse-normal
  synod slots experiment --timing clean --load 0.7 --partition 2000:4000 --policy offers
  synod slots experiment --wait 1000 --timing clean --policy offers --policy repaired
  synod slots experiment --nodes 128 --slots 3072 --policy offers --timing clean --rounds 1000

Policies: paper, paper-as-programmed, repaired, offers (SLOTS); mutual-exclusion and
mutual-exclusion-with-slip (the paper's baseline); static, mover, oracle. Only if named, or with
--alternatives: central-manager, consensus, h-of-k, all-authorise, wackamole. Only if named: loose, loose-forgets, loose-all, loose-all-forgets, loose-status, loose-program (how the authors' program starts
up, habit by habit). The same seed gives the same claims to all of them.";

/// Larger groups take too long.
const LARGEST: u64 = 4_096;

/// The timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Time {
    /// As in the authors' simulation: one message in a turn
    Authors,
    /// Every multicast takes the same time, and any number may be under way
    Clean,
}

/// How the members join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Begin {
    /// The first owns all slots, the others join one by one
    Join,
    /// All are members, with an even share
    Steady,
}

/// The law of lifetimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Law {
    /// As in the authors' program: 10 to 1000 rounds, P(at least 10 k) = 1/k
    Program,
    /// As in the text of the paper: an inverse normal law, with the same mean
    InverseNormal,
}

/// Reproduce the paper's experiment: SLOTS and others under load
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Experiment {
    /// The number of slots [default: 768]
    #[arg(long, value_name = "SLOTS", value_parser = parse::positive)]
    slots: Option<u64>,
    /// The number of members [default: 32]
    #[arg(long, value_name = "N", value_parser = parse::positive)]
    nodes: Option<u64>,
    /// The offered load as a share of the slots, with claims at random times [default: as
    /// published]
    #[arg(long, value_name = "SHARE", value_parser = positive_number)]
    load: Option<f64>,
    /// FREE_LOW: a member of a donation scheme with fewer free slots asks for more [default: 4]
    #[arg(long, value_name = "SLOTS", value_parser = parse::positive)]
    free_low: Option<u64>,
    /// λ of the authors' arrivals, drawn between these [default: 0.5:0.8]
    #[arg(long, value_name = "LEAST:MOST", value_parser = lambda, conflicts_with = "load")]
    lambda: Option<(u64, u64)>,
    /// The law of lifetimes (μ)
    #[arg(long, value_enum, value_name = "LAW", default_value = "program")]
    lifetimes: Law,
    /// A claim that finds no free slot waits for one, for this many rounds (SLOTS only)
    #[arg(long, value_name = "ROUNDS", value_parser = parse::positive)]
    #[arg(conflicts_with_all = ["alternatives", "html", "csv"])]
    wait: Option<u64>,
    /// The group splits in two, from one round until another (warm-up included), with this many
    /// members on the first side [default: a third]
    #[arg(long, value_name = "FROM:UNTIL[:MEMBERS]", value_parser = partition)]
    partition: Option<(u64, u64, Option<usize>)>,
    /// Only this policy; may be given several times [default: all]
    #[arg(long, value_name = "NAME", value_parser = policy)]
    policy: Vec<Allocator>,
    /// One member gets this share of all claims; with :ROUNDS another one after that many rounds
    #[arg(long, value_name = "SHARE[:ROUNDS]", value_parser = hot_spot)]
    hot_spot: Option<HotSpot>,
    /// The number of measured rounds [default: 100000 and 5000]
    #[arg(long, value_name = "ROUNDS", value_parser = parse::positive)]
    rounds: Option<u64>,
    /// The number of runs of each case, with different seeds [default: 3]
    #[arg(long, value_name = "K", value_parser = parse::positive)]
    seeds: Option<u64>,
    /// The first seed
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// The latency of a multicast in a clean network, in rounds [default: 2]
    #[arg(long, value_name = "ROUNDS", value_parser = parse::positive)]
    latency: Option<u64>,
    /// Only under this timing [default: both]
    #[arg(long, value_enum)]
    timing: Option<Time>,
    /// How the members join [default: as in the authors' simulation, and steady]
    #[arg(long, value_enum)]
    start: Option<Begin>,
    /// Compare SLOTS with the alternatives that the paper names, also when the network splits
    #[arg(long, conflicts_with_all = ["timing", "html", "csv", "hot_spot", "start"])]
    alternatives: bool,
    /// Fewer and shorter runs
    #[arg(long)]
    quick: bool,
    /// The number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive)]
    threads: Option<u64>,
    /// Write a report with all plots, as one page; this takes some more runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all measurements as comma-separated values, into this directory
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

impl Experiment {
    /// Makes all runs, and reports the results.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let wishes = self.wishes()?;
        if self.alternatives {
            let (rows, seconds) = self.run_all(wishes.comparison());
            ensure!(!rows.is_empty(), "there is nothing to compare: leave out --policy");
            report::compare(&rows, seconds, output)?;
            return Ok(Verdict::Holds);
        }
        let (authors, clean) = match self.timing {
            None => (true, true),
            Some(time) => (time == Time::Authors, time == Time::Clean),
        };
        let mut cases = wishes.tables(authors, clean);
        if self.html.is_some() {
            cases.extend(wishes.plots());
        } else if authors && clean && self.policy.is_empty() && self.wait.is_none() {
            cases.extend(wishes.judged());
        }
        ensure!(
            !cases.is_empty(),
            "there is nothing to run: that policy has no such timing; leave out --timing or --policy"
        );
        // The runs take long: what cannot be written is refused before them.
        if let Some(path) = &self.html {
            export::reserve(path)?;
        }
        if let Some(directory) = &self.csv {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot make the directory {}", directory.display()))?;
        }
        let (rows, seconds) = self.run_all(cases);
        report::show(&rows, seconds, output)?;
        if let Some(path) = &self.html {
            export::write(path, &report::page(&rows))?;
        }
        if let Some(directory) = &self.csv {
            for (name, text) in synod_experiment::report::files(&rows) {
                export::write(&directory.join(name), &text)?;
            }
        }
        Ok(Verdict::Holds)
    }

    fn wishes(&self) -> Result<Wishes> {
        let nodes = self.nodes.unwrap_or(32);
        let slots = self.slots.unwrap_or(768);
        ensure!((2..=LARGEST).contains(&nodes), "--nodes: a group has 2 to {LARGEST} members");
        ensure!(
            nodes <= slots && slots <= 10_000_000,
            "--slots: there must be one for each member at least, and 10 million at most"
        );
        let partition = self.partition.map(|(from, until, left)| {
            let left = left.unwrap_or((nodes as usize / 3).max(1));
            Partition { from, until, left }
        });
        ensure!(
            partition.is_none_or(|partition| partition.left < nodes as usize),
            "--partition: there must be a member on each side"
        );
        ensure!(
            partition.is_none_or(|partition| partition.from > 10 * nodes),
            "--partition: begin it after round {}, when all have joined",
            10 * nodes
        );
        ensure!(
            self.free_low.is_none_or(|low| low <= slots),
            "--free-low: not more than there are slots"
        );
        ensure!(self.seed.checked_add(1_000_000).is_some(), "--seed is too large");
        Ok(Wishes {
            nodes: self.nodes.map(|nodes| nodes as usize),
            slots: self.slots.map(|slots| slots as u32),
            rounds: self.rounds,
            load: self.load,
            low: self.free_low.map(|low| low as u32),
            lambda: self.lambda,
            lives: match self.lifetimes {
                Law::Program => Lives::Program,
                Law::InverseNormal => Lives::InverseNormal,
            },
            wait: self.wait,
            partition,
            hot_spot: self.hot_spot,
            latency: self.latency,
            start: self.start.map(|start| match start {
                Begin::Join => Start::AUTHORS,
                Begin::Steady => Start::Together,
            }),
            allocators: self.policy.clone(),
            quick: self.quick,
            seeds: self.seeds.unwrap_or(if self.quick { 2 } else { 3 }),
        })
    }

    /// The results of all cases, and the duration.
    fn run_all(&self, cases: Vec<Case>) -> (Vec<Row>, f64) {
        let runs: Vec<(usize, u64)> = cases
            .iter()
            .enumerate()
            .flat_map(|(index, case)| (0..case.seeds).map(move |seed| (index, self.seed + seed)))
            .collect();
        let mut progress = Progress::of(runs.len() as u64, "runs");
        let begun = |begun: u64| {
            let case = &cases[runs[begun as usize - 1].0];
            progress.at(begun, || case.allocator.title().to_owned());
        };
        let measured = in_order(runs.len() as u64, threads(self.threads), begun, |index| {
            let (case, seed) = runs[index as usize];
            run(&cases[case].settings, cases[case].allocator, seed, &|_| ())
        });
        let mut measured = measured.into_iter();
        let mut rows = Vec::new();
        for case in cases {
            let of_case: Vec<_> = measured.by_ref().take(case.seeds as usize).collect();
            let summary = Summary::of(&case.settings, &of_case);
            rows.push(Row { case, summary });
        }
        (rows, progress.finish())
    }
}

fn policy(text: &str) -> Result<Allocator, String> {
    let known = || ALLOCATORS.into_iter().chain(on_demand());
    known().find(|policy| policy.name() == text).ok_or_else(|| {
        let names: Vec<&str> = known().map(Allocator::name).collect();
        format!("there is no policy '{text}'; there are {}", names.join(", "))
    })
}

fn positive_number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 10.0);
    number.ok_or_else(|| format!("'{text}' is no load; write a share of the slots, as 0.857"))
}

fn lambda(text: &str) -> Result<(u64, u64), String> {
    let percent = |word: &str| {
        let number = word.parse::<f64>().ok().filter(|number| (0.01..=10.0).contains(number));
        number.map(|number| (number * 100.0).round() as u64)
    };
    let (least, most) = text.split_once(':').unwrap_or((text, text));
    match (percent(least), percent(most)) {
        (Some(least), Some(most)) if least <= most => Ok((least, most)),
        _ => Err(format!("'{text}' is no range of λ; write 0.5:0.8, from 0.01 to 10")),
    }
}

fn partition(text: &str) -> Result<(u64, u64, Option<usize>), String> {
    let numbers: Option<Vec<u64>> = text.split(':').map(|word| word.parse().ok()).collect();
    match numbers.as_deref() {
        Some([from, until]) if from < until => Ok((*from, *until, None)),
        Some([from, until, left]) if from < until && *left > 0 => {
            Ok((*from, *until, Some(*left as usize)))
        }
        _ => Err(format!("'{text}' is no partition; write 2000:4000, or 2000:4000:10")),
    }
}

fn hot_spot(text: &str) -> Result<HotSpot, String> {
    let (share, every) = text.split_once(':').unwrap_or((text, "0"));
    let share = share.parse::<f64>().ok().filter(|share| (0.0..1.0).contains(share));
    match (share, every.parse::<u64>()) {
        (Some(share), Ok(moves_every)) => Ok(HotSpot { share, moves_every }),
        _ => Err(format!("'{text}' is no hot spot; write 0.5, or 0.5:1000")),
    }
}
