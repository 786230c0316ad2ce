//! Known histories, good and bad: registers as in the textbooks, and the queue of Herlihy and Wing.

use crate::{Kv, abandon, alone, answer, first_broken, get, invoke, put, swap};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use synod_core::linear::{Checker, Event, Finding, Model};
use synod_core::replication::{Action, Answer};

fn is_fine(events: &[Event<Kv>]) -> bool {
    first_broken(events).is_none()
}

/// The first broken answer, in words.
fn complaint(events: &[Event<Kv>]) -> String {
    first_broken(events).map_or_else(|| "nothing".to_owned(), |(_, broken)| broken.to_string())
}

#[test]
fn a_read_that_overlaps_a_write_may_see_the_old_value_or_the_new_one() {
    for seen in [Some(1), Some(2)] {
        let mut events = put(0, 1).to_vec();
        events.push(invoke(0, 0, Action::Put(2)));
        events.extend(alone(1, 0, Action::Get, Answer::Value(seen)));
        events.push(answer(0, Answer::Done));
        assert!(is_fine(&events));
    }
}

#[test]
fn a_read_after_a_write_does_not_see_what_was_there_before() {
    let events = [put(0, 1), put(0, 2), get(1, 1)].concat();
    assert_eq!(complaint(&events), "get 0 was answered 1, but only 2 was possible");
}

#[test]
fn a_value_that_no_client_wrote_is_never_read() {
    let events = [put(0, 1), get(1, 7)].concat();
    assert_eq!(complaint(&events), "get 0 was answered 7, but only 1 was possible");
}

#[test]
fn once_a_read_has_seen_the_new_value_no_later_one_sees_the_old_one() {
    let mut events = put(0, 1).to_vec();
    events.push(invoke(0, 0, Action::Put(2)));
    let inversion = [events.clone(), get(1, 2).to_vec(), get(2, 1).to_vec()].concat();
    assert_eq!(complaint(&inversion), "get 0 was answered 1, but only 2 was possible");
    assert!(is_fine(&[events, get(1, 1).to_vec(), get(2, 2).to_vec()].concat()));
}

#[test]
fn of_two_reads_that_overlap_one_may_see_the_old_value_though_it_ends_later() {
    let mut events = put(0, 1).to_vec();
    events.extend([invoke(0, 0, Action::Put(2)), invoke(1, 0, Action::Get)]);
    events.extend(get(2, 2));
    events.push(answer(1, Answer::Value(Some(1))));
    assert!(is_fine(&events));
}

#[test]
fn two_clients_cannot_see_two_writes_in_different_orders() {
    let writes = [invoke(0, 0, Action::Put(1)), invoke(1, 0, Action::Put(2))];
    let same = [writes.to_vec(), get(2, 1).to_vec(), get(3, 2).to_vec()].concat();
    assert!(is_fine(&[same.clone(), get(2, 2).to_vec()].concat()));
    assert!(!is_fine(&[same, get(2, 1).to_vec()].concat()));
}

#[test]
fn of_two_swaps_from_the_same_value_one_fails() {
    let both = |first, second| {
        let mut events = put(0, 1).to_vec();
        events.extend([invoke(0, 0, swap(1, 2)), invoke(1, 0, swap(1, 3))]);
        events.extend([answer(0, Answer::Swapped(first)), answer(1, Answer::Swapped(second))]);
        events
    };
    assert!(is_fine(&both(true, false)) && is_fine(&both(false, true)));
    let lost_update = "swap 0 1 -> 3 was answered swapped, but only not swapped was possible";
    assert_eq!(complaint(&both(true, true)), lost_update);
    assert!(!is_fine(&both(false, false)));
}

#[test]
fn a_swap_that_is_done_again_by_mistake_is_noticed() {
    // The client got the answer of the second execution, which failed.
    let events = [put(0, 1).to_vec(), alone(0, 0, swap(1, 2), Answer::Swapped(false)).to_vec()];
    assert!(!is_fine(&events.concat()));
}

