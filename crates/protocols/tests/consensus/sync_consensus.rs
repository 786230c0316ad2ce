//! Consensus in f + 1 synchronous rounds.

use crate::by_hand::{Did, Hand, accused, decided};
use crate::runs::{cost, options, violated_by_crashes};
use std::collections::BTreeSet;
use synod_core::family::consensus::{Input, TERMINATION, Value};
use synod_core::{Algorithm, ProcessId, Protocol, Setup, SetupError};
use synod_protocols::consensus::SyncConsensus;
use synod_protocols::consensus::rounds::InRound;
use synod_protocols::consensus::sync_consensus::{Flooding, Message};
use synod_sim::faults::Fault;
use synod_sim::{Action, Simulator};

fn values(values: &[u64]) -> BTreeSet<Value> {
    values.iter().copied().map(Value).collect()
}

#[test]
fn f_plus_1_rounds_have_f_plus_1_times_n_times_n_minus_1_messages() {
    for n in 2..=7 {
        for f in 0..n as u64 {
            let setup = Setup::new(n).with("f", &f.to_string());
            let expected = ((f + 1) * (n * (n - 1)) as u64, f + 1);
            assert_eq!(cost::<SyncConsensus>(setup), expected, "N = {n}, f = {f}");
        }
    }
}

#[test]
fn who_has_nothing_to_say_and_is_silent_needs_two_rounds_of_messages() {
    for (n, f) in [(3, 1), (5, 2), (5, 4), (7, 3)] {
        let setup = Setup::new(n).with("f", &f.to_string()).with("empty", "suppressed");
        assert_eq!(cost::<SyncConsensus>(setup), ((2 * n * (n - 1)) as u64, f + 1));
    }
}

/// The messages of a round: sender, values, receivers.
type Heard = (u32, &'static [u64], &'static [u32]);

/// V5.2, in the hands of the five: the values that p0, p1, p2 and p4 know after each round.
#[test]
fn in_the_example_of_the_textbook_everybody_knows_what_it_should_in_each_round() {
    let setup = Setup::new(5).with("f", "2").with("proposals", "7 4 5 1 3");
    let mut hands: Vec<Hand<Flooding>> = (0..5).map(|me| Hand::new(me, &setup)).collect();
    for (hand, value) in hands.iter_mut().zip([7, 4, 5, 1, 3]) {
        hand.step(|process, cx| process.on_input(Input::Propose(Value(value)), cx));
    }
    let rounds: [&[Heard]; 3] = [
        &[
            (0, &[7], &[1, 2, 4]),
            (1, &[4], &[0, 2, 4]),
            (2, &[5], &[0, 1, 4]),
            (3, &[1], &[0]),
            (4, &[3], &[0, 1, 2]),
        ],
        &[
            (0, &[1, 3, 4, 5], &[1]),
            (1, &[3, 5, 7], &[2, 4]),
            (2, &[3, 4, 7], &[1, 4]),
            (4, &[4, 5, 7], &[1, 2]),
        ],
        &[(1, &[1], &[2, 4]), (2, &[], &[1, 4]), (4, &[], &[1, 2])],
    ];
    let known: [&[(usize, &[u64])]; 3] = [
        &[(0, &[1, 3, 4, 5, 7]), (1, &[3, 4, 5, 7]), (2, &[3, 4, 5, 7]), (4, &[3, 4, 5, 7])],
        &[(1, &[1, 3, 4, 5, 7]), (2, &[3, 4, 5, 7]), (4, &[3, 4, 5, 7])],
        &[(1, &[1, 3, 4, 5, 7]), (2, &[1, 3, 4, 5, 7]), (4, &[1, 3, 4, 5, 7])],
    ];
    for (round, (said, known)) in (1..).zip(rounds.into_iter().zip(known)) {
        for (from, what, reached) in said {
            for to in *reached {
                let values = Message::Values(values(what));
                assert_eq!(hands[*to as usize].hears(*from, round, values), None);
            }
        }
        for (at, what) in known {
            let did = hands[*at].round_over(round);
            let algorithm = hands[*at].process.process().algorithm();
            assert_eq!(*algorithm.values(), values(what), "p{at} after round {round}");
            assert_eq!(decided(did), (round == 3).then(|| "1".to_owned()));
        }
    }
}

