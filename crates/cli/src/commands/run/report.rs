//! The results of one run, for people and for programs.

use super::real::Real;
use crate::about::{About, Claim};
use crate::output::{self, BOLD, DIM};
use crate::words;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use synod_core::{Bounds, Verdict};
use synod_draw::words::time_in_words;
use synod_net::Facts;
use synod_sim::count::{Measured, Summary};
use synod_sim::{Ended, Options, Report};

/// The report on a run.
#[derive(Serialize)]
pub(crate) struct Told {
    algorithm: &'static str,
    family: &'static str,
    n: usize,
    seed: u64,
    requests: u64,
    ended: &'static str,
    steps: u64,
    events: u64,
    time_us: u64,
    operations: u64,
    verdicts: Vec<VerdictJson>,
    /// Properties that were asked for but cannot be judged in a group of this size.
    not_judged: Vec<&'static str>,
    messages: Messages,
    lost: u64,
    accusations: u64,
    costs: Vec<CostJson>,
    entry_us: Option<Times>,
    relay_us: Option<Times>,
    digest: Option<String>,
    #[serde(flatten)]
    real: Option<Real>,
    /// The number of requests that the applications made.
    #[serde(skip)]
    asked: u64,
    #[serde(skip)]
    title: &'static str,
    #[serde(skip)]
    operation: &'static str,
}

#[derive(Serialize)]
struct VerdictJson {
    property: &'static str,
    holds: Verdict,
    event: Option<u64>,
    /// Why it is violated, or why that is not decided.
    because: Option<String>,
    #[serde(skip)]
    claim: Claim,
}

#[derive(Serialize)]
struct Messages {
    total: u64,
    by_type: BTreeMap<&'static str, u64>,
    per_operation: Option<f64>,
}

/// A cost on the card, measured.
#[derive(Serialize)]
pub(crate) struct CostJson {
    /// The counted quantity.
    pub(crate) name: &'static str,
    /// The formula.
    pub(crate) formula: &'static str,
    /// The mean.
    pub(crate) measured: f64,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
    /// The value of the formula: a number, or a range.
    pub(crate) expected: Expected,
    /// Whether every measurement agrees with the formula.
    pub(crate) agrees: Verdict,
    #[serde(skip)]
    bounds: Bounds,
}

/// The value of a formula: a number, or a range.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Expected {
    /// Just this.
    Exactly(f64),
    /// From here to there, if there is a limit.
    Range {
        /// No less.
        min: f64,
        /// No more.
        max: Option<f64>,
    },
}

impl From<Bounds> for Expected {
    fn from(bounds: Bounds) -> Self {
        match bounds.exact() {
            Some(value) => Expected::Exactly(value),
            None => Expected::Range { min: bounds.min, max: bounds.max },
        }
    }
}

impl CostJson {
    /// A measured cost.
    pub(crate) fn new(measured: &Measured, agrees: Verdict) -> Self {
        CostJson {
            name: measured.cost.name,
            formula: measured.cost.formula,
            measured: measured.mean,
            min: measured.min,
            max: measured.max,
            expected: measured.expected.into(),
            agrees,
            bounds: measured.expected,
        }
    }

    /// As a row of a table.
    pub(crate) fn row(&self) -> Vec<String> {
        let value = words::bounds(self.bounds);
        let formula = match self.formula == value {
            true => value,
            false => format!("{} = {value}", self.formula),
        };
        vec![
            self.name.to_owned(),
            words::measured(self.min),
            words::measured(self.measured),
            words::measured(self.max),
            formula,
            output::sign(self.agrees).to_owned(),
        ]
    }
}

/// The table of measured costs.
pub(crate) fn costs_in_words(costs: &[CostJson]) -> String {
    if costs.is_empty() {
        return String::new();
    }
    let header = ["", "min", "mean", "max", "formula", " "];
    let rows = costs.iter().map(CostJson::row).collect();
    output::heading("Costs") + &output::table(&header, &["min", "mean", "max"], rows)
}

#[derive(Serialize)]
struct Times {
    min: u64,
    mean: f64,
    max: u64,
}

impl Times {
    fn new(summary: &Summary) -> Option<Self> {
        let mean = summary.mean()?;
        Some(Times { min: summary.min, mean, max: summary.max })
    }

    fn row(&self, name: &str) -> Vec<String> {
        let times = [self.min, self.mean.round() as u64, self.max].map(time_in_words);
        [name.to_owned()].into_iter().chain(times).collect()
    }
}

