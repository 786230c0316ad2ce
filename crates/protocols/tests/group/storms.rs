//! One run in a storm for each seed: of another size, network and load each time.

use synod_core::card::Rounds;
use synod_core::family::Known as _;
use synod_core::{Algorithm, Setup};
use synod_sim::faults::Fault;
use synod_sim::network::{Chance, Delay, chance};
use synod_sim::storm::Storm;
use synod_sim::trace::Tracer;
use synod_sim::{Ended, Judged, Options, Plan, Report, Simulator};

/// The time in which the engine notices that a member is silent, in microseconds.
const NOTICE_US: u64 = 100_000;

/// The number of processes in the run with this seed: from 3 to 7.
pub(crate) fn size(seed: u64) -> usize {
    3 + (seed % 5) as usize
}

/// The number of faults in the run with this seed.
fn moves(seed: u64) -> u32 {
    let few = 2 + (seed / 7 % 12) as u32;
    if is_deadly(seed) { 4 * few } else { few }
}

/// Whether every node dies and starts again several times in the run with this seed, one after the
/// other or together.
pub(crate) fn is_deadly(seed: u64) -> bool {
    seed % 4 == 2
}

fn options(seed: u64, setup: Setup, rounds: u32) -> Options {
    let plan = Plan { judged: Judged::All, setup, ..Plan::new(0, Rounds::Times(rounds)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = [
        Delay::Uniform(1_000, 10_000),
        Delay::Exponential(5_000),
        Delay::HeavyTailed(2_000),
        Delay::Constant(3_000),
    ][(seed / 5 % 4) as usize];
    options.network.reordering = 0.1 * (seed / 20 % 3) as f64;
    options.network.loss = 0.05 * (seed / 60 % 3) as f64;
    options.network.duplication = 0.1 * (seed / 180 % 2) as f64;
    // Now and then all members send without a pause; else their requests last about as long as the
    // storm.
    let long = NOTICE_US * u64::from(moves(seed)) / u64::from(rounds);
    options.think = Delay::Exponential(if seed.is_multiple_of(11) { 2_000 } else { long });
    options.run_for_us = Some(0);
    // A run that takes longer does not end.
    options.patience = 400_000;
    options.steps_at_most = 4_000_000;
    options
}

/// Whether all is mended in the end. Every eighth storm leaves the parts apart.
pub(crate) fn heals(seed: u64) -> bool {
    seed % 8 != 5
}

/// A run in a storm. `more` gets the time at which the storm ends, and may add faults.
pub(crate) fn run<A: Algorithm>(
    seed: u64,
    setup: Setup,
    rounds: u32,
    tracer: Option<Tracer<'_>>,
    more: impl FnOnce(u64, &mut Chance) -> Vec<Fault<A::Input>>,
) -> Report {
    let (n, mut chance) = (setup.n, chance(seed));
    let storm = Storm {
        // Every other storm begins before the first view of all.
        from_us: 200_000 * (seed / 2 % 2),
        moves: moves(seed),
        notice_us: NOTICE_US,
        crashes: match seed {
            _ if is_deadly(seed) => 11,
            _ if seed.is_multiple_of(3) => 0,
            _ => 4,
        },
        heals: heals(seed),
    };
    let run = Simulator::of::<A>(options(seed, setup, rounds), tracer);
    let mut run = run.expect("the setup is valid");
    let faults = storm.draw(n, &mut chance);
    let over_us = faults.last().map_or(0, |fault| fault.at_us);
    for fault in faults.into_iter().chain(more(over_us, &mut chance)) {
        run.at(fault.map(A::Family::any_input));
    }
    run.run(|_, _| {}).expect("nothing is written")
}

/// The reason why a run is broken, if it is.
pub(crate) fn wrong(report: &Report) -> Option<String> {
    let violation = report.violations.first().map(|(violation, _)| format!("{violation:?}"));
    violation.or((report.ended == Ended::Cut).then(|| "it does not end".to_owned()))
}

/// Runs the seeds below `seeds`, on all hardware threads, and panics if a run is broken.
pub(crate) fn all_hold(seeds: u64, broken: impl Fn(u64) -> Option<String> + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first| (first..seeds).step_by(threads).filter_map(&broken).collect::<Vec<_>>();
    let found: Vec<String> = std::thread::scope(|scope| {
        let share = &share;
        let firsts = 0..threads as u64;
        let shares: Vec<_> = firsts.map(|first| scope.spawn(move || share(first))).collect();
        shares.into_iter().flat_map(|share| share.join().expect("no run panics")).collect()
    });
    let some = found[..found.len().min(10)].join("\n");
    assert!(found.is_empty(), "{} broken:\n{some}", found.len());
}