#[test]
fn a_write_that_is_done_again_after_another_is_noticed() {
    let events = [put(0, 1), put(1, 2), get(2, 2), get(2, 1)].concat();
    assert!(!is_fine(&events));
}

#[test]
fn an_abandoned_write_takes_effect_late_or_never_but_only_once() {
    let mut events = vec![invoke(0, 0, Action::Put(1)), abandon(0)];
    events.extend(put(1, 2));
    let never = [events.clone(), get(2, 2).to_vec(), get(2, 2).to_vec()].concat();
    assert!(is_fine(&never));
    let late = [events.clone(), get(2, 2).to_vec(), get(2, 1).to_vec()].concat();
    assert!(is_fine(&late));
    let twice = [late, put(1, 3).to_vec(), get(2, 1).to_vec()].concat();
    assert_eq!(complaint(&twice), "get 0 was answered 1, but only 3 was possible");
}

#[test]
fn each_key_is_an_object_of_its_own() {
    let put_to = |client, key, value| alone(client, key, Action::Put(value), Answer::Done);
    let get_from = |client, key, value| alone(client, key, Action::Get, Answer::Value(value));
    let fine = [put_to(0, 1, 5), put_to(0, 2, 6), get_from(1, 1, Some(5)), get_from(1, 3, None)];
    assert!(is_fine(&fine.concat()));
    let stale = [put_to(0, 1, 5), put_to(0, 2, 6), get_from(1, 2, Some(5))];
    assert!(!is_fine(&stale.concat()));
}

/// A queue, first in, first out: the checker knows an object by its model only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Queue;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Queued {
    Enqueue(char),
    Dequeue,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Item(Option<char>);

impl fmt::Display for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Model for Queue {
    type Key = ();
    type Operation = Queued;
    type Answer = Item;
    type State = VecDeque<char>;

    fn key(_operation: &Queued) {}

    fn apply(state: &mut VecDeque<char>, operation: &Queued) -> Item {
        match operation {
            Queued::Enqueue(item) => {
                state.push_back(*item);
                Item(None)
            }
            Queued::Dequeue => Item(state.pop_front()),
        }
    }
}

/// Whether a queue can do this. `+x A` is A's call to enqueue x, `-x B` asks B for an item, which
/// is to be x; `. A` ends A's call.
fn can_a_queue(steps: &str) -> bool {
    let mut checker = Checker::<Queue>::default();
    let mut answers = std::collections::BTreeMap::new();
    steps.split(", ").all(|step| {
        let (what, client) = step.split_once(' ').expect("a step has two words");
        let client = u64::from(client.as_bytes()[0]);
        let mut letters = what.chars();
        match (letters.next(), letters.next()) {
            (Some('+'), Some(item)) => {
                answers.insert(client, Item(None));
                checker.invoke(client, Queued::Enqueue(item));
            }
            (Some('-'), item) => {
                answers.insert(client, Item(item));
                checker.invoke(client, Queued::Dequeue);
            }
            _ => return checker.answer(client, &answers[&client]) == Finding::Linearizable,
        }
        true
    })
}

#[test]
fn the_queues_of_herlihy_and_wing_are_judged_as_in_their_paper() {
    // Two overlapping enqueues may take effect in either order.
    assert!(can_a_queue("+x A, +y B, . B, . A, -x B, . B, -y A, . A, +z A, . A"));
    assert!(can_a_queue("+x A, +y B, . B, . A, -y B, . B, -x A, . A"));
    // x was enqueued before y began, so it comes out first.
    assert!(!can_a_queue("+x A, . A, +y B, . B, -y B, . B"));
    // x may be taken out while its enqueue is still under way.
    assert!(can_a_queue("+x A, -x B, . B, . A"));
    // No item is taken out twice.
    assert!(!can_a_queue("+x A, +y B, . A, . B, -y A, -y B, . A, . B"));
}
