//! The Byzantine generals with signed messages.

use crate::by_hand::{Did, Hand, accused, decided};
use crate::runs::{cost, options, run, violated};
use synod_core::family::consensus::{Input, Value};
use synod_core::{Protocol, Setup};
use synod_protocols::consensus::SignedGenerals;
use synod_protocols::consensus::signed_messages::{Order, SignedMessages};

fn setup(n: usize, f: usize) -> Setup {
    Setup::new(n).with("f", &f.to_string())
}

#[test]
fn n_minus_1_squared_messages_in_f_plus_1_rounds() {
    for (n, f) in [(3, 1), (4, 1), (4, 2), (7, 2), (7, 5), (10, 3)] {
        let expected = (((n - 1) * (n - 1)) as u64, f as u64 + 1);
        assert_eq!(cost::<SignedGenerals>(setup(n, f)), expected);
    }
    assert_eq!(cost::<SignedGenerals>(setup(5, 0)), (4, 1));
}

#[test]
fn any_number_of_traitors_cannot_keep_the_others_from_agreeing() {
    for (n, traitors) in [(3, "p0"), (3, "p1"), (4, "p0 p1"), (5, "p0 p2 p3"), (6, "p1 p2 p3 p4")] {
        for adversary in ["random", "equivocating", "replaying"] {
            let setup = Setup::new(n).with("traitors", traitors).with("adversary", adversary);
            let broken = violated::<SignedGenerals>(&setup, 0..400);
            assert!(broken.is_empty(), "{adversary} {traitors}: {broken:?}");
        }
    }
}

#[test]
fn real_signatures_do_as_well_as_ideal_ones() {
    for (seed, traitors) in ["p0", "p1", "p0 p1", "p2 p3"].into_iter().enumerate() {
        let setup = setup(4, 2).with("traitors", traitors).with("adversary", "random");
        let ideal = run::<SignedGenerals>(options(setup.clone(), seed as u64));
        let real = run::<SignedGenerals>(options(setup.with("seal", "ed25519"), seed as u64));
        assert_eq!(ideal.violations, real.violations);
        assert_eq!(ideal.meter.messages, real.meter.messages);
        assert_eq!(ideal.meter.accusations, real.meter.accusations);
        assert_eq!(real.violations, []);
    }
}

/// One of four generals; the tests make the signatures of the others.
fn general(me: u32) -> Hand<SignedMessages> {
    Hand::new(me, &setup(4, 1))
}

/// The signed message of p0 if it orders this.
fn order(value: u64) -> Order {
    let mut commander = general(0);
    let did = commander.step(|process, cx| process.on_input(Input::Propose(Value(value)), cx));
    match did.into_iter().next() {
        Some(Did::Said(_, said)) => said.it,
        other => panic!("a commander sends its order first: {other:?}"),
    }
}

/// The message that a lieutenant passes on if p0 ordered this.
fn countersigned(by: u32, value: u64) -> Order {
    let mut lieutenant = general(by);
    assert_eq!(lieutenant.hears(0, 1, order(value)), None);
    match lieutenant.round_over(1).into_iter().next() {
        Some(Did::Said(_, said)) => said.it,
        other => panic!("a lieutenant passes on what it is told: {other:?}"),
    }
}

/// The accusation of `from` for this message in round 1.
fn first(from: u32, order: Order) -> Option<&'static str> {
    let mut hand = general(1);
    assert_eq!(hand.hears(from, 1, order), None);
    accused(hand.round_over(1))
}

#[test]
fn who_forges_is_accused() {
    assert_eq!(first(0, order(7)), None);
    assert_eq!(first(0, Order { value: Value(8), ..order(7) }), Some("forged a signature"));
    let length = Some("passes on an order with too many or too few signatures");
    assert_eq!(first(0, Order { value: Value(7), signatures: vec![] }), length);
    assert_eq!(first(2, countersigned(2, 7)), length);
    let not_signed = Some("passes on an order that is not signed by the commander and itself");
    assert_eq!(first(2, order(7)), not_signed);
}

#[test]
fn an_order_that_went_through_our_own_hands_does_not_come_back() {
    let mut hand = general(1);
    hand.round_over(1);
    let mut order = countersigned(2, 7);
    order.signatures[1] = order.signatures[0].clone();
    assert_eq!(hand.hears(0, 2, order), None);
    let no_way = Some("passes on an order that cannot have come this way");
    assert_eq!(accused(hand.round_over(2)), no_way);
}

#[test]
fn two_orders_tell_that_the_commander_is_a_traitor() {
    let mut hand = general(1);
    assert_eq!(hand.hears(0, 1, order(7)), None);
    hand.round_over(1);
    assert_eq!(hand.hears(2, 2, countersigned(2, 9)), None);
    assert_eq!(decided(hand.round_over(2)), Some("⊥".to_owned()));
}

#[test]
fn what_comes_a_round_late_is_not_accepted_though_it_is_signed() {
    let mut hand = general(1);
    hand.round_over(1);
    assert_eq!(hand.hears(0, 2, order(7)), None);
    let did = hand.round_over(2);
    assert_eq!(decided(did), Some("⊥".to_owned()));
}