impl Told {
    /// The report on this run.
    pub(crate) fn new(
        about: &About,
        options: &Options,
        requests: u64,
        report: &Report,
    ) -> Result<Self> {
        let n = options.plan.setup.n;
        let (judged, not_judged) = about.judged(&options.plan.judged, &options.plan.setup);
        let meter = &report.meter;
        let operations = meter.operations;
        let cost = |cost: &Measured| CostJson::new(cost, report.verdict_on_cost(cost));
        Ok(Told {
            algorithm: about.card.name,
            family: about.family,
            n,
            seed: options.seed,
            requests,
            ended: match report.ended {
                Ended::Quiet => "quiet",
                Ended::Stalled => "stalled",
                Ended::Cut => "cut",
            },
            steps: report.steps,
            events: meter.events,
            time_us: report.time_us,
            operations,
            not_judged: not_judged.iter().map(|claim| claim.id).collect(),
            verdicts: judged.into_iter().chain(not_judged).map(|c| verdict(c, report)).collect(),
            messages: Messages {
                total: meter.messages,
                by_type: meter.by_kind(),
                per_operation: (operations > 0).then(|| meter.messages as f64 / operations as f64),
            },
            lost: meter.lost,
            accusations: meter.accusations,
            costs: report.costs.iter().map(cost).collect(),
            entry_us: Times::new(&meter.entry_us),
            relay_us: Times::new(&meter.relay_us),
            digest: None,
            real: None,
            asked: meter.requests,
            title: about.card.title,
            operation: about.operation,
        })
    }

    /// The same with the digest of the trace.
    pub(crate) fn with_digest(mut self, digest: Option<String>) -> Self {
        self.digest = digest;
        self
    }

    /// The same with the facts of a run on a real network.
    pub(crate) fn with_facts(mut self, facts: Option<&Facts>) -> Self {
        self.real = facts.map(|facts| Real::new(facts, self.operations, self.messages.total));
        self
    }

    /// For people.
    pub(crate) fn in_words(&self) -> String {
        let mut text = format!("\n{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}\n", self.algorithm, self.title);
        if self.asked > 0 && self.operations == 0 {
            text += &output::paragraph("  ", &self.nothing());
        }
        text += &output::paragraph("  ", &self.summary());
        text.push('\n');
        let rows = self.verdicts.iter().map(verdict_row).collect();
        text += &output::table(&["", "", ""], &[], rows);
        text += &self.messages_in_words();
        text += &costs_in_words(&self.costs);
        text += &self.times_in_words();
        text += &self.real.as_ref().map_or_else(String::new, Real::in_words);
        if let Some(digest) = &self.digest {
            text += &format!("\n  trace digest {digest}\n");
        }
        text
    }

    fn nothing(&self) -> String {
        format!(
            "Nothing was fulfilled: no {} came of {}. The verdicts below say little.",
            self.operation,
            words::count(self.asked, "request", "requests"),
        )
    }

    fn summary(&self) -> String {
        let ended = match self.ended {
            "quiet" => "it ended when all was quiet",
            "stalled" => "it was ended because nothing more was fulfilled",
            _ => match self.real {
                None => "it was cut off at the limit of steps",
                Some(_) => "it was cut off at the limit of time",
            },
        };
        let time = if self.real.is_some() { "real" } else { "simulated" };
        format!(
            "{}, {}, seed {}: {}; {} in the trace, {} of {time} time; {ended}.",
            words::count(self.n as u64, "process", "processes"),
            words::count(self.requests, "request", "requests"),
            self.seed,
            words::count(self.operations, self.operation, &words::plural(self.operation)),
            words::count(self.events, "event", "events"),
            time_in_words(self.time_us),
        )
    }

    fn messages_in_words(&self) -> String {
        let per = |count: u64| match self.operations {
            0 => String::new(),
            operations => words::measured(count as f64 / operations as f64),
        };
        let row = |kind: &str, count: u64| vec![kind.to_owned(), words::grouped(count), per(count)];
        let kinds = self.messages.by_type.iter();
        let mut rows: Vec<_> = kinds.map(|(kind, count)| row(kind, *count)).collect();
        rows.push(row("all", self.messages.total));
        if self.lost > 0 {
            rows.push(row("lost", self.lost));
        }
        if self.accusations > 0 {
            rows.push(row("accusations", self.accusations));
        }
        let per_operation = format!("per {}", self.operation);
        let header = ["", "total", per_operation.as_str()];
        output::heading("Messages") + &output::table(&header, &header[1..], rows)
    }

    fn times_in_words(&self) -> String {
        let times = [(self.operation, &self.entry_us), ("relay", &self.relay_us)];
        let rows: Vec<_> =
            times.into_iter().filter_map(|(name, times)| Some(times.as_ref()?.row(name))).collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["", "min", "mean", "max"];
        output::heading("Times") + &output::table(&header, &header[1..], rows)
    }
}

fn verdict(claim: Claim, report: &Report) -> VerdictJson {
    let found = report.violations.iter().find(|(violation, _)| violation.property == claim.id);
    let open = report.undecided.iter().find(|(property, _)| *property == claim.id);
    let why = found.map(|(violation, _)| &violation.because).or(open.map(|(_, why)| why));
    VerdictJson {
        property: claim.id,
        holds: report.verdict_on(claim.id),
        event: found.map(|(_, event)| *event),
        because: why.cloned(),
        claim,
    }
}

fn verdict_row(verdict: &VerdictJson) -> Vec<String> {
    let name = verdict.claim.title();
    let mut words = verdict.claim.statement.to_owned();
    match (verdict.event, &verdict.because) {
        (Some(event), Some(because)) => {
            words += &format!("\nviolated at event {event}: {because}");
        }
        (None, Some(because)) => words += &format!("\nnot decided: {because}"),
        (_, None) => {}
    }
    vec![output::sign(verdict.holds).to_owned(), name, words]
}
