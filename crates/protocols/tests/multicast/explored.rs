//! Every schedule of small worlds.

use synod_check::{Exploration, Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Counterexample, Order, Rounds, Scope};
use synod_core::family::GroupMulticast;
use synod_core::family::multicast::{AGREEMENT, CAUSAL, FIFO, Input, TOTAL, UNIFORM};
use synod_protocols::multicast::mutants::{
    CausalOwnWaits, IsisDeaf, IsisNoTieBreak, ReliableLateRelay,
};
use synod_protocols::multicast::{
    BasicMulticast, CausalMulticast, CausalTotalMulticast, FifoMulticast, FifoTotalMulticast,
    IpMulticast, IsisMulticast, ReliableMulticast, SequencerMulticast,
};
use synod_sim::world::Judged;

const TWICE: Scope = Scope { rounds: Rounds::Times(2), ..Scope::of(2) };

const ONE_SENDER: Scope = Scope { set: &[("senders", "p0")], ..Scope::of(3) };

/// Two groups with one process in both.
const OVERLAPPING: Scope = Scope { set: &[("groups", "p0 p1; p1 p2")], ..Scope::of(3) };

fn explored<A: Algorithm<Family = GroupMulticast>>(
    scope: Scope,
    judged: &[&str],
) -> Exploration<Input> {
    let mut question = Question::new(scope);
    question.judged = Judged::Only(judged.iter().map(|id| (*id).to_owned()).collect());
    explore::<A>(&question, |_| {}).expect("the scope fits the card")
}

/// The number of states; all promises of the card must hold in each.
fn states<A: Algorithm<Family = GroupMulticast>>(scope: Scope) -> usize {
    let setup = Question::new(scope).setup;
    let exploration = explored::<A>(scope, A::CARD.promises_with(&setup));
    assert!(exploration.exhausted(), "{}: {:?}", A::CARD.name, exploration.unfinished);
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{}: {:?}", A::CARD.name, verdict.refuted);
    }
    exploration.progress.unique
}

/// A silent change of a protocol shows in these numbers.
#[test]
fn what_is_promised_holds_in_every_state_of_two_that_multicast_twice_and_of_three() {
    fn both<A: Algorithm<Family = GroupMulticast>>() -> (usize, usize) {
        (states::<A>(TWICE), states::<A>(Scope::of(3)))
    }
    assert_eq!(both::<FifoMulticast>(), (49, 125));
    assert_eq!(both::<CausalMulticast>(), (102, 431));
    assert_eq!(both::<SequencerMulticast>(), (353, 577));
    assert_eq!(both::<FifoTotalMulticast>(), (507, 1016));
    assert_eq!(both::<CausalTotalMulticast>(), (402, 4938));
    assert_eq!(states::<IsisMulticast>(TWICE), 22_289);
}

#[test]
fn what_is_promised_holds_in_groups_that_overlap() {
    assert_eq!(states::<FifoMulticast>(OVERLAPPING), 45);
    assert_eq!(states::<CausalMulticast>(OVERLAPPING), 57);
    assert_eq!(states::<SequencerMulticast>(OVERLAPPING), 100);
    assert_eq!(states::<FifoTotalMulticast>(OVERLAPPING), 114);
    assert_eq!(states::<CausalTotalMulticast>(OVERLAPPING), 114);
    assert_eq!(states::<IsisMulticast>(OVERLAPPING), 565);
}

#[test]
fn what_is_promised_over_reliable_multicast_holds_although_one_of_two_crashes() {
    const CRASH: Scope = Scope { crashes: 1, set: &[("over", "reliable")], ..Scope::of(2) };
    assert_eq!(states::<FifoMulticast>(CRASH), 40);
    assert_eq!(states::<CausalMulticast>(CRASH), 56);
    assert_eq!(states::<SequencerMulticast>(CRASH), 70);
    assert_eq!(states::<FifoTotalMulticast>(CRASH), 79);
    assert_eq!(states::<CausalTotalMulticast>(CRASH), 130);
    assert_eq!(states::<IsisMulticast>(CRASH), 618);
}

/// A sender delivers its own message after all that it delivered before, and then all others do so,
/// too. Only FIFO order is missing to causal order.
#[test]
fn over_fifo_links_total_order_is_causal_order_too() {
    fn is_causal<A: Algorithm<Family = GroupMulticast>>(order: Order) -> bool {
        let exploration = explored::<A>(Scope { order, ..TWICE }, &[TOTAL, FIFO, CAUSAL]);
        exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none())
    }
    assert!(is_causal::<SequencerMulticast>(Order::Fifo));
    assert!(is_causal::<IsisMulticast>(Order::Fifo));
    assert!(!is_causal::<SequencerMulticast>(Order::Any));
    assert!(!is_causal::<IsisMulticast>(Order::Any));
}

/// Not even without FIFO links: only two messages of one sender can be the wrong way round.
#[test]
fn who_multicasts_once_multicasts_in_causal_order() {
    for scope in [Scope::of(2), Scope::of(3)] {
        assert!(explored::<SequencerMulticast>(scope, &[CAUSAL]).refutation(CAUSAL).is_none());
    }
    assert!(explored::<IsisMulticast>(Scope::of(2), &[CAUSAL]).refutation(CAUSAL).is_none());
    assert!(explored::<FifoMulticast>(Scope::of(3), &[CAUSAL]).refutation(CAUSAL).is_some());
}

/// The length of the shortest history that violates the property, in steps.
#[test]
fn the_textbooks_flaws_are_found() {
    fn shortest<A: Algorithm<Family = GroupMulticast>>() -> usize {
        let [Counterexample { property, scope, .. }] = A::CARD.counterexamples else {
            panic!("a mutant has one counterexample");
        };
        let exploration = explored::<A>(*scope, &[property]);
        exploration.refutation(property).expect("it is broken").history.steps.len()
    }
    assert_eq!(shortest::<CausalOwnWaits>(), 1);
    assert_eq!(shortest::<IsisNoTieBreak>(), 7);
    assert_eq!(shortest::<IsisDeaf>(), 7);
}

#[test]
fn basic_multicast_agrees_as_long_as_nobody_crashes() {
    assert_eq!(states::<BasicMulticast>(Scope::of(3)), 125);
    let two = Scope { rounds: Rounds::Times(3), ..Scope::of(2) };
    assert_eq!(states::<BasicMulticast>(two), 225);
}

#[test]
fn reliable_multicast_agrees_whoever_crashes_in_the_middle_of_whatever() {
    let scope = Scope { crashes: 2, duplicates: 1, ..ONE_SENDER };
    assert_eq!(states::<ReliableMulticast>(scope), 349);
}

#[test]
fn over_ip_multicast_two_agree_whatever_message_is_lost() {
    let scope = IpMulticast::CARD.proved[0];
    assert_eq!((scope.n, scope.drops), (2, 1));
    assert_eq!(states::<IpMulticast>(scope), 3_133);
}

/// Agreement is about processes that do not crash, so it holds even if a process delivers before it
/// passes on.
#[test]
fn delivering_before_passing_on_keeps_agreement_and_loses_uniform_agreement() {
    let scope = Scope { crashes: 2, ..ONE_SENDER };
    let agreement = explored::<ReliableLateRelay>(scope, &[AGREEMENT]);
    assert!(agreement.exhausted() && agreement.refutation(AGREEMENT).is_none());
    assert!(agreement.progress.unique > 100, "{:?}", agreement.progress);
    let uniform = explored::<ReliableLateRelay>(scope, &[UNIFORM]);
    assert!(uniform.refutation(UNIFORM).is_some());
}
