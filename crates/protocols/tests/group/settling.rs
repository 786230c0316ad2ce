//! The time in which views settle: without faults by the deadline of the card, and in storms that
//! never end soon enough all the same.

use synod_core::Setup;
use synod_core::card::Rounds;
use synod_core::family::group::SETTLES;
use synod_core::family::multicast::Payload;
use synod_protocols::group::embedded::CARD;
use synod_protocols::group::{Embedded, GroupEngine};
use synod_sim::faults::RandomFaults;
use synod_sim::network::{Delay, Network};
use synod_sim::{Ended, Options, Plan, Report, Simulator};

/// Faults begin within this time, and last for half as long at most.
const WITHIN_US: u64 = 2_000_000;
const LAST_FAULT_US: u64 = WITHIN_US * 3 / 2;

/// Five members, twelve partitions and ten links in one direction only.
fn run(seed: u64, network: Network) -> Report {
    let mut options = Options::new(Plan::new(5, Rounds::Times(16)), seed);
    options.network = network;
    options.faults = RandomFaults {
        partitions: 12,
        one_way_cuts: 10,
        within_us: WITHIN_US,
        ..RandomFaults::default()
    };
    options.steps_at_most = 1_000_000;
    let run = Simulator::of::<GroupEngine<Payload>>(options, None);
    run.expect("the setup is valid").run(|_, _| {}).expect("nothing is written")
}

/// The longest time from the last fault to rest.
fn rests(report: &Report, within_us: u64, what: &str) {
    assert_eq!((report.ended, &report.violations[..]), (Ended::Quiet, &[][..]), "{what}");
    let late_us = report.time_us.saturating_sub(LAST_FAULT_US);
    assert!(late_us <= within_us, "{what}: {late_us}us after the last fault");
}

#[test]
fn the_deadline_counts_time_outs_as_they_are_set() {
    let deadline = CARD.deadlines.iter().find(|deadline| deadline.property == SETTLES);
    let calm = |setup: Setup| (deadline.expect("settling has a deadline").calm)(&setup);
    let usual = calm(Setup::new(5)).expect("the embedded engine has a clock");
    assert_eq!((usual.delay_ms, usual.within_ms), (80, 8_600));
    let short = Setup::new(5).with("period", "2").with("timeout", "5");
    let short = calm(short).expect("the embedded engine has a clock");
    assert_eq!((short.delay_ms, short.within_ms), (4, 516), "in whole periods");
    assert_eq!(calm(Setup::new(5).with("engine", "abstract")), None);
    assert_eq!(calm(Setup::new(5).with("views", "3")), None);
}

/// A view takes five messages, one after the other. Once a proposer waited for the time-out even if
/// all answers were there: with 40 ms for each message no view of two ever began.
#[test]
fn views_settle_though_each_message_takes_nearly_the_time_out() {
    for longest_us in [20_000, 40_000, 60_000, 79_000] {
        for shortest_us in [0, longest_us] {
            for seed in 0..10 {
                let latency = Delay::Uniform(shortest_us, longest_us);
                let report = run(seed, Network { latency, ..Network::default() });
                rests(&report, 1_500_000, &format!("seed {seed}, {latency}"));
            }
        }
    }
}

/// The first is the storm that once needed fifteen hours; most others did, too, or longer.
#[test]
fn storms_that_lose_and_hold_up_messages_for_ever_rest_soon_after_the_last_fault() {
    let latency = Delay::HeavyTailed(20_000);
    let (loss, duplication, reordering) = (0.2, 0.2, 0.3);
    let network = Network { latency, loss, duplication, reordering, ..Network::default() };
    for seed in [2998].into_iter().chain(0..300) {
        rests(&run(seed, network.clone()), 6_000_000, &format!("seed {seed}"));
    }
}

/// No process can be in a view with others if every message takes longer than the time-out; and the
/// engine promises nothing then.
#[test]
fn where_every_message_is_late_nothing_is_overdue() {
    let mut options = Options::new(Plan::new(2, Rounds::Times(0)), 1);
    options.network.latency = Delay::Constant(250_000);
    options.steps_at_most = 10_000;
    let run = Simulator::of::<Embedded<Payload>>(options, None);
    let report = run.expect("the setup is valid").run(|_, _| {}).expect("nothing is written");
    assert_eq!((report.ended, &report.violations[..]), (Ended::Cut, &[][..]));
    assert!(report.time_us > 20_000_000, "long after the deadline");
}
