//! Basic multicast: send the message to each member.
//!
//! To multicast, a process sends the message to every member of the group, itself included; every
//! receiver delivers it. On request each receiver acknowledges it, and the sender learns when all
//! have it. That does not scale: the acknowledgements of a large group come back all at once (*ack
//! implosion*). Over links of equal length G − 1 of them are on their way to the sender at the same
//! moment: 4 in a group of 5, 199 in a group of 200.
//!
//! - Assumes: reliable links, in any order.
//! - Guarantees: integrity, validity. Agreement only if the sender does not crash in the middle of
//!   sending: then some members have the message, and the others never get it.
//! - Cost: G − 1 messages; with acknowledgements as many again.
//! - State: none; with acknowledgements, one set for each message that not all have confirmed, at
//!   most [`UNCONFIRMED_AT_MOST`]: the sender gives older ones up.
//!
//! Source: V. Hadzilacos, S. Toueg: A modular approach to fault-tolerant broadcasts and related
//! problems. Cornell TR 94-1425, 1994. G. Coulouris et al.: Distributed Systems, 5th ed. 2012,
//! 15.4.

use super::groups::{InGroups, Tower};
use super::{Deliver, Multicast, cost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::marker::PhantomData;
use synod_core::card::{Bounds, Counterexample, OtherCosts, Parameter, Scope};
use synod_core::family::multicast::{
    AGREEMENT, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source, Wire,
};

/// The bound on messages that wait for acknowledgements.
pub const UNCONFIRMED_AT_MOST: usize = 1024;

/// The messages between members.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D> {
    /// A payload.
    Data(D),
    /// A payload that the receiver shall acknowledge.
    Asking {
        /// Its number among those of its sender.
        number: u32,
        /// The payload.
        payload: D,
    },
    /// The message with this number has arrived.
    Ack(u32),
}

impl<D: Data> Wire for Message<D> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Data(_) | Message::Asking { .. } => "Data",
            Message::Ack(_) => "Ack",
        }
    }
}

/// One process of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Basic<D> {
    acks: Acks,
    payload: PhantomData<D>,
}

/// Whether receivers acknowledge messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Acks {
    No,
    Yes {
        /// The number of the last message.
        last: u32,
        /// For each message, by number: the members that have not acknowledged it yet.
        missing: BTreeMap<u32, ProcessSet>,
    },
}

impl<D: Data> Basic<D> {
    /// A process that wants no acknowledgements.
    pub fn new() -> Self {
        Basic { acks: Acks::No, payload: PhantomData }
    }

    /// A process with or without acknowledgements, by the parameter [`ACKS`].
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        match setup.text(ACKS.name) {
            None | Some("no") => Ok(Basic::new()),
            Some("yes") => {
                let acks = Acks::Yes { last: 0, missing: BTreeMap::new() };
                Ok(Basic { acks, payload: PhantomData })
            }
            Some(_) => Err(setup.bad(ACKS.name, "it is yes or no")),
        }
    }

    /// The number of messages that not all members have acknowledged.
    pub fn unconfirmed(&self) -> usize {
        match &self.acks {
            Acks::No => 0,
            Acks::Yes { missing, .. } => missing.len(),
        }
    }
}

impl<D: Data> Default for Basic<D> {
    fn default() -> Self {
        Basic::new()
    }
}

impl<D: Data> Protocol for Basic<D> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<D>;
    type Timer = Never;

    /// The copy to itself comes last, so that no process delivers a message that it never sent to
    /// others.
    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        let message = self.envelope(payload.clone(), cx);
        cx.multicast(message);
        cx.output(Deliver { sender: cx.me(), payload });
    }

    fn on_message(&mut self, from: ProcessId, message: Message<D>, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Data(payload) => cx.output(Deliver { sender: from, payload }),
            Message::Asking { number, payload } => {
                cx.output(Deliver { sender: from, payload });
                cx.send(from, Message::Ack(number));
            }
            Message::Ack(number) => self.on_ack(from, number, cx),
        }
    }
}

impl<D: Data> Basic<D> {
    fn envelope(&mut self, payload: D, cx: &Cx<'_, Self>) -> Message<D> {
        let Acks::Yes { last, missing } = &mut self.acks else { return Message::Data(payload) };
        *last += 1;
        if cx.group_size() > 1 {
            missing.insert(*last, cx.peers());
        }
        if missing.len() > UNCONFIRMED_AT_MOST {
            // Members that never acknowledge must not fill the memory: the oldest message is given
            // up.
            missing.pop_first();
        }
        Message::Asking { number: *last, payload }
    }

    fn on_ack(&mut self, from: ProcessId, number: u32, cx: &mut Cx<'_, Self>) {
        match &mut self.acks {
            Acks::Yes { last, missing } if (1..=*last).contains(&number) => {
                if let Entry::Occupied(mut others) = missing.entry(number) {
                    others.get_mut().remove(from);
                    if others.get().is_empty() {
                        others.remove();
                    }
                }
            }
            _ => cx.accuse(from, "acknowledged what was never sent"),
        }
    }
}

/// The parameter that asks for acknowledgements.
pub const ACKS: Parameter = Parameter {
    name: "acks",
    meaning: "whether every receiver acknowledges every message, yes or no (default: no)",
};

/// Basic multicast by itself.
pub type BasicMulticast = InGroups<BasicTower>;

/// See [`BasicMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BasicTower;

impl Tower for BasicTower {
    type Top = Basic<Payload>;

    const CARD: Card = Card {
        name: "basic-multicast",
        aliases: &["basic", "b-multicast"],
        title: "Basic multicast",
        source: Source {
            author: "V. Hadzilacos, S. Toueg",
            year: 1994,
            work: "A modular approach to fault-tolerant broadcasts and related problems, \
                   Cornell TR 94-1425",
        },
        idea: "Send the message to each member; each receiver delivers it.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: send the message to every member of the group, oneself included",
            ),
            Rule::on_message(
                "Data",
                "on a message: deliver it; if an acknowledgement is wanted, send it",
            ),
            Rule::on_message(
                "Ack",
                "on an acknowledgement: strike its sender off the list of the message",
            ),
        ],
        assumes: &[
            "reliable links, in any order",
            "no process crashes; agreement is lost if the sender crashes while it sends",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { crashes: 1, set: &[("senders", "p0")], ..Scope::of(3) },
            steps: 2,
            story: "the sender crashes after it has sent to one of the others: that one delivers, \
                    the other never does",
        }],
        costs: &[
            cost::per_multicast("G - 1", |size| Bounds::exactly(size.n - 1)),
            cost::reach_hops("1", |_| Bounds::exactly(1)),
        ],
        other_costs: &[
            OtherCosts::over_multicast(&[cost::per_multicast("1", |size| {
                Bounds::exactly(size.n.min(2) - 1)
            })]),
            OtherCosts::with(
                &[("acks", "yes")],
                &[cost::per_multicast("2(G - 1), half of them acknowledgements", |size| {
                    Bounds::exactly(2 * (size.n - 1))
                })],
            ),
            OtherCosts {
                set: &[("acks", "yes")],
                multicast: true,
                costs: &[cost::per_multicast("G, all but one acknowledgements", |size| {
                    Bounds::exactly(if size.n == 1 { 0 } else { size.n })
                })],
            },
        ],
        parameters: &[GROUPS, SENDERS, PAYLOAD, ACKS],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Basic::from_setup(setup)
    }
}
