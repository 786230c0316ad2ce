//! Fast Paxos: two hops, quorums, and the resolution of collisions.

use synod_core::card::Rounds;
use synod_core::family::consensus::{AGREEMENT, ONCE, TERMINATION, UNANIMITY, VALIDITY};
use synod_core::{Algorithm, Setup};
use synod_protocols::consensus::{CheapPaxos, FastPaxos};
use synod_sim::faults::{Fault, RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

const HOP_US: u64 = 1_000;

fn options(setup: Setup, seed: u64) -> Options {
    let n = setup.n;
    let judged = [AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION].map(str::to_owned).to_vec();
    let plan = Plan { setup, judged: Judged::Only(judged), ..Plan::new(n, Rounds::Times(1)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = Delay::Constant(HOP_US);
    options.disk = Delay::Constant(0);
    options
}

fn run<A: Algorithm>(options: Options, crash: Option<u32>) -> Report {
    let mut simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    if let Some(at) = crash {
        simulator.at(Fault::at(0, Action::Crash(synod_core::ProcessId(at))));
    }
    simulator.run(|_, _| {}).expect("nothing is written")
}

fn violated(report: &Report) -> Vec<&'static str> {
    report.violations.iter().map(|(found, _)| found.property).collect()
}

#[test]
fn one_proposer_learns_after_two_hops_what_is_chosen_with_n_squared_minus_1_messages() {
    for n in 2..=9 {
        let report = run::<FastPaxos>(options(Setup::new(n).with("proposers", "p1"), 1), None);
        assert_eq!(violated(&report), [""; 0]);
        assert_eq!((report.meter.entry_us.min, report.meter.entry_us.max), (2_000, 2_000));
        assert_eq!(report.meter.messages, (n * n - 1) as u64);
    }
}

#[test]
fn quorums_that_do_not_intersect_as_they_must_are_refused() {
    let refused = |n, classic: &str, fast: &str| {
        let setup = Setup::new(n).with("classic", classic).with("fast", fast);
        FastPaxos::processes(&setup).err().map(|error| error.to_string())
    };
    assert!(refused(5, "3", "3").expect("it is refused").contains("needs at least 4"));
    assert!(refused(4, "2", "4").expect("it is refused").contains("more than half"));
    assert!(refused(4, "5", "3").expect("it is refused").contains("not possible"));
    assert_eq!(refused(5, "3", "4"), None);
    assert_eq!(refused(7, "5", "5"), None);
}

/// All propose at once, so nearly every run has a collision.
#[test]
fn all_decide_in_spite_of_collisions_losses_and_crashes() {
    let mut collisions = 0;
    for seed in 0..300 {
        let setup = Setup::new([3, 4, 5, 7][seed as usize % 4]).with("proposers", "all");
        let mut options = options(setup, seed);
        options.network.latency = Delay::Exponential(5_000);
        options.network.loss = 0.1 * (seed % 3) as f64;
        let restart = [Restart::Never, Restart::WithDisk][seed as usize / 2 % 2];
        options.faults =
            RandomFaults { crashes: 1, restart, within_us: 100_000, ..RandomFaults::default() };
        let report = run::<FastPaxos>(options, None);
        let found = violated(&report);
        // A process that comes back may have missed the votes.
        let missed = restart == Restart::WithDisk && found == [TERMINATION];
        assert!(found.is_empty() || missed, "seed {seed}: {found:?}");
        assert_eq!(report.ended, Ended::Quiet, "seed {seed}");
        collisions += usize::from(report.meter.by_kind().contains_key("Accept"));
    }
    assert!(collisions > 200, "{collisions}");
}

#[test]
fn auxiliary_acceptors_of_cheap_paxos_send_nothing_as_long_as_nobody_is_missing() {
    for n in 1..=9 {
        let report = run::<CheapPaxos>(options(Setup::new(n), 1), None);
        assert_eq!(violated(&report), [""; 0]);
        let mains = n / 2 + 1;
        let kinds = report.meter.by_kind();
        let count = |kind| kinds.get(kind).copied().unwrap_or(0) as usize;
        let counted = ["Accept", "Accepted", "Prepare"].map(count);
        assert_eq!(counted, [mains - 1, mains * (n - 1), 0]);
    }
}

#[test]
fn cheap_paxos_goes_on_when_a_main_acceptor_is_missing() {
    for n in [3, 5, 7] {
        let report = run::<CheapPaxos>(options(Setup::new(n), 1), Some(1));
        assert_eq!(violated(&report), [""; 0], "{n}");
        assert!(report.meter.by_kind().contains_key("Prepare"));
    }
}

#[test]
fn cheap_paxos_agrees_whatever_is_lost_and_whoever_comes_back() {
    for seed in 0..300 {
        let setup = Setup::new([3, 4, 5, 7][seed as usize % 4]).with("proposers", "all");
        let mut options = options(setup, seed);
        options.network.latency = Delay::HeavyTailed(2_000);
        options.network.loss = 0.1 * (seed % 3) as f64;
        options.network.duplication = 0.1;
        options.patience = 20_000;
        let restart = [Restart::WithoutDisk, Restart::WithDisk][seed as usize / 2 % 2];
        options.faults =
            RandomFaults { crashes: 2, restart, within_us: 300_000, ..RandomFaults::default() };
        let found = violated(&run::<CheapPaxos>(options, None));
        assert!(found.is_empty() || found == [TERMINATION], "seed {seed}: {found:?}");
    }
}
