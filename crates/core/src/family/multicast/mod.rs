//! Multicast in groups: all members deliver a member's message, in an order.
//!
//! A process may belong to several groups. Groups are closed: only a member multicasts to a group.
//! To *deliver* a message is to hand it to the application; it may have been *received* long
//! before. All orders are about the messages of one group; messages of different groups are not
//! ordered.
//!
//! Processes fail by crashing, and a crashed process is faulty for good. It may start again, but
//! the others owe it no message then, and only the origin of its deliveries is judged: the
//! algorithms here remember nothing beyond a crash.

mod groups;
mod monitor;
mod payload;

pub use groups::{GROUPS, GroupId, Groups, SENDERS, senders};
pub use monitor::Scribe;
pub use payload::{PAYLOAD, Payload, body};

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::Rounds;
use crate::process::ProcessId;
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// The family of multicast algorithms.
#[derive(Clone, Copy, Debug)]
pub struct GroupMulticast;

/// A request of the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// All members of the group shall deliver this payload.
    Multicast {
        /// The receivers. The sender is a member.
        group: GroupId,
        /// The content.
        payload: Payload,
    },
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// A message is delivered.
    Deliver {
        /// The group to which it was multicast.
        group: GroupId,
        /// The process that multicast it.
        sender: ProcessId,
        /// The content.
        payload: Payload,
    },
}

/// Every delivered message was multicast, to this group, and is delivered once.
pub const INTEGRITY: &str = "integrity";
/// A sender delivers its own message in the end.
pub const VALIDITY: &str = "validity";
/// All or nothing, for those that do not crash.
pub const AGREEMENT: &str = "agreement";
/// All or nothing, and deliveries of a process before it crashes count too.
pub const UNIFORM: &str = "uniform";
/// The messages of each sender are delivered in the order of sending.
pub const FIFO: &str = "fifo";
/// A message is delivered after all messages that its sender had sent or delivered before.
pub const CAUSAL: &str = "causal";
/// All members deliver in the same order.
pub const TOTAL: &str = "total";

/// In larger groups neither FIFO nor causal order is judged: they need a number for each pair of
/// processes.
pub const ORDER_JUDGED_UP_TO: usize = 256;

impl Family for GroupMulticast {
    const NAME: &'static str = "multicast";
    const OPERATION: &'static str = "multicast";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: INTEGRITY,
            name: "integrity",
            statement: "a message is delivered at most once, by members of its group only, and \
                        only if its sender multicast it",
        },
        Property {
            id: VALIDITY,
            name: "validity",
            statement: "whoever multicasts a message and does not crash delivers it in the end",
        },
        Property {
            id: AGREEMENT,
            name: "agreement",
            statement: "what one member that does not crash delivers, all that do not crash \
                        deliver in the end",
        },
        Property {
            id: UNIFORM,
            name: "uniform agreement",
            statement: "what any member delivers, even if it crashes then, all that do not crash \
                        deliver in the end",
        },
        Property {
            id: FIFO,
            name: "FIFO order",
            statement: "a message is delivered after all that its sender multicast to the group \
                        before",
        },
        Property {
            id: CAUSAL,
            name: "causal order",
            statement: "a message is delivered after all messages of the group whose multicast \
                        happened before its own",
        },
        Property {
            id: TOTAL,
            name: "total order",
            statement: "if one member delivers a before b, every member that delivers b delivers \
                        a before",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[INTEGRITY, VALIDITY];
    const LIVENESS: &'static [&'static str] = &[VALIDITY, AGREEMENT, UNIFORM];

    type Input = Input;
    type Output = Output;
    type Application = Multicaster;
    type Monitor = Scribe;

    fn can_judge(id: &str, n: usize) -> bool {
        ![FIFO, CAUSAL].contains(&id) || n <= ORDER_JUDGED_UP_TO
    }

    fn pace(Input::Multicast { .. }: &Input) -> Pace {
        Pace::Think
    }

    #[inline]
    fn mark_of_input(Input::Multicast { .. }: &Input) -> Mark {
        Mark::Ask
    }

    #[inline]
    fn mark_of_output(at: ProcessId, Output::Deliver { sender, .. }: &Output) -> Mark {
        if *sender == at { Mark::Done } else { Mark::Reached }
    }

    fn request(Input::Multicast { group, payload }: &Input) -> Option<u64> {
        Some(u64::from(group.0) << 32 | u64::from(payload.number))
    }

    fn request_of(Output::Deliver { group, sender, payload }: &Output) -> Option<(ProcessId, u64)> {
        Some((*sender, u64::from(group.0) << 32 | u64::from(payload.number)))
    }

    fn input_in_words(Input::Multicast { group, payload }: &Input) -> String {
        match group {
            GroupId(0) => format!("multicasts {}", payload.number),
            group => format!("multicasts {} to {group}", payload.number),
        }
    }

    fn output_in_words(Output::Deliver { group, sender, payload }: &Output) -> String {
        format!("delivers {}", message_in_words(*group, *sender, payload.number))
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        let (number, group) = match words {
            ["multicasts", number] => (number, GroupId(0)),
            ["multicasts", number, "to", group] => (number, GroupId::from_word(group)?),
            _ => return None,
        };
        let payload = Payload::numbered(number.parse().ok()?);
        Some(Input::Multicast { group, payload })
    }

    const PHRASES: &'static [&'static str] = &["multicasts 1", "multicasts 1 to g1"];
}

