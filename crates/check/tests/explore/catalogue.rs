//! Every claim on every card, checked: what an algorithm promises holds in every reachable state
//! of a small world, and what it lacks is found, by a history of exactly the length on the card.

use synod_check::{Exploration, Question, Unfinished, explore, replay};
use synod_core::card::{Counterexample, Scope};
use synod_core::{Algorithm, Family};
use synod_protocols::{Visit, entries, visit};
use synod_sim::world::Judged;

/// Explores one algorithm in one scope.
struct Explore<'q>(&'q Question);

/// What is left of an exploration when the algorithm's types are forgotten.
struct Outcome {
    unfinished: Option<Unfinished>,
    /// Property, and the length of the shortest history that violates it.
    verdicts: Vec<(&'static str, Option<usize>)>,
}

impl Visit for Explore<'_> {
    type Answer = Outcome;

    fn visit<A: Algorithm>(self) -> Outcome {
        let exploration = explore::<A>(self.0, |_| {}).expect("the scope fits the card");
        must_replay::<A>(self.0, &exploration);
        let verdict = |v: &synod_check::Verdict<A::Input>| {
            (v.property, v.refuted.as_ref().map(|refuted| refuted.history.steps.len()))
        };
        Outcome {
            unfinished: exploration.unfinished,
            verdicts: exploration.verdicts.iter().map(verdict).collect(),
        }
    }
}

/// Every history that is reported, done again, shows the violation in its last step, or ends in a
/// state in which the one who waits still waits.
fn must_replay<A: Algorithm>(question: &Question, exploration: &Exploration<A::Input>) {
    use synod_core::Monitor;
    for verdict in &exploration.verdicts {
        let Some(refuted) = &verdict.refuted else { continue };
        let end = replay::<A>(question, &refuted.history, None).expect("it happened once").world;
        let shown = if A::Family::LIVENESS.contains(&verdict.property) {
            end.monitor().waiting(verdict.property).contains(refuted.violation.at)
        } else {
            end.found().contains(&refuted.violation)
        };
        assert!(shown, "{}: {} is not shown again", A::CARD.name, verdict.property);
    }
}

fn outcome(name: &str, question: &Question) -> Outcome {
    visit(name, Explore(question)).expect("it is in the catalogue")
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
