//! Paxos: every schedule of small worlds. (Those on the card, and its counterexamples, are explored
//! for all algorithms of the catalogue alike.)

use synod_check::{Exploration, Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Order, Rounds, Scope, Settings};
use synod_core::family::consensus::{Input, TERMINATION};
use synod_protocols::consensus::Paxos;
use synod_sim::Judged;

fn explored(scope: Scope, judged: Judged) -> Exploration<Input> {
    let question = Question { judged, ..Question::new(scope) };
    explore::<Paxos>(&question, |_| {}).expect("the setup is valid")
}

/// The number of states; no promise fails in any.
fn states(scope: Scope) -> usize {
    let exploration = explored(scope, Judged::Promised);
    assert!(exploration.exhausted());
    assert!(exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none()));
    exploration.progress.unique
}

#[test]
fn two_proposers_and_three_acceptors_whose_disks_take_their_time_agree() {
    let set = &[("proposers", "p0 p1"), ("learners", "p0 p1"), ("retry", "never")];
    assert_eq!(states(Scope { order: Order::Fifo, set, ..Scope::of(3) }), 7_806);
}

#[test]
fn whoever_proposes_alone_is_not_stopped_by_anything_in_the_order_of_messages() {
    let sizes =
        [1, 2, 3].map(|n| states(Scope { set: Paxos::CARD.variants[0].set, ..Scope::of(n) }));
    assert_eq!(sizes, [4, 14, 754]);
}

const DUEL: Settings = &[("proposers", "p0 p1"), ("retry", "at-once"), ("durable", "no")];

/// Fischer, Lynch and Paterson: some run never ends, though every message arrives. Ballots grow
/// without end, but counted from the smallest in use they go round in a circle.
#[test]
fn two_that_outbid_each_other_go_round_in_a_fair_circle_and_never_decide() {
    let scope = Scope { rounds: Rounds::Forever, set: DUEL, ..Scope::of(2) };
    let exploration = explored(scope, Judged::Only(vec![TERMINATION.to_owned()]));
    let refutation = exploration.refutation(TERMINATION).expect("it never ends");
    assert_eq!(refutation.history.returns_to, Some(11));
    assert_eq!(refutation.history.steps.len(), 21);
    assert_eq!(exploration.progress.unique, 77);
    assert!(refutation.violation.because.contains("fair circle"));
}
