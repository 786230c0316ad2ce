//! The token in a ring.

use crate::by_hand::Group;
use synod_core::{Algorithm, Setup, SetupError};
use synod_protocols::mutex::{TokenRing, token_ring};

#[test]
fn lets_the_token_circulate_while_nobody_wants_it() {
    let mut group = Group::<TokenRing>::of(3);
    for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 1)] {
        assert!(group.invariants_hold());
        group.deliver(from, to, "Token");
    }
    assert_eq!(group.sent, 5);
}

#[test]
fn keeps_the_token_at_a_process_that_is_inside() {
    let mut group = Group::<TokenRing>::of(3);
    group.enter(1);
    group.deliver(0, 1, "Token");
    assert_eq!(group.entered, [1]);
    assert!(group.in_flight.is_empty());
    assert!(group.invariants_hold());
    group.exit(1);
    group.deliver(1, 2, "Token");
}

#[test]
fn needs_n_hops_when_the_token_has_just_left_the_process_that_asks() {
    let n = 5;
    let mut group = Group::<TokenRing>::of(n);
    group.enter(0);
    for hop in 0..n as u32 {
        assert_eq!(group.entered, []);
        group.deliver(hop, (hop + 1) % n as u32, "Token");
    }
    assert_eq!(group.entered, [0]);
}

#[test]
fn follows_the_order_of_its_parameter_and_starts_at_the_first() {
    let mut group = Group::<TokenRing>::set_up(&Setup::new(4).with("ring", "p2 p0 p3 p1"));
    for (from, to) in [(2, 0), (0, 3), (3, 1), (1, 2)] {
        group.deliver(from, to, "Token");
    }
}

#[test]
fn of_one_parks_the_token_and_enters_without_a_message() {
    let mut group = Group::<TokenRing>::of(1);
    for _ in 0..2 {
        assert!(group.invariants_hold());
        group.enter(0);
        group.exit(0);
    }
    assert_eq!((group.entered.as_slice(), group.sent), ([0, 0].as_slice(), 0));
}

#[test]
fn refuses_an_order_that_is_not_a_ring() {
    for ring in ["p0 p1", "p0 p1 p1", "p0 p1 p3", ""] {
        let refused = TokenRing::processes(&Setup::new(3).with("ring", ring));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{ring}");
    }
}

#[test]
fn accuses_who_sends_a_second_token() {
    let mut group = Group::<TokenRing>::of(2);
    group.enter(1);
    group.deliver(0, 1, "Token");
    group.forge(0, 1, token_ring::Message::Token);
    assert_eq!(group.accusations, 1);
    assert!(group.invariants_hold());
}
