//! A short counterexample from a long history that is broken.
//!
//! It never removes an event that could explain the answers: the rest is not linearizable *because*
//! the whole is not. In turn it keeps only one key; the shortest broken prefix; of a long one only
//! the end, from a moment at which the state was certain; and no reads that are not needed.

use super::diagram;
use super::offline::{Feed, Start, judge};
use super::{Broken, Event, Finding, Model, What};
use std::fmt;

/// The number of events at the end that are kept, even if the state was certain in between.
const TOLD_ANYWAY: usize = 12;
/// Superfluous reads are looked for only in histories up to this length: each read is tried apart.
const TRIMMED: usize = 200;

/// The shortest part of a history that we found not to be linearizable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counterexample<M: Model> {
    /// The broken key.
    pub key: M::Key,
    /// The state of the object at first.
    pub start: M::State,
    /// The number of operations on this key that were left out, because the others suffice.
    pub left_out: usize,
    /// The events. The last one is the answer that has no explanation.
    pub events: Vec<Event<M>>,
    /// That answer, and the possible ones; `id` is the client.
    pub broken: Broken<M>,
}

impl<M: Model> Counterexample<M> {
    /// One line for each client, with its operations from call to answer, in bands that are not
    /// wider than this.
    pub fn diagram(&self, width: usize) -> String {
        diagram::draw(&self.events, width)
    }
}

/// The answer, and the possible ones.
impl<M: Model> fmt::Display for Counterexample<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}: {}", self.broken.id, self.broken)
    }
}

/// Makes a counterexample from the events about one key, which are not linearizable.
pub(super) fn explain<M: Model>(
    events: &[&Event<M>],
    key: M::Key,
    limit: usize,
) -> Counterexample<M> {
    let prefix = shortest_prefix(events, limit);
    let (start, kept) = from_certain_state(prefix, key, limit);
    let kept = without_idle_reads(kept, &start, limit);
    let broken = last_answer(&kept, &start, limit);
    Counterexample {
        left_out: calls(prefix) - calls(&kept),
        key: start.0,
        start: start.1,
        events: kept.into_iter().cloned().collect(),
        broken,
    }
}

fn calls<M: Model>(events: &[&Event<M>]) -> usize {
    events.iter().filter(|event| matches!(event.what, What::Invoke(_))).count()
}

fn is_broken<M: Model>(events: &[&Event<M>], start: Option<&Start<M>>, limit: usize) -> bool {
    matches!(judge(events, start, limit, &mut |_| {}), Finding::Broken(_))
}

/// Every prefix of a linearizable history is linearizable, so halving finds the shortest that is
/// not. Where a verdict is unknown, a longer prefix is taken.
fn shortest_prefix<'a, 'e, M: Model>(
    events: &'a [&'e Event<M>],
    limit: usize,
) -> &'a [&'e Event<M>] {
    let is_answer = |at: &usize| matches!(events[at - 1].what, What::Answer(_));
    let ends: Vec<usize> = (1..=events.len()).filter(is_answer).collect();
    let (mut holds, mut broken) = (0, ends.len());
    while broken - holds > 1 {
        let middle = usize::midpoint(holds, broken);
        if is_broken(&events[..ends[middle - 1]], None, limit) {
            broken = middle;
        } else {
            holds = middle;
        }
    }
    &events[..ends[broken - 1]]
}

/// The last events, from a moment at which the state of the object was certain. Operations that
/// were abandoned before, and may still take effect, come first.
fn from_certain_state<'e, M: Model>(
    events: &[&'e Event<M>],
    key: M::Key,
    limit: usize,
) -> (Start<M>, Vec<&'e Event<M>>) {
    let mut feed = Feed::new(events, None, limit);
    let mut certain = (0, M::State::default(), Vec::new());
    while let Some(index) = feed.next_index() {
        let is_enough = events.len() - certain.0 <= TOLD_ANYWAY;
        if let Some((state, pending)) = feed.checker.settled(&key).filter(|_| !is_enough) {
            certain = (index, state, pending);
        }
        if is_enough || feed.step() != Finding::Linearizable {
            break;
        }
    }
    let (index, state, pending) = certain;
    let mut kept = abandoned_among(&events[..index], &feed, &pending);
    kept.extend(&events[index..]);
    let start = (key, state);
    // The part must be broken by itself. Otherwise the reason lies before it, and the whole is
    // kept.
    if is_broken(&kept, Some(&start), limit) {
        (start, kept)
    } else {
        ((start.0, M::State::default()), events.to_vec())
    }
}

/// The calls of these operations that are never answered, and the events that give them up.
fn abandoned_among<'e, M: Model>(
    events: &[&'e Event<M>],
    feed: &Feed<'_, M>,
    pending: &[M::Operation],
) -> Vec<&'e Event<M>> {
    let mut kept: Vec<&Event<M>> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        match &event.what {
            What::Invoke(operation) if !feed.is_answered(index) && pending.contains(operation) => {
                kept.push(event);
            }
            What::Abandon if is_called_last(&kept, event.client) => kept.push(event),
            _ => {}
        }
    }
    kept
}

/// Whether the last event of this client is a call.
fn is_called_last<M: Model>(events: &[&Event<M>], client: u64) -> bool {
    let last = events.iter().rev().find(|event| event.client == client);
    last.is_some_and(|event| matches!(event.what, What::Invoke(_)))
}

/// Removes reads, one by one, without which the history is still broken.
fn without_idle_reads<'e, M: Model>(
    mut events: Vec<&'e Event<M>>,
    start: &Start<M>,
    limit: usize,
) -> Vec<&'e Event<M>> {
    let mut index = 0;
    while index < events.len() && events.len() <= TRIMMED {
        let fewer = match &events[index].what {
            What::Invoke(operation) if M::is_read(operation) => without_call(&events, index),
            _ => Vec::new(),
        };
        if is_broken(&fewer, Some(start), limit) {
            events = fewer;
        } else {
            index += 1;
        }
    }
    events
}

/// Without the call at this place, and the event that ends it.
fn without_call<'e, M: Model>(events: &[&'e Event<M>], index: usize) -> Vec<&'e Event<M>> {
    let client = events[index].client;
    let end = (index + 1..events.len()).find(|other| events[*other].client == client);
    let is_left = |(other, _): &(usize, &&'e Event<M>)| *other != index && Some(*other) != end;
    events.iter().enumerate().filter(is_left).map(|(_, event)| *event).collect()
}

/// The last answer, and the answers that were possible instead.
fn last_answer<M: Model>(events: &[&Event<M>], start: &Start<M>, limit: usize) -> Broken<M> {
    let Some((Event { client: id, what: What::Answer(answer), .. }, before)) = events.split_last()
    else {
        unreachable!("prefixes end with an answer");
    };
    let operation = before.iter().rev().find_map(|event| match &event.what {
        What::Invoke(operation) if event.client == *id => Some(operation.clone()),
        _ => None,
    });
    Broken {
        id: *id,
        operation: operation.expect("what is answered was called"),
        answer: answer.clone(),
        possible: possible_at_last(events, start, limit).unwrap_or_default(),
    }
}

/// The possible last answers. It is judged as if the answer were not known in advance; then there
/// may be too many possibilities, and no result.
fn possible_at_last<M: Model>(
    events: &[&Event<M>],
    start: &Start<M>,
    limit: usize,
) -> Option<Vec<M::Answer>> {
    let mut feed = Feed::new(events, Some(start), limit);
    feed.forget_last_answer();
    for _ in 1..events.len() {
        if feed.step() != Finding::Linearizable {
            return None;
        }
    }
    feed.checker.possible(events.last()?.client)
}
