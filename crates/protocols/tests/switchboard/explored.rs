//! Every state of small switchboards, and what the explorer finds if a rule is wrong.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::Scope;
use synod_protocols::switchboard::SwitchboardAlgorithm;
use synod_protocols::switchboard::mutants::{
    CrossedLines, FoundsAgain, LateCalls, NodesUntold, PartingsForgotten,
};
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

/// The numbers of states in some of the worlds that the card claims.
fn proved(worlds: std::ops::Range<usize>) -> Vec<usize> {
    SwitchboardAlgorithm::CARD.proved[worlds].iter().map(states).collect()
}

#[test]
fn services_hold_whatever_a_group_service_does() {
    assert_eq!(SwitchboardAlgorithm::CARD.proved.len(), 12);
    assert_eq!(proved(0..6), [17_776, 87_531, 27_167, 6_241, 79_628, 47_873]);
}

#[test]
fn no_slot_has_two_owners_although_a_node_is_added_while_the_network_is_cut() {
    assert_eq!(proved(6..8), [78_716, 338_410]);
}

#[test]
fn no_slot_has_two_owners_wherever_the_founder_is() {
    assert_eq!(proved(8..11), [419, 25_034, 12_418]);
}

#[test]
fn views_that_end_before_the_services_enter_them_make_no_companions() {
    assert_eq!(proved(11..12), [185_261]);
}

#[test]
fn a_switchboard_that_mixes_up_tags_lets_a_group_hear_what_another_said() {
    assert_eq!(steps_to_failure::<CrossedLines>(), 8);
}

#[test]
fn an_offer_that_is_passed_on_in_a_later_view_gives_a_slot_a_second_owner() {
    assert_eq!(steps_to_failure::<LateCalls>(), 33);
}

#[test]
fn members_that_do_not_tell_each_other_of_nodes_give_out_the_slots_of_an_added_one() {
    assert_eq!(steps_to_failure::<NodesUntold>(), 13);
}

#[test]
fn a_founder_that_founds_again_after_a_restart_gives_slots_a_second_owner() {
    assert_eq!(steps_to_failure::<FoundsAgain>(), 8);
}

#[test]
fn members_that_come_from_one_view_of_the_engine_may_have_parted_before() {
    assert_eq!(steps_to_failure::<PartingsForgotten>(), 15);
}
