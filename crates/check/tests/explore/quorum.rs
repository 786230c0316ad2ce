//! Mutual exclusion by voting, every schedule: what the cards of the algorithms claim.

use synod_check::{Question, explore};
use synod_core::card::{Order, Rounds, Scope};
use synod_core::family::mutex::{ME1, ME2, ME3, Mutex};
use synod_core::{Algorithm, Setup};
use synod_protocols::mutex::mutants::{Maekawa000, SandersUntold};
use synod_protocols::mutex::{Maekawa, MaekawaSanders};
use synod_sim::Judged;

/// How many steps the shortest violation of the property takes; none if every state was seen.
fn shortest<A: Algorithm<Family = Mutex>>(
    property: &str,
    scope: Scope,
    setup: Setup,
) -> Option<usize> {
    let judged = Judged::Only(vec![property.to_owned(), "one-vote".to_owned()]);
    let question = Question { setup, judged, ..Question::new(scope) };
    let exploration = explore::<A>(&question, |_| ()).expect("the setup fits");
    assert!(exploration.refutation("one-vote").is_none(), "a vote is in two places");
    let refuted = exploration.refutation(property).map(|refutation| refutation.history.steps.len());
    assert!(refuted.is_some() || exploration.exhausted(), "{:?}", exploration.unfinished);
    refuted
}

const ORDERS: [Order; 3] = [Order::Any, Order::Fifo, Order::Causal];

fn three(order: Order, rounds: u32, tells: u32) -> Scope {
    Scope { order, rounds: Rounds::Times(rounds), tells, ..Scope::of(3) }
}

#[test]
fn one_vote_at_a_time_keeps_the_others_out() {
    for order in ORDERS {
        assert_eq!(shortest::<Maekawa>(ME1, three(order, 2, 0), Setup::new(3)), None);
        assert_eq!(shortest::<MaekawaSanders>(ME1, three(order, 2, 0), Setup::new(3)), None);
    }
}

/// Maekawa's processes remember nothing but their votes, so even endless runs have few states.
#[test]
fn one_vote_at_a_time_keeps_the_others_out_for_ever() {
    let endless = Scope { rounds: Rounds::Forever, ..Scope::of(3) };
    assert_eq!(shortest::<Maekawa>(ME1, endless, Setup::new(3)), None);
}

#[test]
fn three_votes_for_oneself_are_a_deadlock_unless_somebody_yields() {
    for order in ORDERS {
        assert_eq!(shortest::<Maekawa>(ME2, three(order, 1, 0), Setup::new(3)), Some(6));
        assert_eq!(shortest::<MaekawaSanders>(ME2, three(order, 2, 0), Setup::new(3)), None);
    }
}

#[test]
fn whoever_asks_at_whatever_time_gets_in() {
    for clocks in ["0 0 0", "0 1 2", "2 1 0", "1 0 1"] {
        let setup = Setup::new(3).with("clocks", clocks);
        let scope = three(Order::Any, 1, 0);
        assert_eq!(shortest::<MaekawaSanders>(ME2, scope, setup), None, "{clocks}");
    }
}

#[test]
fn the_order_of_requests_is_kept_only_if_messages_arrive_in_causal_order() {
    assert_eq!(shortest::<MaekawaSanders>(ME3, three(Order::Any, 1, 1), Setup::new(3)), Some(6));
    // Over ordered links the news must take another way: from p0 to p2 to p1.
    assert_eq!(shortest::<MaekawaSanders>(ME3, three(Order::Fifo, 1, 1), Setup::new(3)), None);
    assert_eq!(shortest::<MaekawaSanders>(ME3, three(Order::Fifo, 1, 2), Setup::new(3)), Some(8));
    assert_eq!(shortest::<MaekawaSanders>(ME3, three(Order::Causal, 1, 2), Setup::new(3)), None);
    assert_eq!(shortest::<MaekawaSanders>(ME3, three(Order::Causal, 2, 0), Setup::new(3)), None);
    // Maekawa's queues are first come first served, which does not help.
    assert_eq!(shortest::<Maekawa>(ME3, three(Order::Any, 1, 1), Setup::new(3)), Some(6));
}

/// Only with three requests at one voter can one be displaced; with four processes that happens,
/// even over links that keep the order of messages.
#[test]
fn a_displaced_request_that_is_not_told_is_a_deadlock_of_four() {
    let scope = Scope { order: Order::Fifo, ..Scope::of(4) };
    assert_eq!(shortest::<SandersUntold>(ME2, three(Order::Any, 2, 0), Setup::new(3)), None);
    assert_eq!(shortest::<SandersUntold>(ME2, scope, Setup::new(4)), Some(17));
}

#[test]
fn without_the_own_vote_two_are_inside_after_six_steps_and_one_waits_for_ever_after_nine() {
    for order in ORDERS {
        assert_eq!(shortest::<Maekawa000>(ME1, three(order, 1, 0), Setup::new(3)), Some(6));
        assert_eq!(shortest::<Maekawa000>(ME2, three(order, 1, 0), Setup::new(3)), Some(9));
    }
}
