//! Paxos: the cost of a run, the faults that it survives, and the messages that it refuses.

use synod_core::byzantine::Byzantine;
use synod_core::card::Rounds;
use synod_core::family::consensus::{
    AGREEMENT, Input, ONCE, TERMINATION, UNANIMITY, VALIDITY, Value,
};
use synod_core::{Algorithm, Effect, EffectOf, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::consensus::acceptor::Vote;
use synod_protocols::consensus::mutants::PaxosAmnesia;
use synod_protocols::consensus::paxos::Message;
use synod_protocols::consensus::{Ballot, Paxos};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::{Ended, Judged, Options, Plan, Report, Simulator};

const HOP_US: u64 = 1_000;

fn options(setup: Setup, seed: u64) -> Options {
    let n = setup.n;
    let judged = [AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION].map(str::to_owned).to_vec();
    let judged = Judged::Only(judged);
    Options::new(Plan { setup, judged, ..Plan::new(n, Rounds::Times(1)) }, seed)
}

fn run<A: Algorithm>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    simulator.run(|_, _| {}).expect("nothing is written")
}

fn violated(report: &Report) -> Vec<&'static str> {
    report.violations.iter().map(|(found, _)| found.property).collect()
}

/// One proposer; disks are as fast as thought.
fn alone(n: usize, parameters: &[(&str, &str)]) -> Report {
    let with = |setup: Setup, (name, value): &(&str, &str)| setup.with(name, value);
    let mut options = options(parameters.iter().fold(Setup::new(n), with), 1);
    options.network.latency = Delay::Constant(HOP_US);
    options.disk = Delay::Constant(0);
    let report = run::<Paxos>(options);
    assert_eq!((report.ended, violated(&report)), (Ended::Quiet, vec![]));
    report
}

#[test]
fn one_proposer_n_acceptors_and_l_learners_take_3n_plus_nl_messages_with_those_to_oneself() {
    for n in 1..=9 {
        let report = alone(n, &[]);
        let to_oneself = 3 + n as u64;
        assert_eq!(report.meter.messages + to_oneself, (3 * n + n * n) as u64);
        let others = n as u64 - 1;
        let kinds = report.meter.by_kind();
        let count = |kind| kinds.get(kind).copied().unwrap_or(0);
        let counted = ["Prepare", "Promise", "Accept", "Accepted", "Refusal"].map(count);
        assert_eq!(counted, [others, others, others, n as u64 * others, 0]);
    }
}

#[test]
fn a_proposer_learns_after_four_hops_what_is_chosen() {
    for n in 2..=9 {
        let report = alone(n, &[]);
        assert_eq!((report.meter.entry_us.min, report.meter.entry_us.max), (4_000, 4_000));
    }
}

/// The faults while all propose.
fn troubled(seed: u64, faults: RandomFaults) -> Options {
    let setup = Setup::new([3, 4, 5][seed as usize % 3]).with("proposers", "all");
    let mut options = options(setup, seed);
    options.network.latency =
        [Delay::Exponential(5_000), Delay::HeavyTailed(2_000)][seed as usize % 2];
    options.network.loss = 0.1 * (seed % 3) as f64;
    options.network.duplication = 0.1 * (seed % 4) as f64;
    options.faults = RandomFaults { within_us: 200_000, ..faults };
    options
}

/// Chance ends a duel that a clever adversary could prolong for ever: see `flp`.
#[test]
fn with_a_random_back_off_all_decide_whatever_is_lost_and_whoever_crashes_and_comes_back() {
    for seed in 0..600 {
        let restart = [Restart::Never, Restart::WithDisk][seed as usize / 2 % 2];
        let faults = RandomFaults { crashes: 1, restart, partitions: 1, ..RandomFaults::default() };
        let report = run::<Paxos>(troubled(seed, faults));
        // A process that crashed before its first promise stays an outsider; one that comes back
        // only to learn may have missed the votes.
        let expected = if restart == Restart::WithDisk { vec![TERMINATION] } else { vec![] };
        let found = violated(&report);
        assert!(found.is_empty() || found == expected, "seed {seed}: {found:?}");
        assert_eq!(report.ended, Ended::Quiet, "seed {seed}");
    }
}

