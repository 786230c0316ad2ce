//! Which events share a row.

use synod_sim::trace::{Event, What};

/// The events of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group<'a> {
    /// Processes that start one after the other.
    Starts(&'a [Event]),
    /// The same message to one or more others, all sent in one step.
    Sends(&'a [Event]),
    /// A message that arrives or is lost as the next event: its arrow has both ends in one row.
    Straight {
        /// The sending.
        send: &'a Event,
        /// The receipt or the loss.
        end: &'a Event,
    },
    /// Any other event.
    One(&'a Event),
}

impl<'a> Group<'a> {
    /// Its events, in order.
    pub(super) fn events(self) -> impl Iterator<Item = &'a Event> {
        let (many, first, second): (&[Event], _, _) = match self {
            Group::Starts(events) | Group::Sends(events) => (events, None, None),
            Group::Straight { send, end } => (&[], Some(send), Some(end)),
            Group::One(event) => (&[], Some(event), None),
        };
        many.iter().chain(first).chain(second)
    }
}

/// Puts events into rows.
pub(super) fn grouped(events: &[Event]) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    let mut rest = events;
    while let Some(first) = rest.first() {
        let like_first = |event: &&Event| match first.what {
            What::Start => event.what == What::Start,
            What::Send => same_words(first, event),
            _ => false,
        };
        let length = rest.iter().take_while(like_first).count().max(1);
        let (group, after) = rest.split_at(length);
        rest = after;
        match (first.what, after.first()) {
            (What::Start, _) => groups.push(Group::Starts(group)),
            (What::Send, Some(end)) if length == 1 && arrives(first, end) => {
                groups.push(Group::Straight { send: first, end });
                rest = &after[1..];
            }
            (What::Send, _) => groups.push(Group::Sends(group)),
            _ => groups.push(Group::One(first)),
        }
    }
    groups
}

fn same_words(one: &Event, other: &Event) -> bool {
    let words = |event: &Event| (event.what, event.process, event.time_us, event.kind);
    words(one) == words(other) && one.text == other.text
}

fn arrives(send: &Event, end: &Event) -> bool {
    matches!(end.what, What::Receive | What::Lose)
        && send.message.is_some()
        && send.message == end.message
        && send.process != end.process
}

/// The numbers of messages, as briefly as possible: `#1–3 #7`.
pub(super) fn numbers(events: &[Event]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in events.iter().filter_map(|event| event.message) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let in_words = runs.iter().map(|&(first, last)| {
        if first == last { format!("#{first}") } else { format!("#{first}–{last}") }
    });
    in_words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Script};

    #[test]
    fn the_groups_hold_every_event_once_and_in_order() {
        for events in [sample::two_requests(), sample::troubles()] {
            let groups = grouped(&events);
            let held: Vec<u64> =
                groups.iter().flat_map(|group| group.events()).map(|event| event.index).collect();
            assert_eq!(held, (0..events.len() as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_message_that_arrives_at_once_is_one_row_and_a_multicast_too() {
        let mut script = Script::new(3);
        script.send(1, 0, 1, "Hello", "Hello").receive(1);
        script.send(2, 1, 0, "Hello", "Hello").send(3, 1, 2, "Hello", "Hello").receive(2);
        let events = script.events();
        let groups = grouped(&events);
        assert!(matches!(groups[0], Group::Straight { .. }), "{groups:?}");
        assert!(matches!(groups[1], Group::Sends(sends) if sends.len() == 2), "{groups:?}");
        assert_eq!(groups.len(), 3);
    }

    #[test]
    fn numbers_in_a_row_are_said_briefly() {
        let mut script = Script::new(2);
        for number in [1, 2, 3, 7] {
            script.send(number, 0, 1, "Hello", "Hello");
        }
        assert_eq!(numbers(&script.events()), "#1–3 #7");
    }
}
