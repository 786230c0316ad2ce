//! Every state of small switchboards, and what the explorer finds if a rule is wrong.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::Scope;
use synod_protocols::switchboard::SwitchboardAlgorithm;
use synod_protocols::switchboard::mutants::{CrossedLines, LateCalls};
use synod_sim::world::Judged;

/// The number of states, provided that all properties of the family and all invariants hold in
/// each.
fn states(scope: &Scope) -> usize {
    let question = Question::new(*scope);
    let exploration = explore::<SwitchboardAlgorithm>(&question, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        let violation = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(violation, None, "{scope:?}");
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

/// The length of the shortest history that breaks what the card of a mutant says.
fn steps_to_failure<A: Algorithm>() -> usize {
    let known = A::CARD.failure().expect("it is a mutant");
    let mut question = Question::new(known.scope);
    question.judged = Judged::Only(vec![known.property.to_owned()]);
    let found = explore::<A>(&question, |_| {}).expect("the scope fits");
    found.refutation(known.property).map_or(0, |refuted| refuted.history.steps.len())
}

#[test]
fn services_hold_whatever_a_group_service_does() {
    let counts: Vec<usize> = SwitchboardAlgorithm::CARD.proved.iter().map(states).collect();
    assert_eq!(counts, [17_776, 6_689, 27_167, 6_241, 79_628, 47_873]);
}

#[test]
fn a_switchboard_that_mixes_up_tags_lets_a_group_hear_what_another_said() {
    assert_eq!(steps_to_failure::<CrossedLines>(), 8);
}

#[test]
fn an_offer_that_is_passed_on_in_a_later_view_gives_a_slot_a_second_owner() {
    assert_eq!(steps_to_failure::<LateCalls>(), 33);
}
