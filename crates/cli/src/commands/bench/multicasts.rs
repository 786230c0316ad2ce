//! Every multicast: its speed when all members multicast, and the latency of a message.

use crate::about::About;
use crate::catalogue::entries;
use crate::options::shares;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::real::{self, On};
use crate::words;
use anyhow::Result;
use serde::Serialize;
use synod_core::Verdict;
use synod_core::card::{Load, Settings};
use synod_core::{Family, Setup, family::GroupMulticast};
use synod_draw::words::time_in_words;
use synod_net::Real;
use synod_sim::network::Delay;
use synod_sim::{Options, Plan};

/// The number of messages of an idle run,
const NOW_AND_THEN: u64 = 300;
/// and the time that each process waits before the next.
const THINK: Delay = Delay::Exponential(10_000);

/// One row of the table.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    /// The parameters that differ from their defaults.
    set: Settings,
    on: &'static str,
    multicasts_per_second: f64,
    /// The time until each other member delivers, when all multicast as fast as they can.
    p50_us: Option<u64>,
    p99_us: Option<u64>,
    /// The same in an idle run.
    idle_p50_us: Option<u64>,
    idle_p99_us: Option<u64>,
    bytes_per_multicast: f64,
    messages_per_multicast: f64,
    /// Messages that the network lost.
    lost: u64,
    /// Whether every property that the algorithm promises held.
    holds: Verdict,
}

/// Every multicast, measured.
pub(super) struct Multicasts {
    pub(super) n: usize,
    pub(super) requests: u64,
    pub(super) payload: u64,
    pub(super) runs: u64,
    /// Only these; all, if there are none.
    pub(super) only: Vec<String>,
    pub(super) on: Option<On>,
}

impl Multicasts {
    /// Measures.
    pub(super) fn perform(&self, output: &Output) -> Result<Verdict> {
        let towers = self.towers()?;
        let media = match self.on {
            Some(on) => vec![on],
            None => vec![On::Tcp, On::Udp],
        };
        let all = towers.len() * media.len();
        let mut progress = Progress::of(all as u64 * self.runs, "runs");
        let mut done = 0;
        let mut rows = Vec::new();
        for (about, set) in &towers {
            for on in &media {
                let mut runs = Vec::new();
                for seed in 1..=self.runs {
                    runs.push(self.run(about, set, *on, seed, Load::Saturated)?);
                    done += 1;
                    progress.at(done, || about.card.name.to_owned());
                }
                runs.sort_by_key(|run| run.facts.busy_us);
                let idle = self.run(about, set, *on, 1, Load::Any)?;
                rows.push(row(about, set, *on, &runs[runs.len() / 2], &idle));
            }
        }
        progress.finish();
        output.answer(&rows, || self.in_words(&rows))?;
        Ok(Verdict::Holds)
    }

    /// The cases: every multicast, with every layer below it that its card names.
    fn towers(&self) -> Result<Vec<(About, Settings)>> {
        let mut towers = Vec::new();
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        let sound = entries().into_iter().filter(|entry| entry.card.mutant.is_none());
        for entry in sound.filter(|entry| entry.family == GroupMulticast::NAME) {
            if !wanted(entry.card.name) {
                continue;
            }
            let about = About::find(entry.card.name)?;
            let over = |set: &Settings| set.iter().all(|(name, _)| *name == "over");
            let variants = entry.card.variants.iter().map(|variant| variant.set).filter(over);
            let usual: Settings = &[];
            towers.extend([usual].into_iter().chain(variants).map(|set| (about.clone(), set)));
        }
        Ok(towers)
    }

    /// One run: of all messages at full speed, or of a few now and then.
    fn run(&self, about: &About, set: &Settings, on: On, seed: u64, load: Load) -> Result<Real> {
        let requests = match load {
            Load::Saturated => self.requests,
            Load::Any | Load::Sequential => self.requests.min(NOW_AND_THEN),
        };
        let setup = Setup::new(self.n).with("payload", &self.payload.to_string());
        let setup = set.iter().fold(setup, |setup, (name, value)| setup.with(name, value));
        let rounds = shares(requests, &about.takers(&setup)?);
        let plan = Plan { setup, rounds, ..Plan::new(self.n, synod_core::card::Rounds::Times(0)) };
        let mut options = Options::new(plan, seed);
        options.load = load;
        options.think = THINK;
        options.network.latency = Delay::Constant(0);
        real::perform(&real::launch(on, about, options)?, None, &mut |_| {})
    }

    fn in_words(&self, rows: &[Row]) -> String {
        let header = [
            "",
            "on",
            "each second",
            "p50",
            "p99",
            "idle p50",
            "idle p99",
            "bytes",
            "messages",
            "lost",
            " ",
        ];
        let title = format!(
            "{} of {} bytes in a group of {}",
            words::count(self.requests, "multicast", "multicasts"),
            self.payload,
            self.n
        );
        let right = &header[2..10];
        output::heading(&title) + &output::table(&header, right, rows.iter().map(cells).collect())
    }
}

fn row(about: &About, set: &Settings, on: On, run: &Real, idle: &Real) -> Row {
    let (meter, facts) = (&run.report.meter, &run.facts);
    let multicasts = meter.operations.max(1) as f64;
    Row {
        algorithm: about.card.name,
        set,
        on: on.name(),
        multicasts_per_second: multicasts * 1e6 / facts.busy_us.max(1) as f64,
        p50_us: facts.latency.map(|latency| latency.p50_us),
        p99_us: facts.latency.map(|latency| latency.p99_us),
        idle_p50_us: idle.facts.latency.map(|latency| latency.p50_us),
        idle_p99_us: idle.facts.latency.map(|latency| latency.p99_us),
        bytes_per_multicast: facts.bytes as f64 / multicasts,
        messages_per_multicast: meter.messages as f64 / multicasts,
        lost: meter.lost,
        holds: run.report.verdict(),
    }
}

fn cells(row: &Row) -> Vec<String> {
    let settings = row.set.iter().map(|(name, value)| format!(" {name} {value}"));
    let time = |us: Option<u64>| us.map(time_in_words).unwrap_or_default();
    vec![
        format!("{}{}", row.algorithm, settings.collect::<String>()),
        row.on.to_owned(),
        words::grouped(row.multicasts_per_second.round() as u64),
        time(row.p50_us),
        time(row.p99_us),
        time(row.idle_p50_us),
        time(row.idle_p99_us),
        words::grouped(row.bytes_per_multicast.round() as u64),
        words::measured(row.messages_per_multicast),
        words::grouped(row.lost),
        output::sign(row.holds).to_owned(),
    ]
}
