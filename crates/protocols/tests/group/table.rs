//! The replicated table: a second service on the same engines.

use crate::storms;
use synod_check::{Question, explore};
use synod_core::card::Scope;
use synod_core::family::table::{KEPT, SAME};
use synod_core::{Algorithm, Setup};
use synod_protocols::table::TableAlgorithm;
use synod_protocols::table::mutants::{TableHasty, TableReplaced};

/// How many states there are in a world; in all of them the promises are kept.
fn states(scope: &Scope) -> usize {
    let question = Question::new(*scope);
    let exploration = explore::<TableAlgorithm>(&question, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{scope:?}: {:?}", verdict.refuted);
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

#[test]
fn copies_are_the_same_and_nothing_is_lost_in_every_state() {
    let counts: Vec<_> = TableAlgorithm::CARD.proved.iter().map(states).collect();
    assert_eq!(counts, [58_053, 14_389]);
}

#[test]
fn a_copy_that_replaces_others_is_the_same_everywhere_and_loses_writes() {
    let known = TableReplaced::CARD.counterexamples[0];
    let found = explore::<TableReplaced>(&Question::new(known.scope), |_| {}).expect("it fits");
    assert!(found.refutation(SAME).is_none());
    let steps = found.refutation(KEPT).map(|refuted| refuted.history.steps.len());
    assert_eq!(steps, Some(known.steps));
}

#[test]
fn members_that_do_not_wait_for_all_copies_are_ready_with_different_ones() {
    let known = TableHasty::CARD.counterexamples[0];
    let found = explore::<TableHasty>(&Question::new(known.scope), |_| {}).expect("it fits");
    let steps = found.refutation(SAME).map(|refuted| refuted.history.steps.len());
    assert_eq!(steps, Some(known.steps));
}

#[test]
fn a_table_holds_in_storms_whatever_the_engine_makes_of_them() {
    storms::all_hold(300, |seed| {
        let setup = Setup::new(storms::size(seed));
        let report = storms::run::<TableAlgorithm>(seed, setup, 5, None, |_, _| Vec::new());
        storms::wrong(&report).map(|wrong| format!("seed {seed}: {wrong}"))
    });
}

#[test]
fn a_service_has_its_own_parameters_and_those_of_its_engine_on_its_card() {
    let names: Vec<_> = TableAlgorithm::CARD.parameters.iter().map(|known| known.name).collect();
    assert_eq!(names[..4], ["keys", "engine", "period", "timeout"]);
    assert!(names.contains(&"partitions") && names.contains(&"passing"));
    assert!(TableAlgorithm::CARD.own_faults.is_some());
}
