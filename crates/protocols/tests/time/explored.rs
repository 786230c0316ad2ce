//! Every schedule of small worlds. (The catalogue's tests explore worlds in which every process
//! asks once, and the counterexamples on the cards.)

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Rounds, Scope};
use synod_core::family::clock_sync::T5;
use synod_protocols::time::{Cristian, LamportClock, VectorClock};
use synod_sim::Judged;

/// Explores a scope: the number of states, and the promises that fail, each with the length of the
/// shortest history.
fn explored<A: Algorithm>(mut question: Question) -> (usize, Vec<(&'static str, usize)>) {
    question.judged = Judged::Promised;
    let exploration = explore::<A>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    let refuted = exploration.verdicts.iter().filter_map(|verdict| {
        verdict.refuted.as_ref().map(|shown| (verdict.property, shown.history.steps.len()))
    });
    (exploration.progress.unique, refuted.collect())
}

#[test]
fn two_processes_with_lamport_clocks_keep_every_promise_in_three_events_each() {
    let scope = Scope { rounds: Rounds::Times(3), ..Scope::of(2) };
    assert_eq!(explored::<LamportClock>(Question::new(scope)), (17_249, vec![]));
}

#[test]
fn two_processes_with_vector_clocks_keep_every_promise_in_three_events_each() {
    let scope = Scope { rounds: Rounds::Times(3), ..Scope::of(2) };
    assert_eq!(explored::<VectorClock>(Question::new(scope)), (42_528, vec![]));
}

#[test]
fn two_clients_are_no_more_wrong_than_they_say_whenever_messages_arrive() {
    let scope = Scope { ticks: 3, ..Scope::of(3) };
    assert_eq!(explored::<Cristian>(Question::new(scope)), (442, vec![]));
}

#[test]
fn an_answer_that_arrives_twice_misleads_no_client_however_often_it_asks() {
    let scope = Scope { ticks: 4, duplicates: 1, rounds: Rounds::Times(2), ..Scope::of(2) };
    let mut question = Question::new(scope);
    question.setup = question.setup.with("attempts", "2");
    assert_eq!(explored::<Cristian>(question), (6_033, vec![]));
}

/// The bound needs that no message takes less than `min`; here messages may take no time at all.
#[test]
fn a_client_that_expects_too_much_of_the_network_is_more_wrong_than_it_says() {
    let mut question = Question::new(Scope { ticks: 3, ..Scope::of(2) });
    question.setup = question.setup.with("min_us", "1000");
    assert_eq!(explored::<Cristian>(question).1, [(T5, 5)]);
}
