//! Every state of small pools on the abstract engine, which does all that the contract allows.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_protocols::slots::SlotsAlgorithm;
use synod_protocols::slots::mutants::{DeathOfALife, Hoarding, Optimistic};
use synod_sim::world::Judged;

/// The number of states, provided that all properties of the family and all invariants hold in
/// each.
fn states(scope: Scope) -> usize {
    let question = Question::new(scope);
    let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        let violation = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(violation, None, "{scope:?}");
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

/// The scopes with faults that the card claims for these rules. `waiting.rs` has those in which
/// claims wait.
fn proved(rules: &str) -> Vec<Scope> {
    let is_fault = |name: &str| name == "partitions" || name == "deaths";
    let goes_wrong = |scope: &Scope| scope.set.iter().any(|(name, _)| is_fault(name));
    let waits = |scope: &Scope| scope.set.iter().any(|(name, _)| *name == "wait");
    let with =
        |scope: &Scope| scope.set.contains(&("rules", rules)) && goes_wrong(scope) && !waits(scope);
    SlotsAlgorithm::CARD.proved().into_iter().filter(with).collect()
}

#[test]
fn repaired_rules_hold_whatever_a_group_service_does() {
    let counts: Vec<usize> = proved("repaired").into_iter().map(states).collect();
    assert_eq!(counts, [9_960, 67_687, 18_116, 8_845, 107_788, 12_969, 22_289]);
}

#[test]
fn offers_hold_whatever_a_group_service_does() {
    let counts: Vec<usize> = proved("offers").into_iter().map(states).collect();
    assert_eq!(counts, [6_242, 78_281, 22_632, 3_883, 180_329, 41_907, 7_137]);
}

/// The world in which one member claims again and again, and another has slots to spare.
fn hunger() -> Scope {
    let is_hunger = |scope: &Scope| scope.rounds == Rounds::Times(3);
    SlotsAlgorithm::CARD.proved().into_iter().find(is_hunger).expect("it is on the card")
}

#[test]
fn no_member_keeps_what_it_does_not_need_while_another_starves() {
    let mut question = Question::new(hunger());
    question.judged = Judged::Only(vec!["pi5".to_owned()]);
    let exploration = explore::<Hoarding>(&question, |_| {}).expect("the scope fits");
    let refuted = exploration.refutation("pi5").expect("one keeps all that it has");
    assert_eq!(refuted.history.steps.len(), Hoarding::CARD.counterexamples[0].steps);
    assert_eq!(states(hunger()), 28_951);
}

/// Two members and every fault, any number of times.
fn endless(rules: &str, slots: u32) -> usize {
    let is_endless = |scope: &Scope| scope.set.contains(&("restarts", "any"));
    let scope = proved(rules).into_iter().find(is_endless).expect("it is on the card");
    let mut question = Question::new(scope);
    let (slots, owned) = (slots.to_string(), format!("p1:{slots}"));
    question.setup = question.setup.with("slots", &slots).with("owned", &owned);
    let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
    let holds = exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none());
    assert!(holds && exploration.exhausted(), "{rules}, {slots} slots");
    exploration.progress.unique
}

#[test]
fn two_members_share_one_or_two_slots_however_much_goes_wrong() {
    assert_eq!([1, 2].map(|slots| endless("repaired", slots)), [7_711, 12_969]);
    assert_eq!([1, 2].map(|slots| endless("offers", slots)), [10_917, 24_154]);
}

/// Faults that strike one after the other, each when all is calm again, make histories of any
/// length.
#[test]
fn whatever_goes_wrong_one_after_the_other_goes_on_for_ever() {
    let states = |faults: &[(&str, &str)]| {
        let is_endless = |scope: &Scope| scope.set.contains(&("restarts", "any"));
        let scope = proved("offers").into_iter().find(is_endless).expect("it is on the card");
        let mut question = Question::new(scope);
        for (name, value) in [("slots", "1"), ("owned", "p1:1")].iter().chain(faults) {
            question.setup = question.setup.with(name, value);
        }
        let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
        assert!(exploration.exhausted() && exploration.refutation("pi1-owned").is_none());
        exploration.progress.unique
    };
    let [one, two, any] = ["1", "2", "any"].map(|burst| states(&[("burst", burst)]));
    assert!(one < two && two < any, "{one}, {two}, {any}");
    assert_eq!(any, states(&[]), "no burst is no limit");
}

#[test]
fn the_death_of_a_life_says_nothing_of_its_node() {
    let refuted = DeathOfALife::CARD.counterexamples[0];
    let mut question = Question::new(refuted.scope);
    question.judged = Judged::Only(vec![refuted.property.to_owned()]);
    for rules in ["offers", "repaired"] {
        question.setup = question.setup.with("rules", rules);
        let exploration = explore::<DeathOfALife>(&question, |_| {}).expect("the scope fits");
        assert!(exploration.refutation(refuted.property).is_some(), "{rules}");
        let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
        assert!(exploration.refutation(refuted.property).is_none(), "{rules}");
        assert!(exploration.exhausted(), "{rules}");
    }
}

/// Option A of the source, which it rejects because of the inconsistency after a merge. It need not
/// wait for the merge.
#[test]
fn sides_that_take_each_other_for_dead_own_and_use_the_same_slots() {
    for refuted in Optimistic::CARD.counterexamples {
        let mut question = Question::new(refuted.scope);
        question.judged = Judged::Only(vec![refuted.property.to_owned()]);
        let exploration = explore::<Optimistic>(&question, |_| {}).expect("the scope fits");
        let found = exploration.refutation(refuted.property).expect("a slot has two owners");
        assert_eq!(found.history.steps.len(), refuted.steps, "{}", refuted.property);
        let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
        assert!(exploration.exhausted() && exploration.refutation(refuted.property).is_none());
    }
}

#[test]
fn nothing_goes_wrong_with_the_published_rules_as_long_as_nothing_happens() {
    let hazards = SlotsAlgorithm::CARD.counterexamples.iter();
    let of_faults =
        hazards.filter(|hazard| hazard.scope.set.iter().any(|(name, _)| *name == "faults"));
    for hazard in of_faults {
        let question = Question::new(Scope { rounds: Rounds::Times(0), ..hazard.scope });
        let question = Question { setup: question.setup.with("faults", ""), ..question };
        let exploration = explore::<SlotsAlgorithm>(&question, |_| {}).expect("the scope fits");
        assert!(exploration.exhausted() && exploration.refutation(hazard.property).is_none());
    }
}
