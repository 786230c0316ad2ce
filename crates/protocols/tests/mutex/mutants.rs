//! The broken versions, by hand: each must go wrong in the way its card says.

use crate::by_hand::Group;
use synod_core::Algorithm;
use synod_core::family::Mutex;
use synod_protocols::mutex::mutants::{
    BareReplies, NoTieBreak, Priority, R0, R1, R2, R3Split, R3Swapped, TokenInCsMisplaced,
    TokenUnfair,
};
use synod_protocols::mutex::tickets::Timer;

/// p0 asks, p1 (which has not asked) puts it off, and is then put off itself.
fn a_quiescent_process_deadlocks<A>()
where
    A: Algorithm<Family = Mutex>,
{
    let mut group = Group::<A>::of(2);
    group.enter(0);
    group.deliver(0, 1, "Request");
    assert!(group.in_flight.is_empty(), "p1 puts p0 off for ever, even if it never asks");
    group.enter(1);
    group.deliver_all();
    assert_eq!(group.entered, []);
}

#[test]
fn a_quiescent_process_never_replies_to_the_very_first_request() {
    a_quiescent_process_deadlocks::<R0>();
    a_quiescent_process_deadlocks::<R1>();
    a_quiescent_process_deadlocks::<R2>();
}

fn both_ask_before_anything_arrives<A: Algorithm<Family = Mutex>>() -> Group<A> {
    let mut group = Group::of(2);
    group.enter(0);
    group.enter(1);
    group.deliver_all();
    group
}

#[test]
fn equal_tickets_deadlock_without_a_tie_break() {
    // Choices made by hand are always the first: both take ticket 1.
    assert_eq!(both_ask_before_anything_arrives::<R0>().entered, []);
    assert_eq!(both_ask_before_anything_arrives::<R1>().entered, [0]);
}

/// The request of p1 reaches p0 between its two halves.
fn a_request_in_the_gap<A: Algorithm<Family = Mutex, Timer = Timer>>() -> Group<A> {
    let mut group = Group::of(2);
    group.enter(0);
    group.enter(1);
    group.fire(1, Timer::SecondHalf);
    group.deliver(1, 0, "Request");
    group.fire(0, Timer::SecondHalf);
    group.deliver_all();
    group
}

#[test]
fn a_request_between_the_flag_and_the_number_deadlocks() {
    assert_eq!(a_request_in_the_gap::<R3Split>().entered, []);
}

#[test]
fn a_request_between_the_number_and_the_flag_lets_both_in() {
    assert_eq!(a_request_in_the_gap::<R3Swapped>().inside, [0, 1].into());
}

#[test]
fn priorities_let_both_in_when_the_better_one_asks_after_having_replied() {
    let mut group = Group::<Priority>::of(3);
    group.enter(0);
    group.deliver(0, 1, "Request");
    group.deliver(0, 2, "Request");
    group.enter(1);
    let asked = group.sent;
    group.deliver(1, 0, "Request");
    group.deliver(1, 2, "Request");
    assert_eq!(group.sent, asked + 2, "both reply");
    group.deliver_all();
    assert_eq!(group.inside, [0, 1].into());
}

#[test]
fn equal_times_let_both_in_without_a_tie_break() {
    assert_eq!(both_ask_before_anything_arrives::<NoTieBreak>().inside, [0, 1].into());
}

#[test]
fn without_a_clock_on_replies_a_request_overtakes_one_that_happened_before_it() {
    let mut group = Group::<BareReplies>::of(2);
    for round in 0..3 {
        group.enter(0);
        if round == 1 {
            // p1's request stays on its way; its replies to p0 overtake it.
            group.enter(1);
        }
        group.deliver(0, 1, "Request");
        group.deliver(1, 0, "Reply");
        assert_eq!(group.inside, [0].into());
        if round < 2 {
            group.exit(0);
        }
    }
    assert_eq!(group.entered, [0, 0, 0], "the third request of p0 knew of p1's");
}

#[test]
fn a_holder_that_is_inside_unnoticed_gives_the_token_away() {
    let mut group = Group::<TokenInCsMisplaced>::of(2);
    group.enter(0);
    group.enter(1);
    group.deliver_all();
    assert_eq!(group.inside, [0, 1].into());
    group.exit(0);
    group.exit(1);
}

#[test]
fn the_token_that_goes_to_the_smallest_name_never_reaches_the_largest() {
    let mut group = Group::<TokenUnfair>::of(3);
    group.enter(0);
    group.enter(2);
    for round in 0..10 {
        let (inside, other) = (round % 2, (round + 1) % 2);
        assert_eq!(group.inside, [inside].into());
        group.enter(other);
        group.deliver_all();
        group.exit(inside);
        group.deliver_all();
    }
    assert!(!group.entered.contains(&2));
}