#[test]
fn ten_thousand_schedules_with_f_crashes_break_nothing() {
    for (n, f, seeds) in [(3, 1, 0..4_000), (4, 3, 0..3_000), (5, 2, 0..3_000)] {
        let setup = Setup::new(n).with("f", &f.to_string());
        let broken = violated_by_crashes::<SyncConsensus>(&setup, f, seeds);
        assert!(broken.is_empty(), "N = {n}, f = {f}: {broken:?}");
    }
}

/// A swarm that could find no violation would prove nothing.
#[test]
fn the_same_schedules_with_more_crashes_than_f_do_break_agreement() {
    for (n, f, seeds) in [(3, 0, 0..300), (4, 1, 0..3_000)] {
        let setup = Setup::new(n).with("f", &f.to_string());
        let broken = violated_by_crashes::<SyncConsensus>(&setup, f + 1, seeds);
        assert!(broken.iter().any(|why| why.contains("agreement")), "f = {f}: {broken:?}");
    }
}

/// A process that comes back does not know the round, so it neither sends nor decides.
#[test]
fn who_comes_back_after_a_crash_stays_out_of_the_rounds() {
    let mut simulator = Simulator::of::<SyncConsensus>(options(Setup::new(3), 1), None)
        .expect("the setup is valid");
    let p2 = ProcessId(2);
    simulator.at(Fault::at(100, Action::Crash(p2)));
    simulator.at(Fault::at(200, Action::Restart { at: p2, disk: true }));
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    let violated: Vec<_> = report.violations.iter().map(|(v, _)| (v.property, v.at)).collect();
    assert_eq!(violated, [(TERMINATION, p2)]);
    // Two rounds of two, and the first multicast of p2.
    assert_eq!(report.meter.messages, 2 * 2 * 2 + 2);
}

fn p1_of_three() -> Hand<Flooding> {
    Hand::new(1, &Setup::new(3).with("f", "1"))
}

#[test]
fn what_is_said_early_counts_in_its_round_and_what_is_late_does_not_count() {
    let mut hand = p1_of_three();
    assert_eq!(hand.hears(0, 1, Message::Values(values(&[5]))), None);
    assert_eq!(hand.hears(2, 2, Message::Values(values(&[1]))), None);
    assert_eq!(
        hand.round_over(1),
        [Did::Said(
            vec![ProcessId(0), ProcessId(2)],
            InRound { round: 2, it: Message::Values(values(&[5])) }
        )]
    );
    assert_eq!(hand.hears(2, 1, Message::Values(values(&[0]))), Some("spoke after its round"));
    assert_eq!(decided(hand.round_over(2)), Some("1".to_owned()));
    assert_eq!(hand.hears(0, 2, Message::Values(values(&[0]))), Some("spoke after its round"));
}

#[test]
fn who_breaks_the_rules_of_rounds_is_accused() {
    let mut hand = p1_of_three();
    assert_eq!(hand.hears(77, 1, Message::Values(values(&[5]))), Some("is not one of us"));
    assert_eq!(
        hand.hears(0, 3, Message::Values(values(&[5]))),
        Some("is in a round that has not come")
    );
    assert_eq!(
        hand.hears(0, u32::MAX, Message::Values(values(&[]))),
        Some("is in a round that has not come")
    );
    assert_eq!(hand.hears(0, 0, Message::Values(values(&[5]))), Some("spoke after its round"));
    assert_eq!(hand.hears(0, 1, Message::Values(values(&[5]))), None);
    assert_eq!(hand.hears(0, 1, Message::Values(values(&[5]))), None, "a copy says nothing new");
    let twice = Some("said more than there is to say in a round");
    assert_eq!(hand.hears(0, 1, Message::Values(values(&[6]))), twice);
    assert_eq!(hand.hears(2, 1, Message::Values(values(&[1, 2, 3, 4]))), None);
    let many = Some("tells of more values than processes can propose");
    assert_eq!(accused(hand.round_over(1)), many);
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    for (name, value) in
        [("f", "3"), ("f", "x"), ("empty", "maybe"), ("delay", "0"), ("proposals", "1")]
    {
        let refused = SyncConsensus::processes(&Setup::new(3).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
