//! How fast each algorithm of the catalogue is simulated, with all its judges on.
//!
//! `cargo bench --bench catalogue` prints the slowest five, `-- all` all of them, and `-- NAME`
//! one. The runs are long: a judge that looks at everything again at each step shows.

mod measure;

use measure::best;
use synod_core::card::Rounds;
use synod_protocols::{algorithms, which};
use synod_sim::{Options, Plan};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each algorithm has at least this many events, in one run or in several.
const EVENTS: u64 = 400_000;
const PROCESSES: usize = 5;
const ROUNDS: u32 = 2_000;
/// Events per CPU second.
const PROMISE: f64 = 500_000.0;
const SLOWEST: usize = 5;

fn main() {
    let named = std::env::args().skip(1).find(|argument| argument != "--bench");
    let (name, most) = match named.as_deref() {
        None => (None, SLOWEST),
        Some("all") => (None, usize::MAX),
        name => (name, 1),
    };
    let sound = algorithms().map(|which| which.card()).filter(|card| card.mutant.is_none());
    let wanted = sound.filter(|card| name.is_none_or(|name| card.answers_to(name)));
    let mut rates: Vec<_> = wanted.map(|card| (events_per_second(card.name), card.name)).collect();
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("\nSimulator: the slowest of the catalogue, {PROCESSES} processes, all judges on");
    for (rate, name) in rates.iter().take(most) {
        println!("  {name:<28} {:>6.2} M events/s", rate / 1e6);
    }
    let kept = if rates.iter().all(|(rate, _)| *rate >= PROMISE) { "kept" } else { "NOT KEPT" };
    println!("  promise 0.5 M events/s, each of {}: {kept}", rates.len());
}

/// Events per CPU second, in the best of several measurements.
fn events_per_second(name: &str) -> f64 {
    let (seconds, events) = best(&|| {
        let (mut events, mut seed) = (0, 1);
        while events < EVENTS {
            events += run(name, seed);
            seed += 1;
        }
        events
    });
    events as f64 / seconds
}

/// The number of events of one run.
fn run(name: &str, seed: u64) -> u64 {
    let mut options = Options::new(Plan::new(PROCESSES, Rounds::Times(ROUNDS)), seed);
    options.steps_at_most = EVENTS;
    let report = synod_drivers::simulate(which, name, options, None, &mut |_, _| {});
    let report = report.expect("it is in the catalogue").expect("the size fits");
    report.expect("nothing is written").meter.events
}
