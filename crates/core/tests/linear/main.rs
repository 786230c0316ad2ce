//! The linearizability checker: against brute force, against the literature, and its bounds.

mod brute;
mod counterexample;
mod format;
mod literature;
mod possibilities;
mod random;

use synod_core::linear::{Broken, Checker, Event, Finding, History, KeyValue, What};
use synod_core::replication::{Action, Answer, Operation};

/// A store with small numbers.
type Kv = KeyValue<u64, u64>;

fn invoke(client: u64, key: u64, action: Action) -> Event<Kv> {
    Event { client, time_us: None, what: What::Invoke(Operation { key, action }) }
}

fn answer(client: u64, answer: Answer) -> Event<Kv> {
    Event { client, time_us: None, what: What::Answer(answer) }
}

fn abandon(client: u64) -> Event<Kv> {
    Event { client, time_us: None, what: What::Abandon }
}

fn swap(expect: u64, new: u64) -> Action {
    Action::CompareAndSwap { expect: Some(expect), new }
}

/// A call and its answer, with no event between.
fn alone(client: u64, key: u64, action: Action, answered: Answer) -> [Event<Kv>; 2] {
    [invoke(client, key, action), answer(client, answered)]
}

fn put(client: u64, value: u64) -> [Event<Kv>; 2] {
    alone(client, 0, Action::Put(value), Answer::Done)
}

fn get(client: u64, value: u64) -> [Event<Kv>; 2] {
    alone(client, 0, Action::Get, Answer::Value(Some(value)))
}

/// Feeds a checker with one event.
fn judge(checker: &mut Checker<Kv>, event: &Event<Kv>) -> Finding<Box<Broken<Kv>>> {
    match &event.what {
        What::Invoke(operation) => checker.invoke(event.client, operation.clone()),
        What::Answer(answer) => return checker.answer(event.client, answer),
        What::Abandon => checker.abandon(event.client),
    }
    Finding::Linearizable
}

/// A checker after these events, all of them linearizable.
fn judged(events: &[Event<Kv>]) -> Checker<Kv> {
    let mut checker = Checker::default();
    for event in events {
        assert_eq!(judge(&mut checker, event), Finding::Linearizable, "{event:?} in {events:?}");
    }
    checker
}

/// The place of the first broken answer, found event by event.
fn first_broken(events: &[Event<Kv>]) -> Option<(usize, Broken<Kv>)> {
    let mut checker = Checker::default();
    events.iter().enumerate().find_map(|(index, event)| match judge(&mut checker, event) {
        Finding::Linearizable => None,
        Finding::Broken(broken) => Some((index, *broken)),
        Finding::Unknown => panic!("too many possibilities in {events:?}"),
    })
}

fn history(events: Vec<Event<Kv>>) -> History<Kv> {
    History::new(events).unwrap_or_else(|error| panic!("{error}"))
}

/// The verdict on a recorded history, in one word.
fn verdict(events: &[Event<Kv>], limit: usize) -> Finding<()> {
    match history(events.to_vec()).check(limit, &mut |_| {}) {
        Finding::Linearizable => Finding::Linearizable,
        Finding::Broken(_) => Finding::Broken(()),
        Finding::Unknown => Finding::Unknown,
    }
}
