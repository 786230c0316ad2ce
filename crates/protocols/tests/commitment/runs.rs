//! Whole runs: the cost of a transaction, and the properties that hold when every process crashes
//! and comes back.

use synod_core::card::{Load, Rounds};
use synod_core::family::commitment::{AC1, AC2, AC3, AC4, AC5, AC5_REPAIRED, Commitment};
use synod_core::{Algorithm, Setup};
use synod_protocols::commitment::TwoPhaseCommit;
use synod_protocols::commitment::mutants::TwoPhaseForgetful;
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::{Ended, Judged, Options, Plan, Report, Simulator};

const HOP_US: u64 = 1_000;
const SEEDS: u64 = 1_000;

fn run<A: Algorithm<Family = Commitment>>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!(report.ended, Ended::Quiet);
    report
}

fn one_transaction(setup: Setup) -> Report {
    let plan = Plan { setup, judged: Judged::All, ..Plan::new(0, Rounds::Times(1)) };
    let mut options = Options::new(plan, 0);
    options.plan.rounds = vec![Rounds::Times(1); options.plan.setup.n];
    options.network.latency = Delay::Constant(HOP_US);
    options.disk = Delay::Constant(0);
    options.load = Load::Saturated;
    let report = run::<TwoPhaseCommit>(options);
    assert_eq!(report.violations, []);
    report
}

#[test]
fn n_participants_take_4n_messages_3n_without_acknowledgements_and_know_after_3_hops() {
    for participants in 1..=12 {
        let report = one_transaction(Setup::new(participants + 1));
        let kinds = report.meter.by_kind();
        assert_eq!(report.meter.messages as usize, 4 * participants);
        assert_eq!(kinds["Ack"] as usize, participants);
        assert_eq!((report.meter.entry_us.max, report.meter.reach_us.min), (2_000, 3_000));
        assert_eq!(report.meter.reach_us.max, 3 * HOP_US);
        // The acknowledgements are the fourth hop.
        assert_eq!(report.time_us.max(4 * HOP_US), report.time_us);
    }
}

#[test]
fn one_vote_against_costs_3n_messages_less_the_one_to_whoever_voted() {
    for participants in 2..=6 {
        let votes = vec!["yes"; participants].join(" ") + " no";
        let report = one_transaction(Setup::new(participants + 1).with("votes", &votes));
        // All votes arrive at the same time, yes before no; so no participant is told to abort
        // twice.
        assert_eq!(report.meter.messages as usize, 3 * participants - 1);
    }
}

/// Every process crashes, in the middle of steps too, and comes back with its disk.
fn storm(seed: u64) -> Options {
    let n = 2 + seed as usize % 4;
    let votes = if seed.is_multiple_of(3) { "either" } else { "yes" };
    let setup = Setup::new(n).with("votes", votes).with("patience", "20");
    let plan = Plan { setup, judged: Judged::All, ..Plan::new(n, Rounds::Times(5)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = Delay::Exponential(3_000);
    options.network.loss = 0.1;
    options.network.duplication = 0.1;
    options.faults = RandomFaults {
        crashes: 2 * n as u32,
        restart: Restart::WithDisk,
        partitions: 1,
        one_way_cuts: 1,
        within_us: 200_000,
        ..RandomFaults::default()
    };
    options
}

fn violated<A: Algorithm<Family = Commitment>>(seed: u64) -> Vec<&'static str> {
    let report = run::<A>(storm(seed));
    report.violations.iter().map(|(violation, _)| violation.property).collect()
}

#[test]
fn whoever_crashes_and_comes_back_agrees_with_all_others() {
    for seed in 0..SEEDS {
        let wrong = violated::<TwoPhaseCommit>(seed);
        // If messages are lost, time-outs abort transactions that no participant votes against.
        let wrong: Vec<_> = wrong.into_iter().filter(|property| *property != AC4).collect();
        assert_eq!(wrong, [""; 0], "seed {seed}");
    }
}

#[test]
fn the_same_storms_catch_whoever_does_not_write_down_what_it_should() {
    let forgets = (0..SEEDS).filter(|seed| violated::<TwoPhaseForgetful>(*seed).contains(&AC1));
    assert!(forgets.take(10).count() == 10);
}

#[test]
fn a_run_in_which_the_coordinator_is_gone_for_good_leaves_the_others_in_doubt() {
    let blocked = |seed| {
        let mut options = storm(seed);
        options.faults = RandomFaults { deaths: 1, within_us: 20_000, ..RandomFaults::default() };
        options.patience = 1_000;
        let simulator = Simulator::of::<TwoPhaseCommit>(options, None).expect("it is valid");
        let report = simulator.run(|_, _| {}).expect("nothing is written");
        let violated: Vec<_> = report.violations.iter().map(|(v, _)| v.property).collect();
        assert!(![AC1, AC2, AC3, AC5_REPAIRED].iter().any(|id| violated.contains(id)));
        violated.contains(&AC5)
    };
    assert!((0..100).any(blocked));
}
