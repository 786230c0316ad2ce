//! Many runs, by seed.

use synod_core::card::{Load, Rounds};
use synod_core::family::clock_sync::{T5, T6};
use synod_core::family::logical_time::{T2, T4};
use synod_core::{Algorithm, Clock, ProcessId};
use synod_protocols::time::mutants::{CristianImpostor, CristianSum, LamportDeaf};
use synod_protocols::time::{Cristian, LamportClock, VectorClock};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

/// The smallest latency of the usual network, in microseconds.
const LATENCY_MIN: &str = "1000";

fn run<A: Algorithm>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    simulator.run(|_, _| {}).expect("nothing is written")
}

fn violated(report: &Report) -> Vec<&'static str> {
    report.violations.iter().map(|(violation, _)| violation.property).collect()
}

/// Clocks that are all wrong, each by another amount.
fn wrong_clocks(n: usize, seed: u64) -> Vec<Clock> {
    let offset_us = |index: usize| (seed as i64 * 7_919 + index as i64 * 104_729) % 2_000_003;
    (0..n).map(|index| Clock { offset_us: offset_us(index) - 1_000_000, drift_ppm: 0 }).collect()
}

fn no_schedule_violates_a_promise<A: Algorithm>(plan: impl Fn(usize, u64) -> Plan) {
    for n in [2, 3, 5, 8] {
        for seed in 0..2_500 {
            let report = run::<A>(Options::new(plan(n, seed), seed));
            assert_eq!(violated(&report), [""; 0], "{n} processes, seed {seed}");
            assert_eq!(report.ended, Ended::Quiet);
        }
    }
}

#[test]
fn lamport_clocks_keep_their_promises_in_ten_thousand_schedules() {
    no_schedule_violates_a_promise::<LamportClock>(|n, _| Plan::new(n, Rounds::Times(6)));
}

#[test]
fn vector_clocks_keep_their_promises_in_ten_thousand_schedules() {
    no_schedule_violates_a_promise::<VectorClock>(|n, _| Plan::new(n, Rounds::Times(6)));
}

#[test]
fn clients_are_no_more_wrong_than_they_say_in_ten_thousand_schedules() {
    no_schedule_violates_a_promise::<Cristian>(|n, seed| {
        let mut plan = Plan::new(n, Rounds::Times(3));
        plan.clocks = wrong_clocks(n, seed);
        let attempts = (seed % 3 + 1).to_string();
        plan.setup = plan.setup.with("min_us", LATENCY_MIN).with("attempts", &attempts);
        plan
    });
}

#[test]
fn a_long_run_of_many_processes_is_judged_as_well() {
    let mut plan = Plan::new(40, Rounds::Times(200));
    plan.judged = Judged::All;
    let report = run::<VectorClock>(Options::new(plan, 1));
    assert_eq!(violated(&report), [""; 0]);
    assert_eq!(report.meter.operations, 40 * 200);
}

#[test]
fn what_the_cards_deny_shows_in_a_run_too() {
    fn all<A: Algorithm>() -> Vec<&'static str> {
        let mut plan = Plan::new(3, Rounds::Times(5));
        plan.judged = Judged::All;
        plan.clocks = wrong_clocks(3, 1);
        violated(&run::<A>(Options::new(plan, 1)))
    }
    assert_eq!(all::<LamportClock>(), [T4]);
    assert_eq!(all::<LamportDeaf>(), [T2, T4]);
    assert_eq!(all::<CristianSum>(), [T5]);
    assert_eq!(all::<CristianImpostor>(), [T5]);
    assert_eq!(all::<Cristian>(), [""; 0]);
}

#[test]
fn a_synchronisation_costs_two_messages_for_each_attempt() {
    for load in [Load::Any, Load::Sequential, Load::Saturated] {
        for attempts in 1..4 {
            let mut plan = Plan::new(4, Rounds::Times(5));
            plan.setup = plan.setup.with("attempts", &attempts.to_string());
            let mut options = Options::new(plan, 7);
            options.load = load;
            options.network.latency = Delay::Constant(3_000);
            let report = run::<Cristian>(options);
            assert_eq!(report.meter.operations, 3 * 5);
            assert_eq!(report.meter.messages, report.meter.operations * 2 * attempts);
            assert_eq!(report.meter.by_kind()["Request"], report.meter.by_kind()["Time"]);
            if attempts == 1 {
                assert!(!report.costs.is_empty());
                assert!(report.costs.iter().all(|measured| measured.agrees()), "{load:?}");
            }
        }
    }
}

/// The failure cases of the method: (a) the server crashes.
#[test]
fn without_its_server_a_client_waits_for_ever() {
    let options = Options::new(Plan::new(3, Rounds::Times(2)), 5);
    let mut simulator = Simulator::of::<Cristian>(options, None).expect("the setup is valid");
    simulator.at(Fault::at(10, Action::Crash(ProcessId(0))));
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!(violated(&report), [T6]);
}

/// The failure cases of the method: (c) all the delay is on one way. V1.1b: 2 ms there, 22 ms back.
#[test]
fn the_bound_is_tight_if_all_the_delay_is_on_one_way() {
    let violated_with = |min_us: &str| {
        let mut plan = Plan::new(2, Rounds::Times(1));
        plan.setup = plan.setup.with("min_us", min_us);
        let mut options = Options::new(plan, 1);
        let (server, client) = (ProcessId(0), ProcessId(1));
        options.network.links.insert((client, server), Delay::Constant(2_000));
        options.network.links.insert((server, client), Delay::Constant(22_000));
        violated(&run::<Cristian>(options))
    };
    assert_eq!(violated_with("2000"), [""; 0]);
    assert_eq!(violated_with("2001"), [T5], "a bound that is smaller by 1 us is wrong");
}

/// Drift is not in the bound: during a long round a fast clock measures too much.
#[test]
fn a_clock_that_runs_too_fast_spoils_the_bound() {
    let violated_with = |drift_ppm| {
        let mut plan = Plan::new(2, Rounds::Times(1));
        plan.clocks = vec![Clock { offset_us: 0, drift_ppm }, Clock::default()];
        plan.setup = plan.setup.with("min_us", "1000000");
        let mut options = Options::new(plan, 1);
        options.network.latency = Delay::Constant(1_000_000);
        violated(&run::<Cristian>(options))
    };
    assert_eq!(violated_with(0), [""; 0]);
    assert_eq!(violated_with(10), [T5]);
}