/// The number of a thousand runs that go wrong, in which acceptors lose their disks.
fn disagreements<A: Algorithm>() -> usize {
    let faults =
        RandomFaults { crashes: 3, restart: Restart::WithoutDisk, ..RandomFaults::default() };
    let disagrees = |seed: &u64| {
        let mut options = troubled(*seed, faults);
        options.plan.setup.n = 3;
        options.faults.within_us = 30_000;
        options.patience = 20_000;
        violated(&run::<A>(options)).contains(&AGREEMENT)
    };
    (0..1_000).filter(disagrees).count()
}

#[test]
fn acceptors_that_lose_their_disks_do_no_harm_because_they_know_it() {
    assert_eq!(disagreements::<Paxos>(), 0);
    assert_eq!(disagreements::<PaxosAmnesia>(), 7);
}

fn group() -> Vec<Paxos> {
    Paxos::processes(&Setup::new(3).with("proposers", "all")).expect("a group")
}

fn ballot(round: u32, owner: u32) -> Ballot {
    Ballot { round, owner: ProcessId(owner) }
}

fn vote(round: u32, owner: u32, value: u64) -> Vote {
    Vote { ballot: ballot(round, owner), value: Value(value) }
}

/// The effects of this message on p1.
fn heard(at: &mut Paxos, from: u32, message: Message) -> Vec<EffectOf<Paxos>> {
    step(ProcessId(1), 3, |cx| at.on_message(ProcessId(from), message, cx))
}

fn accused(effects: &[EffectOf<Paxos>]) -> Option<&'static str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Accuse { why, .. } => Some(*why),
        _ => None,
    })
}

#[test]
fn what_cannot_be_is_not_believed() {
    let far = u32::MAX;
    for (from, message) in [
        (0, Message::Prepare(ballot(1, 2))),
        (0, Message::Prepare(ballot(far, 0))),
        (0, Message::Prepare(ballot(0, 0))),
        (0, Message::Accept(vote(1, 2, 7))),
        (0, Message::Promise(ballot(1, 1), Some(vote(1, 1, 7)))),
        (0, Message::Promise(ballot(2, 1), Some(vote(1, 9, 7)))),
        (0, Message::Accepted(vote(far, 0, 7))),
        (0, Message::Accepted(vote(1, 3, 7))),
        (0, Message::Refusal(ballot(1, 1), ballot(1, 0))),
        (0, Message::Refusal(ballot(1, 1), ballot(far, 2))),
        (9, Message::Accepted(vote(1, 0, 7))),
    ] {
        let mut process = group().swap_remove(1);
        let effects = heard(&mut process, from, message.clone());
        assert_eq!(accused(&effects), Some("sent a ballot that cannot be"), "{message:?}");
        assert_eq!(effects.len(), 1, "{message:?}");
        assert_eq!(process, group()[1], "{message:?}");
    }
    let mut process = group().swap_remove(1);
    heard(&mut process, 0, Message::Accepted(vote(1, 0, 7)));
    let effects = heard(&mut process, 2, Message::Accepted(vote(1, 0, 8)));
    assert_eq!(accused(&effects), Some("accepted another value in the same ballot"));
}

#[test]
fn late_and_doubled_messages_change_nothing() {
    let mut process = group().swap_remove(1);
    step(ProcessId(1), 3, |cx| process.on_input(Input::Propose(Value(8)), cx));
    heard(&mut process, 0, Message::Promise(ballot(1, 1), None));
    let Byzantine::Loyal(_) = &process else { panic!("nobody is a traitor") };
    let after = process.clone();
    assert!(heard(&mut process, 0, Message::Promise(ballot(1, 1), None)).is_empty());
    assert!(heard(&mut process, 2, Message::Promise(ballot(1, 1), None)).is_empty());
    assert!(heard(&mut process, 2, Message::Refusal(ballot(3, 1), ballot(4, 0))).is_empty());
    assert_eq!(process, after);
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    for (name, value) in [
        ("proposals", "1 2"),
        ("proposers", "p9"),
        ("learners", "x"),
        ("retry", "later"),
        ("timeout", "0"),
        ("ballots", "many"),
        ("durable", "maybe"),
        ("traitors", "p3"),
        ("adversary", "polite"),
    ] {
        let refused = Paxos::processes(&Setup::new(3).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
