//! Counterexamples are short, and their pictures show the mistake.

use crate::{Kv, abandon, alone, answer, get, history, invoke, put};
use synod_core::linear::{Counterexample, Event, Finding, USUAL_LIMIT};
use synod_core::replication::{Action, Answer};

fn counterexample(events: &[Event<Kv>]) -> Counterexample<Kv> {
    match history(events.to_vec()).check(USUAL_LIMIT, &mut |_| {}) {
        Finding::Broken(found) => *found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_line_for_each_client_shows_the_intervals() {
    let mut events = put(0, 1).to_vec();
    events.push(invoke(0, 0, Action::Put(2)));
    events.extend(get(1, 2));
    events.extend(get(2, 1));
    let found = counterexample(&events);
    assert_eq!(
        found.diagram(80),
        "\
client 0  ├ put 0 1: done ┤ ├ put 0 2 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
client 1                      ├ get 0: 2 ┤
client 2                                   ├ get 0: 1 ✗ ┤
"
    );
    assert_eq!((found.start, found.left_out), (None, 0));
    assert_eq!(found.to_string(), "client 2: get 0 was answered 1, but only 2 was possible");
}

#[test]
fn long_lines_go_on_below() {
    let events = [put(0, 1), put(1, 2), put(2, 3)].concat();
    let mut overlapping = vec![invoke(3, 0, Action::Put(9))];
    overlapping.extend(events);
    overlapping.extend(get(4, 1));
    let drawn = counterexample(&overlapping).diagram(40);
    let bands: Vec<&str> = drawn.split("\n\n").collect();
    assert!(bands.len() > 1 && bands.iter().all(|band| band.lines().count() == 5), "{drawn}");
    assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
}

#[test]
fn what_lies_before_a_certain_state_or_after_the_wrong_answer_is_left_out() {
    let mut events = Vec::new();
    for round in 0..500 {
        events.extend(put(round % 5, round));
        events.extend(alone(9, 1, Action::Put(round), Answer::Done));
        events.extend(get(7, round));
    }
    events.extend([put(1, 1_000), get(2, 499), put(3, 1_001), get(2, 1)].concat());
    let found = counterexample(&events);
    let shown = [put(3, 498), put(4, 499), put(1, 1_000), get(2, 499)].concat();
    assert_eq!(found.events, shown);
    assert_eq!((found.key, found.start, found.left_out), (0, Some(497), 998));
}

#[test]
fn reads_that_are_not_needed_are_left_out_and_writes_never() {
    let mut events = vec![invoke(0, 0, Action::Put(5)), invoke(8, 0, Action::Get)];
    events.extend([get(1, 5), put(2, 6), get(3, 6), get(4, 5)].concat());
    events.push(answer(8, Answer::Value(None)));
    let found = counterexample(&events);
    let calls = found.events.iter().filter(|event| !matches!(event.client, 0 | 1 | 2 | 4));
    assert_eq!(calls.count(), 0, "{found:?}");
    assert_eq!(found.left_out, 2);
    assert!(found.events.iter().any(|event| event.client == 2));
}

#[test]
fn an_abandoned_write_that_may_still_happen_stays_in_the_picture() {
    let mut events = vec![invoke(0, 0, Action::Put(5)), abandon(0)];
    for round in 10..20 {
        events.extend(put(0, round));
    }
    events.extend([put(0, 2), get(1, 1)].concat());
    let found = counterexample(&events);
    assert_eq!((found.start, found.left_out), (Some(15), 6));
    let drawn = found.diagram(200);
    let rows: Vec<&str> = drawn.lines().collect();
    assert!(rows[1].starts_with("client 0      ├ put 0 16: done ┤ ├ put 0 17: done ┤"), "{drawn}");
    assert!(rows[0].starts_with("client 0  ├ put 0 5 ┄┄┄┄┄┄"), "{drawn}");
    assert!(rows[2].starts_with("client 1   ") && rows[2].ends_with("├ get 0: 1 ✗ ┤"), "{drawn}");
    assert_eq!(found.to_string(), "client 1: get 0 was answered 1, but only 2 or 5 was possible");
}
