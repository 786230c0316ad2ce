//! One run in a storm for each seed: of another size, network and load each time. A process that
//! crashes starts again with its disk, and in the end all links work.

use synod_core::card::Rounds;
use synod_core::family::Known as _;
use synod_core::family::replication::ANSWERED;
use synod_core::{Algorithm, ProcessId, Setup};
use synod_sim::faults::Fault;
use synod_sim::network::{Chance, Delay, below, chance};
use synod_sim::storm::Storm;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

/// How long servers take to notice that the leader is silent, in microseconds.
const NOTICE_US: u64 = 300_000;

/// The number of faults in the run with this seed.
fn moves(seed: u64) -> u32 {
    2 + (seed / 7 % 10) as u32
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
    let long = NOTICE_US * u64::from(moves(seed)) / u64::from(rounds);
    options.think = Delay::Exponential(if seed.is_multiple_of(11) { 2_000 } else { long });
    options.run_for_us = Some(0);
    // A run that ought to be over by far.
    options.patience = 100_000;
    options.steps_at_most = 1_000_000;
    options
}

/// A run in a storm; `more` is told when the storm is over, and may add faults.
pub(crate) fn run<A: Algorithm>(
    seed: u64,
    setup: Setup,
    rounds: u32,
    more: impl FnOnce(u64, &mut Chance) -> Vec<Fault<A::Input>>,
) -> Report {
    let (n, mut chance) = (setup.n, chance(seed));
    let storm = Storm {
        from_us: 500_000 * (seed / 2 % 2),
        moves: moves(seed),
        notice_us: NOTICE_US,
        crashes: if seed.is_multiple_of(3) { 0 } else { 4 },
        heals: true,
    };
    let run = Simulator::of::<A>(options(seed, setup, rounds), None);
    let mut run = run.expect("the setup is valid");
    let faults: Vec<Fault<A::Input>> = storm.draw(n, &mut chance);
    let over_us = faults.last().map_or(0, |fault| fault.at_us);
    let all_up = all_up(n, over_us, &faults);
    for fault in faults.into_iter().chain(all_up).chain(more(over_us, &mut chance)) {
        run.at(fault.map(A::Family::any_input));
    }
    run.run(|_, _| {}).expect("nothing is written")
}

/// Processes that are down when the storm is over start again.
fn all_up<I: Clone>(n: usize, at_us: u64, faults: &[Fault<I>]) -> Vec<Fault<I>> {
    let is_down = |at: &synod_core::ProcessId| {
        let last = faults.iter().rev().find_map(|fault| match &fault.action {
            Action::Crash(who) if who == at => Some(true),
            Action::Restart { at: who, .. } if who == at => Some(false),
            _ => None,
        });
        last == Some(true)
    };
    let down = synod_core::ProcessId::all(n).filter(is_down);
    // A crash that waits for the next step of its process may come late.
    down.map(|at| Fault::at(at_us + 2 * NOTICE_US, Action::Restart { at, disk: true })).collect()
}

/// The first violation in a run; or that the run does not end.
pub(crate) fn wrong(report: &Report) -> Option<String> {
    let violation = report.violations.first().map(|(violation, _)| format!("{violation:?}"));
    violation.or((report.ended == Ended::Cut).then(|| "it does not end".to_owned()))
}

/// The first violation of safety in a run in which p0 crashes and starts again without its disk.
/// p0 votes no more, so later crashes may leave no quorum: clients may wait in vain.
pub(crate) fn lose_disk<A: Algorithm>(seed: u64, setup: Setup) -> Option<String> {
    let report = run::<A>(seed, setup.with("clients", "1"), 6, |_, chance| {
        let (at, at_us) = (ProcessId(0), below(chance, 2_000_000));
        let crash = Fault::at(at_us, Action::Crash(at));
        vec![crash, Fault::at(at_us + 1, Action::Restart { at, disk: false })]
    });
    let unsafely = report.violations.iter().find(|(found, _)| found.property != ANSWERED);
    unsafely.map(|violation| format!("seed {seed}: {violation:?}"))
}

/// The broken runs among those with the first seeds, looked for on all cores.
pub(crate) fn broken(seeds: u64, broken: impl Fn(u64) -> Option<String> + Sync) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first| (first..seeds).step_by(threads).filter_map(&broken).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let share = &share;
        let firsts = 0..threads as u64;
        let shares: Vec<_> = firsts.map(|first| scope.spawn(move || share(first))).collect();
        shares.into_iter().flat_map(|share| share.join().expect("no run panics")).collect()
    })
}

/// Panics if one of the runs with the first seeds is broken.
pub(crate) fn all_hold(seeds: u64, look: impl Fn(u64) -> Option<String> + Sync) {
    let found = broken(seeds, look);
    let some = found[..found.len().min(10)].join("\n");
    assert!(found.is_empty(), "{} broken:\n{some}", found.len());
}
