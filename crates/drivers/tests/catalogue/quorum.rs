//! Mutual exclusion by voting: many runs by chance, over a network that reorders.

use synod_core::card::{Load, Order, Rounds};
use synod_core::family::mutex::{ME2, ME3};
use synod_core::{Algorithm, ProcessId};
use synod_protocols::mutex::mutants::SandersUntold;
use synod_protocols::mutex::{MaekawaSanders, VotingSets};
use synod_sim::network::Delay;
use synod_sim::{Judged, Options, Plan, Report, Simulator};

const SEEDS: std::ops::Range<u64> = 0..150;

fn options(n: usize, seed: u64) -> Options {
    let mut options = Options::new(Plan::new(n, Rounds::Times(3)), seed);
    options.network.latency = Delay::HeavyTailed(3_000);
    options.load = Load::Saturated;
    options
}

fn run<A: Algorithm>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the defaults fit");
    let report = simulator.run(|_, _| ()).expect("nothing is written");
    assert_eq!(report.meter.accusations, 0);
    report
}

fn violations(property: &str, mut report: impl FnMut(u64) -> Report) -> usize {
    SEEDS
        .filter(|seed| report(*seed).violations.iter().any(|(v, _)| v.property == property))
        .count()
}

#[test]
fn everybody_gets_in_for_three_to_seven_messages_per_other_member() {
    for n in [3, 4, 7, 13] {
        let others = (VotingSets::optimal(n).k() - 1) as f64;
        for seed in SEEDS {
            let report = run::<MaekawaSanders>(options(n, seed));
            assert_eq!(report.violations, [], "N = {n}, seed {seed}");
            assert_eq!(report.meter.operations, 3 * n as u64);
            let mean = report.meter.messages as f64 / report.meter.operations as f64 / others;
            assert!((3.0..=7.0).contains(&mean), "N = {n}, seed {seed}: {mean}");
            // The bound is far from tight: no run comes near it.
            assert!(mean < 4.5, "N = {n}, seed {seed}: {mean}");
        }
    }
}

#[test]
fn many_runs_of_four_and_seven_get_stuck_unless_the_displaced_are_told() {
    for n in [4, 7] {
        assert_eq!(violations(ME2, |seed| run::<MaekawaSanders>(options(n, seed))), 0);
        let stuck = violations(ME2, |seed| run::<SandersUntold>(options(n, seed)));
        assert!(stuck > 10, "N = {n}: only {stuck} of {} runs got stuck", SEEDS.end);
    }
}

/// With three processes and two votes each, no voter ever has three requests at once, so no request
/// is ever displaced.
#[test]
fn three_processes_need_not_be_told() {
    assert_eq!(violations(ME2, |seed| run::<SandersUntold>(options(3, seed))), 0);
}

/// The requests of p0 to p1 are slow, so p1 asks and enters again and again before it sees one of
/// them; though it knows of it, by way of p2.
#[test]
fn requests_are_granted_in_order_only_over_a_causal_network() {
    let overtaken = |order| {
        violations(ME3, |seed| {
            let mut options = options(3, seed);
            options.plan.order = order;
            options.plan.rounds = [3, 50, 0].map(Rounds::Times).to_vec();
            options.plan.judged = Judged::All;
            options.network.links.insert((ProcessId(0), ProcessId(1)), Delay::Constant(100_000));
            options.tells = 1.0;
            run::<MaekawaSanders>(options)
        })
    };
    assert!(overtaken(Order::Any) > 10);
    assert!(overtaken(Order::Fifo) > 10);
    assert_eq!(overtaken(Order::Causal), 0);
}
