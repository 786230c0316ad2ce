//! Every replicated log under a key-value store: commands per second and their latency, beside the
//! least time that the machine needs.

use crate::about::About;
use crate::catalogue::entries;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::real::{self, On};
use crate::words;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use synod_core::Verdict;
use synod_core::card::{Crashes, Load, Rounds};
use synod_core::family::Replication;
use synod_core::{Family, Setup};
use synod_draw::words::time_in_words;
use synod_net::{Baseline, Real};
use synod_sim::network::Delay;
use synod_sim::{Judged, Options, Plan};

/// The number of requests of one client,
const REQUESTS: u64 = 2_000;
/// and of each further one.
const FOR_EACH_MORE: u64 = 200;
/// The number of keys that they write.
const KEYS: &str = "1000";

/// Every replicated log, measured.
pub(super) struct Stores {
    pub(super) n: Option<usize>,
    pub(super) requests: Option<u64>,
    pub(super) runs: u64,
    /// Only these; all, if there are none.
    pub(super) only: Vec<String>,
    pub(super) clients: Vec<u64>,
}

/// The case of one row.
#[derive(Clone, Copy)]
struct Case {
    n: usize,
    clients: u64,
    fsync: bool,
}

/// One row of the table.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    processes: usize,
    clients: u64,
    fsync: bool,
    commands_per_second: f64,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
    /// The least that the machine needed for one command at that time: a round trip, and a sync.
    floor_us: u64,
    messages_per_command: f64,
    /// Whether every promise held, linearizability above all.
    holds: Verdict,
    notes: Vec<String>,
}

impl Stores {
    /// Measures.
    pub(super) fn perform(&self, output: &Output) -> Result<Verdict> {
        let sound = entries().into_iter().filter(|entry| entry.card.mutant.is_none());
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        let stores = sound.filter(|entry| entry.family == Replication::NAME);
        let names: Vec<&str> =
            stores.map(|entry| entry.card.name).filter(|name| wanted(name)).collect();
        ensure!(!names.is_empty(), "there is no such replicated log; 'synod list' shows them");
        let all = names.len() * self.clients.len() * 2;
        let mut progress = Progress::of(all as u64 * self.runs, "runs");
        let mut rows = Vec::new();
        for name in names {
            let about = About::find(name)?;
            let n = self.n.unwrap_or(usual(&about));
            for fsync in [true, false] {
                for clients in &self.clients {
                    let case = Case { n, clients: spread(*clients, n), fsync };
                    rows.push(self.row(&about, case)?);
                    let done = rows.len() as u64 * self.runs;
                    progress.at(done, || about.card.name.to_owned());
                }
            }
        }
        progress.finish();
        output.answer(&rows, || in_words(&rows))?;
        Ok(Verdict::on_all(rows.iter().map(|row| row.holds)))
    }

    /// The run with the median speed, and the lowest floor that was seen beside the runs.
    fn row(&self, about: &About, case: Case) -> Result<Row> {
        let mut runs = Vec::new();
        let mut floor_us = u64::MAX;
        for seed in 1..=self.runs {
            let floor =
                Baseline::measure().context("the speed of this machine cannot be measured")?;
            let sync_us = if case.fsync { floor.sync_us } else { 0 };
            floor_us = floor_us.min(floor.round_trip_us + sync_us);
            let run = self.run(about, case, seed)?;
            runs.push((per_second(&run), run));
        }
        runs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let holds = Verdict::on_all(runs.iter().map(|(_, run)| run.report.verdict()));
        let (commands_per_second, run) = runs.swap_remove(runs.len() / 2);
        let open =
            run.report.undecided.into_iter().map(|(property, why)| format!("{property}: {why}"));
        let Case { n, clients, fsync } = case;
        let commands = run.report.meter.operations.max(1) as f64;
        Ok(Row {
            algorithm: about.card.name,
            processes: n,
            clients,
            fsync,
            commands_per_second,
            p50_us: run.facts.latency.map(|latency| latency.p50_us),
            p99_us: run.facts.latency.map(|latency| latency.p99_us),
            floor_us,
            messages_per_command: run.report.meter.messages as f64 / commands,
            holds,
            notes: run.facts.notes.into_iter().chain(open).collect(),
        })
    }

    /// Clients that put one value after the other, as fast as they are answered.
    fn run(&self, about: &About, Case { n, clients, fsync }: Case, seed: u64) -> Result<Real> {
        let requests =
            self.requests.unwrap_or(REQUESTS + (clients - 1) * FOR_EACH_MORE).max(clients);
        let setup = Setup::new(n).with("operations", "put").with("keys", KEYS);
        let (setup, askers) = match clients {
            1 if about.card.parameters.iter().any(|known| known.name == "standing") => {
                (setup.with("askers", "p0").with("standing", "p0"), 1)
            }
            1 => (setup.with("askers", "p0"), 1),
            many => (setup.with("clients", &(many / n as u64).to_string()), n as u64),
        };
        let each = Rounds::Times(u32::try_from(requests / askers).unwrap_or(u32::MAX));
        // Invariants read whole logs at every step: in a run of this length, that would take hours.
        let promises = about.card.promises.iter().map(|id| (*id).to_owned());
        let judged = Judged::Only(promises.collect());
        let plan = Plan { setup, judged, ..Plan::new(n, each) };
        let mut options = Options::new(plan, seed);
        options.load = Load::Saturated;
        options.network.latency = Delay::Constant(0);
        let mut launch = real::launch(On::Tcp, about, options)?;
        launch.fsync = fsync;
        real::perform(&launch, None, &mut |_| {})
    }
}

/// The fewest processes that survive the death of one.
fn usual(about: &About) -> usize {
    if about.card.tolerates.crashes == Crashes::Third { 4 } else { 3 }
}

/// Clients are at all processes, and equally many at each; a single client is at p0, which leads.
fn spread(clients: u64, n: usize) -> u64 {
    match clients {
        1 => 1,
        many => (many / n as u64).max(1) * n as u64,
    }
}

/// From the first answer to the last: the leader is known by then.
fn per_second(run: &Real) -> f64 {
    let (answers, us) = run.facts.pace;
    answers as f64 * 1e6 / us.max(1) as f64
}

fn in_words(rows: &[Row]) -> String {
    let header = [
        "",
        "processes",
        "clients",
        "fsync",
        "each second",
        "p50",
        "p99",
        "floor",
        "messages",
        " ",
    ];
    let title = "Puts to a replicated store, as fast as they are answered";
    let mut text = output::heading(title)
        + &output::table(&header, &header[1..9], rows.iter().map(cells).collect());
    for note in rows.iter().flat_map(|row| &row.notes) {
        text += &format!("  {note}\n");
    }
    text
}

fn cells(row: &Row) -> Vec<String> {
    let time = |us: Option<u64>| us.map(time_in_words).unwrap_or_default();
    vec![
        row.algorithm.to_owned(),
        row.processes.to_string(),
        row.clients.to_string(),
        if row.fsync { "yes" } else { "no" }.to_owned(),
        words::grouped(row.commands_per_second.round() as u64),
        time(row.p50_us),
        time(row.p99_us),
        time_in_words(row.floor_us),
        words::measured(row.messages_per_command),
        output::sign(row.holds).to_owned(),
    ]
}
