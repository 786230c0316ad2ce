//! Every state of small pools on the abstract engine: whatever a group service may do.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_protocols::slots::SlotsAlgorithm;

/// How many states there are, if everything that is judged holds in all of them: the family's
/// properties, and the invariants.
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

/// Where the card says that some rules hold although something goes wrong.
fn proved(rules: &str) -> Vec<Scope> {
    let is_fault = |name: &str| name == "partitions" || name == "deaths";
    let goes_wrong = |scope: &Scope| scope.set.iter().any(|(name, _)| is_fault(name));
    let with = |scope: &Scope| scope.set.contains(&("rules", rules)) && goes_wrong(scope);
    SlotsAlgorithm::CARD.proved().into_iter().filter(with).collect()
}

#[test]
fn repaired_rules_hold_whatever_a_group_service_does() {
    let counts: Vec<usize> = proved("repaired").into_iter().map(states).collect();
    assert_eq!(counts, [9_960, 62_768, 16_487, 8_510, 22_289]);
}

#[test]
fn offers_hold_whatever_a_group_service_does() {
    let counts: Vec<usize> = proved("offers").into_iter().map(states).collect();
    assert_eq!(counts, [6_242, 72_374, 18_584, 3_594, 6_585]);
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
