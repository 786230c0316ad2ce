//! Every claim on every card, checked: what an algorithm promises holds in every reachable state
//! of a small world, and what it lacks is found, by a history of exactly the length on the card.

use synod_check::{Question, Unfinished, explore};
use synod_core::card::{Counterexample, Scope};
use synod_drivers::Refuted;
use synod_protocols::{entries, which};
use synod_sim::world::Judged;

/// The result of an exploration.
struct Outcome {
    unfinished: Option<Unfinished>,
    /// Property, and the length of the shortest history that violates it.
    verdicts: Vec<(&'static str, Option<usize>)>,
}

/// Explores one algorithm in one scope. Every history that is reported, done again, shows what it
/// is reported for.
fn outcome(name: &str, question: &Question) -> Outcome {
    let explored = synod_drivers::explore(which, name, question, &mut |_| {});
    let explored = explored.expect("it is in the catalogue").expect("the scope fits the card");
    let verdict = |(property, refuted): &(&'static str, Option<Refuted>)| {
        let shown = refuted.as_ref().is_none_or(|refuted| refuted.shown);
        assert!(shown, "{name}: {property} is not shown again");
        (*property, refuted.as_ref().map(|refuted| refuted.length))
    };
    let verdicts = explored.verdicts.iter().map(verdict).collect();
    Outcome { unfinished: explored.unfinished, verdicts }
}

#[test]
fn what_an_algorithm_promises_holds_in_every_state_of_the_worlds_on_its_card() {
    for entry in entries().iter().filter(|entry| entry.card.mutant.is_none()) {
        for scope in entry.card.proved() {
            let mut question = Question::new(scope);
            let promises = entry.card.promises_with(&question.setup);
            question.judged = Judged::Only(promises.iter().map(|p| (*p).to_owned()).collect());
            let outcome = outcome(entry.card.name, &question);
            assert_eq!(outcome.unfinished, None, "{} in {scope:?}", entry.card.name);
            for (property, refuted) in outcome.verdicts {
                assert_eq!(refuted, None, "{} promises {property}, {scope:?}", entry.card.name);
            }
        }
    }
}

#[test]
fn every_counterexample_on_a_card_is_found_and_is_as_short_as_the_card_says() {
    let mut wrong = Vec::new();
    for entry in entries() {
        for Counterexample { property, scope, steps, .. } in entry.card.counterexamples {
            let mut question = Question::new(*scope);
            question.judged = Judged::Only(vec![(*property).to_owned()]);
            let outcome = outcome(entry.card.name, &question);
            let found = outcome.verdicts.iter().find(|(id, _)| id == property);
            let found = found.and_then(|(_, steps)| *steps);
            if found != Some(*steps) {
                let name = entry.card.name;
                wrong.push(format!("{name}, {property}: card says {steps}, found {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The order of requests is worth judging only if applications talk to each other.
#[test]
fn ricart_and_agrawala_keep_the_order_of_requests_whatever_the_applications_tell_each_other() {
    let mut question = Question::new(Scope { tells: 1, ..Scope::of(3) });
    question.judged = Judged::Only(vec!["ME3".to_owned()]);
    let outcome = outcome("ricart-agrawala", &question);
    assert_eq!((outcome.unfinished, &outcome.verdicts[..]), (None, &[("ME3", None)][..]));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads| {
        let mut question = Question::new(Scope::of(3));
        question.limits.threads = threads;
        let exploration = explore::<synod_protocols::mutex::Maekawa>(&question, |_| {});
        let exploration = exploration.expect("the scope fits the card");
        let histories: Vec<_> = exploration.verdicts.into_iter().map(|v| v.refuted).collect();
        (exploration.progress, format!("{histories:?}"))
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(7));
}
