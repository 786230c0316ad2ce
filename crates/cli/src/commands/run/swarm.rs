//! One run for each of many seeds, on all cores. The result does not depend on their number.

use super::report::{CostJson, costs_in_words};
use crate::about::{About, Claim};
use crate::output::{self, BOLD, DIM, Output};
use crate::parallel::in_order;
use crate::progress::Progress;
use crate::simulate::simulate;
use crate::words;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use synod_core::Verdict;
use synod_sim::count::Measured;
use synod_sim::{Ended, Options};

/// The number of runs before their results are merged, in order.
const BATCH: u64 = 1_024;
/// The number of failing seeds in the report, the first ones.
const TOLD: usize = 1_000;
/// The number of them that are shown to people.
const TOLD_IN_WORDS: usize = 10;

/// Many runs that differ only in their seeds.
pub(crate) struct Swarm<'a> {
    /// The algorithm.
    pub(crate) about: &'a About,
    /// The options common to all runs.
    pub(crate) options: &'a Options,
    /// The first seed.
    pub(crate) first: u64,
    /// The number of seeds.
    pub(crate) seeds: u64,
    /// The number of threads.
    pub(crate) threads: usize,
}

/// The results kept of one run.
struct Harvest {
    seed: u64,
    violated: Vec<&'static str>,
    undecided: Vec<&'static str>,
    ended: Ended,
    events: u64,
    costs: Vec<(Measured, Verdict)>,
}

#[derive(Serialize)]
struct Told {
    algorithm: &'static str,
    n: usize,
    seed: u64,
    seeds: u64,
    events: u64,
    failed: u64,
    stalled: u64,
    cut: u64,
    violations: BTreeMap<&'static str, u64>,
    /// The number of runs that end too early to decide on each property.
    undecided: BTreeMap<&'static str, u64>,
    failing: Vec<Failing>,
    costs: Vec<CostJson>,
    /// Those of `violations`, explained.
    #[serde(skip)]
    claims: Vec<Claim>,
}

#[derive(Serialize)]
struct Failing {
    seed: u64,
    property: &'static str,
    properties: Vec<&'static str>,
    command: String,
}

/// A cost over all runs so far.
struct Spread {
    all: Measured,
    agrees: Verdict,
    sum: f64,
    runs: u64,
}

impl Swarm<'_> {
    /// Makes all runs.
    pub(crate) fn perform(
        &self,
        command: &dyn Fn(u64) -> String,
        output: &Output,
    ) -> Result<Verdict> {
        let plan = &self.options.plan;
        let (judged, not_judged) = self.about.judged(&plan.judged, &plan.setup);
        let ids = || judged.iter().chain(&not_judged).map(|claim| (claim.id, 0));
        let mut told = Told {
            algorithm: self.about.card.name,
            n: self.options.plan.setup.n,
            seed: self.first,
            seeds: self.seeds,
            events: 0,
            failed: 0,
            stalled: 0,
            cut: 0,
            violations: ids().collect(),
            undecided: ids().collect(),
            failing: Vec::new(),
            costs: Vec::new(),
            claims: judged.iter().chain(&not_judged).copied().collect(),
        };
        let mut spreads: Vec<Spread> = Vec::new();
        let mut progress = Progress::of(self.seeds, "runs");
        let mut done = 0;
        while done < self.seeds {
            let batch = BATCH.min(self.seeds - done);
            let begun = |begun| progress.at(done + begun, String::new);
            let harvests =
                in_order(batch, self.threads, begun, |nth| self.run(self.first + done + nth));
            for harvest in harvests {
                let harvest = harvest?;
                told.take(&harvest, command);
                harvest.costs.iter().for_each(|cost| take_cost(&mut spreads, cost));
            }
            done += batch;
        }
        let seconds = progress.finish();
        told.costs = spreads.iter().map(Spread::json).collect();
        output.answer(&told, || told.in_words())?;
        if !output.is_json() {
            super::speed(told.events, seconds);
        }
        Ok(Verdict::on_all(told.violations.keys().map(|id| told.verdict_on(id))))
    }

    fn run(&self, seed: u64) -> Result<Harvest> {
        let options = Options { seed, ..self.options.clone() };
        let report = simulate(self.about, options, None, &mut |_, _| ())?;
        Ok(Harvest {
            seed,
            violated: report.violations.iter().map(|(violation, _)| violation.property).collect(),
            undecided: report.undecided.iter().map(|(property, _)| *property).collect(),
            ended: report.ended,
            events: report.meter.events,
            costs: report.costs.iter().map(|c| (*c, report.verdict_on_cost(c))).collect(),
        })
    }
}

