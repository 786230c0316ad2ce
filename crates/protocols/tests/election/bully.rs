//! The bully: the number of messages of an election, and their kinds.

use crate::rings::{HOP_US, sent};
use synod_core::card::{Order, Rounds};
use synod_core::family::election::Input;
use synod_core::family::{Election, Known as _};
use synod_core::{Algorithm, Effect, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::election::Bully;
use synod_protocols::election::bully::Message;
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

/// The greatest of `n` is the coordinator, all know it, and it crashes; then `caller` calls an
/// election. The count includes the n - 1 messages of the first election.
fn after_a_crash(n: usize, caller: usize, trust: &str) -> Report {
    let setup = Setup::new(n).with("trust_detection", trust);
    let plan =
        Plan { setup, order: Order::Any, judged: Judged::All, ..Plan::new(n, Rounds::Times(0)) };
    let mut options = Options::new(plan, 0);
    options.network.latency = Delay::Constant(HOP_US);
    let mut simulator = Simulator::of::<Bully>(options, None).expect("the setup is valid");
    let greatest = ProcessId(n as u32 - 1);
    let start = |at| Action::Input { at, input: Input::Start };
    let events = [start(greatest), Action::Crash(greatest), start(ProcessId(caller as u32))];
    for (number, action) in events.into_iter().enumerate() {
        let action = action.map(Election::any_input);
        simulator.at(Fault::at(number as u64 * 100 * HOP_US, action));
    }
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    let violated: Vec<_> = report.violations.iter().map(|(found, _)| found.property).collect();
    // One property must fail: for a moment some know the new coordinator, and some do not.
    assert!(violated.iter().all(|id| *id == "E1-always"), "{violated:?}");
    assert_eq!(report.ended, Ended::Quiet);
    report
}

fn messages(n: usize, caller: usize, trust: &str) -> usize {
    after_a_crash(n, caller, trust).meter.messages as usize - (n - 1)
}

#[test]
fn at_best_the_second_greatest_notices_and_sends_n_minus_1_messages() {
    for n in 3..=12 {
        assert_eq!(messages(n, n - 2, "no"), n - 1);
    }
}

#[test]
fn at_best_it_trusts_what_it_noticed_and_sends_n_minus_2_messages() {
    for n in 3..=12 {
        assert_eq!(messages(n, n - 2, "yes"), n - 2);
    }
}

#[test]
fn at_worst_the_smallest_notices_and_there_are_n_squared_minus_n_minus_1_messages() {
    for n in 3..=12 {
        let report = after_a_crash(n, 0, "no");
        assert_eq!(report.meter.messages as usize - (n - 1), n * n - n - 1);
        assert_eq!(sent(&report, "Election") as usize, n * (n - 1) / 2);
        assert_eq!(sent(&report, "Answer") as usize, (n - 1) * (n - 2) / 2);
        assert_eq!(sent(&report, "Coordinator") as usize - (n - 1), n - 2);
    }
    assert_eq!([4, 5, 8].map(|n| messages(n, 0, "no")), [11, 19, 55]);
}

#[test]
fn at_worst_without_messages_to_the_dead_there_are_n_squared_minus_2n() {
    for n in 3..=12 {
        assert_eq!(messages(n, 0, "yes"), n * n - 2 * n);
    }
    assert_eq!([4, 5, 8].map(|n| messages(n, 0, "yes")), [8, 15, 48]);
}

#[test]
fn if_the_second_greatest_trusts_what_it_noticed_all_know_after_one_hop() {
    assert_eq!(after_a_crash(5, 3, "yes").time_us, 201 * HOP_US);
}

fn accused(from: u32, message: Message) -> Option<&'static str> {
    let mut group = Bully::processes(&Setup::new(3)).expect("a group");
    let said = step(ProcessId(1), 3, |cx| group[1].on_message(ProcessId(from), message, cx));
    said.iter().find_map(|effect| match effect {
        Effect::Accuse { who: ProcessId(who), why } if *who == from => Some(*why),
        _ => None,
    })
}

#[test]
fn accuses_who_takes_itself_for_another() {
    let wrong = Some("took itself for smaller or greater than it is");
    assert_eq!(accused(2, Message::Election), wrong);
    assert_eq!(accused(0, Message::Answer), wrong);
    assert_eq!(accused(77, Message::Election), wrong);
    assert_eq!(accused(0, Message::Coordinator(9)), Some("bullied a greater process"));
    assert_eq!(accused(2, Message::Coordinator(0)), Some("bullied a greater process"));
    assert_eq!(accused(0, Message::Election), None);
    assert_eq!(accused(2, Message::Coordinator(2)), None);
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    for (name, value) in [
        ("ids", "1 1 2"),
        ("startup", "maybe"),
        ("trust_detection", "1"),
        ("delay", "0"),
        ("detector", "x"),
        ("announce", "loudly"),
        ("durable", "maybe"),
        ("loads", "1 2 101"),
        ("versions", "1 2"),
    ] {
        let refused = Bully::processes(&Setup::new(3).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
