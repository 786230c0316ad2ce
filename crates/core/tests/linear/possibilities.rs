//! The state of a checker is canonical and bounded, and forgets differences that no client can
//! notice.

use crate::brute::{Dice, Size, answers_to, is_linearizable, random_history};
use crate::{Kv, abandon, alone, answer, get, invoke, judge, judged, put};
use std::collections::BTreeMap;
use synod_core::linear::{Checker, Event, Finding, What};
use synod_core::replication::{Action, Answer, Operation, Store};

#[test]
fn a_checker_forgets_what_is_over() {
    assert_eq!(judged(&[put(0, 1), put(1, 2), get(2, 2)].concat()), judged(&put(7, 2)));
    let emptied = alone(1, 0, Action::Delete, Answer::Deleted(true));
    assert_eq!(judged(&[put(0, 1), emptied].concat()), Checker::default());
}

#[test]
fn an_abandoned_read_is_forgotten() {
    let read = [invoke(0, 0, Action::Get), abandon(0)];
    assert_eq!(judged(&read), Checker::default());
    let idle = Action::CompareAndSwap { expect: Some(1), new: 1 };
    assert_eq!(judged(&[invoke(0, 0, idle), abandon(0)]), Checker::default());
    let write = [invoke(0, 0, Action::Put(1)), abandon(0)];
    assert_ne!(judged(&write), Checker::default());
}

#[test]
fn an_abandoned_write_that_was_seen_is_over() {
    let seen = [vec![invoke(0, 0, Action::Put(1)), abandon(0)], get(1, 1).to_vec()].concat();
    assert_eq!(judged(&seen), judged(&put(1, 1)));
}

#[test]
fn it_does_not_matter_who_was_asked_first() {
    let calls = [invoke(0, 0, Action::Put(1)), invoke(1, 0, Action::Get)];
    let turned = [calls[1].clone(), calls[0].clone()];
    assert_eq!(judged(&calls), judged(&turned));
}

/// The operations that are open at the end.
fn open_in(events: &[Event<Kv>]) -> BTreeMap<u64, Operation> {
    let mut open = BTreeMap::new();
    for event in events {
        match &event.what {
            What::Invoke(operation) => drop(open.insert(event.client, operation.clone())),
            What::Answer(_) | What::Abandon => drop(open.remove(&event.client)),
        }
    }
    open
}

/// All futures, by brute force: for every continuation by `depth` answers, reads and writes,
/// whether it is linearizable.
fn futures(events: &[Event<Kv>], depth: usize, futures_so_far: &mut Vec<bool>) {
    let holds = is_linearizable(&Store::default(), events);
    futures_so_far.push(holds);
    if !holds || depth == 0 {
        return;
    }
    let mut steps: Vec<Vec<Event<Kv>>> = Vec::new();
    for (client, operation) in open_in(events) {
        let answers = answers_to(&operation.action, 2);
        steps.extend(answers.into_iter().map(|told| vec![answer(client, told)]));
    }
    let reads = answers_to(&Action::Get, 2).into_iter();
    steps.extend(reads.map(|told| alone(50, 0, Action::Get, told).to_vec()));
    steps.extend((0..2).map(|value| put(50, value).to_vec()));
    for step in steps {
        futures(&[events.to_vec(), step].concat(), depth - 1, futures_so_far);
    }
}

#[test]
fn histories_that_leave_the_same_possibilities_leave_equal_checkers() {
    let mut classes: BTreeMap<(String, Vec<bool>), (Checker<Kv>, u64)> = BTreeMap::new();
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let size = Size {
            operations: 1 + seed % 4,
            clients: 3,
            keys: 1,
            values: 2,
            lies: 99,
            abandons: 99,
        };
        let events = random_history(size, &mut dice);
        let open = open_in(&events);
        if events.contains(&abandon(0)) || !is_linearizable(&Store::default(), &events) {
            continue;
        }
        let mut seen = Vec::new();
        futures(&events, (open.len() + 2).min(4), &mut seen);
        let checker = judged(&events);
        let (other, count) =
            classes.entry((format!("{open:?}"), seen)).or_insert_with(|| (checker.clone(), 0));
        assert_eq!(*other, checker, "after {events:#?}");
        *count += 1;
    }
    let shared = classes.values().filter(|(_, count)| *count > 1).count();
    assert!(classes.len() > 100 && shared > 30, "{shared} of {}", classes.len());
}

/// Clients that write different values at the same time, and one that reads all the time.
fn crowd(clients: u64) -> Vec<Event<Kv>> {
    let mut events = vec![invoke(100, 0, Action::Get)];
    events.extend((0..clients).map(|client| invoke(client, 0, Action::Put(client))));
    events.extend((0..clients).map(|client| answer(client, Answer::Done)));
    events
}

#[test]
fn beyond_the_limit_a_key_is_unknown_for_good_and_others_are_not() {
    let mut checker = Checker::new(50);
    let mut unknown = false;
    for event in crowd(20) {
        match judge(&mut checker, &event) {
            Finding::Linearizable => assert!(!unknown || matches!(event.what, What::Invoke(_))),
            Finding::Unknown => unknown = true,
            Finding::Broken(broken) => panic!("{broken}"),
        }
    }
    assert!(unknown);
    let [call, wrong] = get(0, 777);
    assert_eq!(judge(&mut checker, &call), Finding::Linearizable);
    assert_eq!(judge(&mut checker, &wrong), Finding::Unknown);
    let [call, wrong] = alone(0, 1, Action::Get, Answer::Value(Some(7)));
    assert_eq!(judge(&mut checker, &call), Finding::Linearizable);
    assert!(matches!(judge(&mut checker, &wrong), Finding::Broken(_)));
}

#[test]
fn a_recorded_history_needs_less_room_than_a_watched_one() {
    let mut events = crowd(20);
    events.push(answer(100, Answer::Value(Some(3))));
    assert_eq!(crate::verdict(&events, 1_000), Finding::Linearizable);
}