fn take_cost(spreads: &mut Vec<Spread>, &(cost, agrees): &(Measured, Verdict)) {
    let known = spreads.iter_mut().find(|spread| spread.all.cost.name == cost.cost.name);
    match known {
        None => spreads.push(Spread { all: cost, agrees, sum: cost.mean, runs: 1 }),
        Some(spread) => {
            spread.all.min = spread.all.min.min(cost.min);
            spread.all.max = spread.all.max.max(cost.max);
            spread.agrees = spread.agrees.max(agrees);
            spread.sum += cost.mean;
            spread.runs += 1;
        }
    }
}

impl Spread {
    fn json(&self) -> CostJson {
        let mean = self.sum / self.runs as f64;
        CostJson::new(&Measured { mean, ..self.all }, self.agrees)
    }
}

impl Told {
    /// The verdict of all runs together on one of the judged properties.
    fn verdict_on(&self, id: &str) -> Verdict {
        match (self.violations.get(id), self.undecided.get(id)) {
            (Some(1..), _) => Verdict::Violated,
            (_, Some(1..)) => Verdict::Undecided,
            _ => Verdict::Holds,
        }
    }

    fn take(&mut self, harvest: &Harvest, command: &dyn Fn(u64) -> String) {
        self.events += harvest.events;
        self.stalled += u64::from(harvest.ended == Ended::Stalled);
        self.cut += u64::from(harvest.ended == Ended::Cut);
        for open in &harvest.undecided {
            *self.undecided.entry(open).or_default() += 1;
        }
        let Some(&property) = harvest.violated.first() else { return };
        self.failed += 1;
        for violated in &harvest.violated {
            *self.violations.entry(violated).or_default() += 1;
        }
        if self.failing.len() < TOLD {
            let (seed, properties) = (harvest.seed, harvest.violated.clone());
            self.failing.push(Failing { seed, property, properties, command: command(seed) });
        }
    }

    fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}\n", self.algorithm);
        let runs = words::count(self.seeds, "run", "runs");
        let events = words::count(self.events, "event", "events");
        let seeds = format!("seeds {} to {}", self.seed, self.seed + self.seeds - 1);
        text += &format!("  {runs} of {} processes, {seeds}: {events}\n\n", self.n);
        let row = |id: &&str| {
            let runs = |counts: &BTreeMap<&str, u64>| words::count(counts[id], "run", "runs");
            let verdict = self.verdict_on(id);
            let words = match verdict {
                Verdict::Holds => "holds in every run".to_owned(),
                Verdict::Violated => format!("violated in {}", runs(&self.violations)),
                Verdict::Undecided => format!("not decided in {}", runs(&self.undecided)),
            };
            vec![output::sign(verdict).to_owned(), (*id).to_owned(), words]
        };
        text += &output::table(&["", "", ""], &[], self.violations.keys().map(row).collect());
        text += &output::legend(self.claims.iter().map(Claim::sentence));
        text += &costs_in_words(&self.costs);
        text + &self.failing_in_words()
    }

    fn failing_in_words(&self) -> String {
        if self.failing.is_empty() {
            return String::new();
        }
        let mut text = output::heading("To see them");
        for failing in self.failing.iter().take(TOLD_IN_WORDS) {
            text += &format!("  {}  {DIM}# {}{DIM:#}\n", failing.command, failing.property);
        }
        if self.failed > TOLD_IN_WORDS as u64 {
            let more = words::grouped(self.failed - TOLD_IN_WORDS as u64);
            text += &format!("  {DIM}and {more} more{DIM:#}\n");
        }
        text
    }
}
