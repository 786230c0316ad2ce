//! The checker says what brute force says, on thousands of small random histories.

use crate::brute::{Dice, Size, answers_to, is_linearizable, random_history};
use crate::{Kv, first_broken, history, verdict};
use synod_core::linear::{Broken, Event, Finding, USUAL_LIMIT, What};
use synod_core::replication::{Action, Operation, Store};

const HISTORIES: u64 = 24_000;

fn sizes(number: u64, dice: &mut Dice) -> Size {
    Size {
        operations: 7 - dice.below(4).min(dice.below(7)),
        clients: 2 + dice.below(4),
        keys: 1 + dice.below(2),
        values: 2 + dice.below(2),
        lies: 1 + number % 3,
        abandons: 4 + number % 9,
    }
}

fn random_histories() -> impl Iterator<Item = Vec<Event<Kv>>> {
    (0..HISTORIES).map(|number| {
        let mut dice = Dice(number);
        random_history(sizes(number, &mut dice), &mut dice)
    })
}

/// By definition: the end of the first prefix that is not linearizable.
fn first_broken_by_brute_force(events: &[Event<Kv>]) -> Option<usize> {
    (0..events.len())
        .filter(|index| matches!(events[*index].what, What::Answer(_)))
        .find(|index| !is_linearizable(&Store::default(), &events[..=*index]))
}

#[test]
fn the_first_broken_answer_is_the_one_that_brute_force_finds() {
    let mut broken = 0;
    let mut abandoned = 0;
    for events in random_histories() {
        let found = first_broken(&events).map(|(index, _)| index);
        assert_eq!(found, first_broken_by_brute_force(&events), "{events:#?}");
        broken += u64::from(found.is_some());
        abandoned += u64::from(events.iter().any(|event| event.what == What::Abandon));
    }
    let third = HISTORIES / 3;
    assert!(broken > third && HISTORIES - broken > third, "{broken} of {HISTORIES} are broken");
    assert!(abandoned > third, "{abandoned} of {HISTORIES} have abandoned operations");
}

#[test]
fn a_recorded_history_gets_the_same_verdict_as_a_watched_one() {
    for events in random_histories() {
        let watched = match first_broken(&events) {
            Some(_) => Finding::Broken(()),
            None => Finding::Linearizable,
        };
        assert_eq!(verdict(&events, USUAL_LIMIT), watched, "{events:#?}");
    }
}

#[test]
fn what_is_said_to_be_possible_is_just_what_is_possible() {
    for events in random_histories() {
        let Some((index, broken)) = first_broken(&events) else { continue };
        let answers = answers_to(&broken.operation.action, 3);
        let mut prefix = events[..=index].to_vec();
        let possible = answers.into_iter().filter(|answer| {
            prefix[index].what = What::Answer(answer.clone());
            is_linearizable(&Store::default(), &prefix)
        });
        let mut possible: Vec<_> = possible.collect();
        possible.sort();
        assert_eq!(broken.possible, possible, "{events:#?}");
    }
}

#[test]
fn a_counterexample_is_broken_and_without_its_last_answer_it_is_not() {
    for events in random_histories() {
        let Finding::Broken(found) = history(events).check(USUAL_LIMIT, &mut |_| {}) else {
            continue;
        };
        let mut store = Store::default();
        if let Some(value) = found.start {
            store.apply(&Operation { key: found.key, action: Action::Put(value) });
        }
        let (last, others) = found.events.split_last().expect("there is an answer");
        assert!(!is_linearizable(&store, &found.events), "{found:#?}");
        assert!(is_linearizable(&store, others), "{found:#?}");
        assert_eq!(last.what, What::Answer(found.broken.answer.clone()));
        assert_eq!(last.client, found.broken.id);
    }
}

#[test]
fn the_verdict_does_not_depend_on_how_clients_are_numbered() {
    for events in random_histories() {
        let renamed: Vec<Event<Kv>> = events
            .iter()
            .cloned()
            .map(|event| Event { client: 1000 - event.client, ..event })
            .collect();
        let (found, other) = (first_broken(&events), first_broken(&renamed));
        assert_eq!(found.as_ref().map(|found| found.0), other.as_ref().map(|found| found.0));
        let possible =
            |found: Option<(usize, Broken<Kv>)>| found.map(|(_, broken)| broken.possible);
        assert_eq!(possible(found), possible(other), "{events:#?}");
    }
}

#[test]
fn with_little_room_the_verdict_is_unknown_but_never_wrong() {
    let mut known = [0, 0];
    for events in random_histories() {
        let truth = verdict(&events, USUAL_LIMIT);
        for (limit, known) in [4, 8].into_iter().zip(&mut known) {
            match verdict(&events, limit) {
                Finding::Unknown => {}
                said => {
                    assert_eq!(said, truth, "{events:#?}");
                    *known += 1;
                }
            }
        }
    }
    assert!(0 < known[0] && known[0] < known[1] && known[1] < HISTORIES, "{known:?}");
}