/// `2 of p0`, `2 of p0 in g1`.
fn message_in_words(group: GroupId, sender: ProcessId, number: u32) -> String {
    match group {
        GroupId(0) => format!("{number} of {sender}"),
        group => format!("{number} of {sender} in {group}"),
    }
}

/// An application that multicasts to its groups in rounds, and numbers its messages for each group.
/// It does not wait until the last is delivered before it multicasts the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Multicaster {
    /// Its groups, each with the number of the last multicast.
    groups: SmallVec<[(GroupId, u32); 2]>,
    left: Rounds,
    body: Option<Arc<[u8]>>,
}

impl Application for Multicaster {
    type Family = GroupMulticast;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let groups = Groups::of(setup).expect("the algorithm has accepted the groups");
        let body = body(setup).expect("the algorithm has accepted the size");
        let speaks = senders(setup).expect("the algorithm has accepted them").contains(me);
        let rounds = if speaks { rounds } else { Rounds::Times(0) };
        let groups = groups.of_process(me).map(|(group, _)| (group, 0)).collect();
        Multicaster { groups, left: rounds, body }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.left.are_left() {
            for &(group, last) in &self.groups {
                let payload = Payload { number: last + 1, body: self.body.clone() };
                offer(Input::Multicast { group, payload });
            }
        }
    }

    fn on_input(&mut self, Input::Multicast { group, payload }: &Input) {
        self.left.use_one();
        if let Some((_, last)) = self.groups.iter_mut().find(|(mine, _)| mine == group) {
            *last = payload.number;
        }
    }

    fn on_output(&mut self, _output: &Output, _moment: Moment<'_>) -> Option<Input> {
        None
    }

    /// The numbers survive a crash: a message after a restart is another one.
    fn on_crash(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_inputs_mean_the_same() {
        for group in [0, 3].map(GroupId) {
            let input = Input::Multicast { group, payload: Payload::numbered(2) };
            let words = GroupMulticast::input_in_words(&input);
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(GroupMulticast::input_from_words(&words), Some(input));
        }
        for words in [&["multicasts"][..], &["multicasts", "x"], &["multicasts", "1", "to", "p1"]] {
            assert_eq!(GroupMulticast::input_from_words(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_member_of_two_groups_numbers_its_messages_for_each() {
        let setup = Setup::new(3).with("groups", "p0 p1; p1 p2; p0 p2");
        let mut member = Multicaster::new(ProcessId(1), &setup, Rounds::Times(2));
        let offered = |member: &Multicaster| {
            let mut offers = Vec::new();
            member.offers(&mut |offer| offers.push(offer));
            offers.iter().map(GroupMulticast::input_in_words).collect::<Vec<_>>()
        };
        assert_eq!(offered(&member), ["multicasts 1", "multicasts 1 to g1"]);
        let input = GroupMulticast::input_from_words(&["multicasts", "1", "to", "g1"]);
        member.on_input(&input.expect("it was offered"));
        assert_eq!(offered(&member), ["multicasts 1", "multicasts 2 to g1"]);
        member.on_input(&Input::Multicast { group: GroupId(0), payload: Payload::numbered(1) });
        assert_eq!(offered(&member), [""; 0], "it has asked twice");
    }

    #[test]
    fn a_delivery_ends_the_operation_of_its_sender_only() {
        let payload = Payload::numbered(1);
        let output = Output::Deliver { group: GroupId(1), sender: ProcessId(0), payload };
        assert_eq!(GroupMulticast::mark_of_output(ProcessId(0), &output), Mark::Done);
        assert_eq!(GroupMulticast::mark_of_output(ProcessId(1), &output), Mark::Reached);
        assert_eq!(GroupMulticast::output_in_words(&output), "delivers 1 of p0 in g1");
    }
}
