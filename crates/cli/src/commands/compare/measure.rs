//! Simulated runs, made to be compared.

use crate::about::About;
use crate::simulate::simulate;
use crate::words;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use synod_core::card::{Load, Rounds, Settings};
use synod_core::family::Mark;
use synod_core::{ProcessId, SetupError};
use synod_sim::count::Summary;
use synod_sim::network::Delay;
use synod_sim::trace::{Event, Sink, Tracer, What};
use synod_sim::{Options, Plan, Report};

/// The latency of each message.
pub(super) const HOP_US: u64 = 1_000;
/// The approximate number of requests of all processes together.
const REQUESTS: usize = 140;
/// A run that is not over by then never will be.
const STEPS_AT_MOST: u64 = 200_000;

/// An algorithm in a comparison.
pub(super) struct Contender {
    pub(super) about: About,
    /// Its parameters.
    pub(super) set: Settings,
}

impl Contender {
    /// Its parameters, in words.
    pub(super) fn setting(&self) -> String {
        words::settings(self.set)
    }
}

/// The least, the mean and the most that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Number {
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) max: f64,
}

impl Number {
    /// In units of `scale`.
    pub(super) fn of(summary: &Summary, scale: u64) -> Option<Number> {
        let scale = scale as f64;
        let mean = summary.mean()? / scale;
        Some(Number { min: summary.min as f64 / scale, mean, max: summary.max as f64 / scale })
    }

    pub(super) fn one(value: f64) -> Number {
        Number { min: value, mean: value, max: value }
    }

    /// Those of several runs together.
    pub(super) fn of_all(numbers: &[Number]) -> Option<Number> {
        let count = numbers.len() as f64;
        let first = *numbers.first()?;
        let sum: f64 = numbers.iter().map(|number| number.mean).sum();
        let all = numbers.iter().fold(first, |all, one| Number {
            min: all.min.min(one.min),
            max: all.max.max(one.max),
            ..all
        });
        Some(Number { mean: sum / count, ..all })
    }

    /// `2`, or `0..5`.
    pub(super) fn in_words(self) -> String {
        match (words::measured(self.min), words::measured(self.max)) {
            (min, max) if min == max => min,
            (min, max) => format!("{min}..{max}"),
        }
    }
}

/// Counts the messages that each process sends and receives, and those that follow one another.
#[derive(Default)]
pub(super) struct Tally {
    handled: Vec<u64>,
    /// The longest chain of messages that ends at each process.
    chains: Vec<u64>,
    /// The length of the chain that each message ends.
    sent: BTreeMap<u64, u64>,
    /// The longest chain before an answer to an application.
    rounds: u64,
}

impl Tally {
    /// The share of the busiest process, in percent.
    pub(super) fn busiest(&self) -> Option<f64> {
        let all: u64 = self.handled.iter().sum();
        let most = *self.handled.iter().max()?;
        (all > 0).then(|| most as f64 * 100.0 / all as f64)
    }

    /// The number of messages that followed one another before the last answer.
    pub(super) fn rounds(&self) -> Option<f64> {
        (self.rounds > 0).then_some(self.rounds as f64)
    }
}

impl Sink for Tally {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        let Some(at) = event.process.map(ProcessId::index) else { return Ok(()) };
        let processes = self.handled.len().max(at + 1);
        self.handled.resize(processes, 0);
        self.chains.resize(processes, 0);
        match (event.what, event.message) {
            (What::Send, Some(message)) => {
                self.handled[at] += 1;
                self.sent.insert(message, self.chains[at] + 1);
            }
            (What::Receive, Some(message)) => {
                self.handled[at] += 1;
                let chain = self.sent.get(&message).copied().unwrap_or(0);
                self.chains[at] = self.chains[at].max(chain);
            }
            (What::Output, _) if event.mark != Mark::None => {
                self.rounds = self.rounds.max(self.chains[at]);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A run, beside the usual one.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) load: Load,
    /// The requests of each process; none: about as many as [`REQUESTS`] together.
    pub(super) rounds: Option<u32>,
    /// Whether the network carries a multicast once for all receivers.
    pub(super) multicast: bool,
    /// Whether messages take different times.
    pub(super) random: bool,
    /// The shortest run of an algorithm that never falls silent.
    pub(super) run_for_us: Option<u64>,
}

impl Setting {
    pub(super) const fn under(load: Load) -> Self {
        Setting { load, rounds: None, multicast: false, random: false, run_for_us: None }
    }
}

/// One algorithm, in groups of one size, over several seeds.
pub(super) struct Measure<'c> {
    pub(super) of: &'c Contender,
    pub(super) n: usize,
    pub(super) seeds: u32,
}

impl Measure<'_> {
    /// What `number` finds in the runs of all seeds; none if no such group is possible, or there is
    /// nothing to find.
    pub(super) fn number(
        &self,
        setting: Setting,
        number: impl Fn(&Report, &Tally) -> Option<Number>,
    ) -> Result<Option<Number>> {
        let mut found = Vec::new();
        for seed in 1..=u64::from(self.seeds) {
            let Some((report, tally)) = self.run(setting, seed)? else { return Ok(None) };
            found.extend(number(&report, &tally));
        }
        Ok(Number::of_all(&found))
    }

    /// One run; none if no such group is possible.
    pub(super) fn run(&self, setting: Setting, seed: u64) -> Result<Option<(Report, Tally)>> {
        let many = (REQUESTS / self.n).clamp(2, 20) as u32;
        let rounds = Rounds::Times(setting.rounds.unwrap_or(many));
        let mut plan = Plan::new(self.n, rounds);
        plan.setup = plan.setup.with_all(self.of.set);
        plan.multicast = setting.multicast || self.of.about.card.multicast;
        let mut options = Options::new(plan, seed);
        options.load = setting.load;
        options.disk = Delay::Constant(0);
        options.run_for_us = setting.run_for_us;
        options.steps_at_most = STEPS_AT_MOST;
        if !setting.random {
            options.network.latency = Delay::Constant(HOP_US);
        }
        let mut tally = Tally::default();
        let tracer = Tracer::new(self.n, vec![&mut tally]);
        match simulate(&self.of.about, options, Some(tracer), &mut |_, _| ()) {
            Ok(report) => Ok(Some((report, tally))),
            Err(error) => match error.downcast::<SetupError>() {
                Ok(_) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}
