//! Multicast by acknowledgements and retransmission: the simplest that copes with loss.
//!
//! The sender keeps a message until every member has acknowledged it, and sends it again, after a
//! while, to those that have not. A receiver acknowledges every copy, because an acknowledgement
//! may be lost, too, and delivers the first.
//!
//! In a large group the acknowledgements come back all at once (*ack implosion*). A receive buffer
//! has room for B messages; of G − 1 acknowledgements that arrive at the same moment it takes B,
//! and the others are lost. So the sender repeats its message to members that have it, ⌈(G − 1)/B⌉
//! times in all, where one would do. `synod implosion` measures it. Receivers that wait a random
//! time before they acknowledge (`spread`) help; so do [negative
//! acknowledgements](super::ip_reliable).
//!
//! - Assumes: no process crashes; links may lose and double messages, in any order, but not for
//!   ever.
//! - Guarantees: integrity, validity, agreement. Not if the sender crashes.
//! - Cost without loss: 2(G − 1) messages; with receive buffers of B, at equal delays, the sum of
//!   2(G − 1 − kB) for k = 0, 1, … as long as it is positive.
//! - State: at the sender each message that not all have acknowledged, at most
//!   [`UNCONFIRMED_AT_MOST`]; older ones are given up. At a receiver the numbers received.
//!
//! Source: G. Coulouris et al.: Distributed Systems, 5th ed. 2012, 15.4. P. B. Danzig: Flow control
//! for limited buffer multicast. IEEE Transactions on Software Engineering 20(1), 1994.

use super::basic::UNCONFIRMED_AT_MOST;
use super::groups::{InGroups, Tower};
use super::received::Received;
use super::{Deliver, Multicast, cost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::{Bounds, Counterexample, OtherCosts, Parameter, Rounds, Scope, Tolerance};
use synod_core::family::multicast::{
    AGREEMENT, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source, Trigger, Wire,
};

/// The messages between members. `number` is that of the message among those of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D> {
    /// A payload, to be acknowledged.
    Data {
        /// Its number.
        number: u32,
        /// The payload.
        payload: D,
    },
    /// The message with this number has arrived.
    Ack(u32),
}

impl<D: Data> Wire for Message<D> {}

/// The timers of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The sender repeats unacknowledged messages.
    Resend,
    /// A receiver acknowledges this message of this sender.
    Ack(ProcessId, u32),
}

/// What is set before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Settings {
    resend_ms: u64,
    spread_ms: u64,
    /// How often a message is sent at most.
    tries: u32,
}

/// A message that some members have not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Unconfirmed<D> {
    payload: D,
    missing: ProcessSet,
    tries: u32,
}

/// One member. The mutant without `ONCE` delivers every copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Acknowledged<D, const ONCE: bool = true> {
    settings: Settings,
    /// The number of our last message.
    last: u32,
    unconfirmed: BTreeMap<u32, Unconfirmed<D>>,
    /// For each process: the numbers of its messages that have arrived.
    received: Vec<Received>,
}

impl<D: Data, const ONCE: bool> Protocol for Acknowledged<D, ONCE> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<D>;
    type Timer = Timer;

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.last += 1;
        if cx.group_size() > 1 {
            cx.multicast(Message::Data { number: self.last, payload: payload.clone() });
            self.keep(payload.clone(), cx);
        }
        cx.output(Deliver { sender: cx.me(), payload });
    }

    fn on_message(&mut self, from: ProcessId, message: Message<D>, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Data { number, payload } => self.on_data(from, number, payload, cx),
            Message::Ack(number) if (1..=self.last).contains(&number) => {
                self.on_ack(from, number, cx)
            }
            Message::Ack(_) => cx.accuse(from, "acknowledged what was never sent"),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Resend => self.resend(cx),
            Timer::Ack(sender, number) => cx.send(sender, Message::Ack(number)),
        }
    }
}

impl<D: Data, const ONCE: bool> Acknowledged<D, ONCE> {
    /// Keeps the last message until all have it. The timer covers all that are kept.
    fn keep(&mut self, payload: D, cx: &mut Cx<'_, Self>) {
        if self.unconfirmed.is_empty() {
            cx.set_timer(Timer::Resend, self.settings.resend_ms);
        }
        let missing = cx.peers();
        self.unconfirmed.insert(self.last, Unconfirmed { payload, missing, tries: 1 });
        if self.unconfirmed.len() > UNCONFIRMED_AT_MOST {
            // Members that never acknowledge must not fill the memory.
            self.unconfirmed.pop_first();
        }
    }

    fn resend(&mut self, cx: &mut Cx<'_, Self>) {
        let tries = self.settings.tries;
        self.unconfirmed.retain(|_, kept| kept.tries < tries);
        for (number, kept) in &mut self.unconfirmed {
            kept.tries += 1;
            let message = Message::Data { number: *number, payload: kept.payload.clone() };
            cx.multicast_to(kept.missing.clone(), message);
        }
        if !self.unconfirmed.is_empty() {
            cx.set_timer(Timer::Resend, self.settings.resend_ms);
        }
    }

    fn on_data(&mut self, from: ProcessId, number: u32, payload: D, cx: &mut Cx<'_, Self>) {
        let Some(received) = self.received.get_mut(from.index()) else {
            return cx.accuse(from, "is not one of us");
        };
        match received.insert(number) {
            Err(why) => return cx.accuse(from, why),
            Ok(is_new) if is_new || !ONCE => cx.output(Deliver { sender: from, payload }),
            Ok(_) => {}
        }
        match self.settings.spread_ms {
            0 => cx.send(from, Message::Ack(number)),
            spread => {
                let wait = cx.choose(spread as u32 + 1);
                cx.set_timer(Timer::Ack(from, number), u64::from(wait));
            }
        }
    }

    fn on_ack(&mut self, from: ProcessId, number: u32, cx: &mut Cx<'_, Self>) {
        let Some(kept) = self.unconfirmed.get_mut(&number) else { return };
        kept.missing.remove(from);
        if kept.missing.is_empty() {
            self.unconfirmed.remove(&number);
        }
        if self.unconfirmed.is_empty() {
            cx.cancel_timer(Timer::Resend);
        }
    }

    /// A member of a group, by the parameters.
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let within = |name: &str, default, most| match setup.number(name, default)? {
            value if value <= most => Ok(value),
            _ => Err(setup.bad(name, format!("it is at most {most}"))),
        };
        let settings = Settings {
            resend_ms: within(RESEND.name, 100, 3_600_000)?.max(1),
            spread_ms: within(SPREAD.name, 0, 3_600_000)?,
            tries: within(TRIES.name, 1_000, 1_000_000)?.max(1) as u32,
        };
        let received = vec![Received::default(); setup.n];
        Ok(Acknowledged { settings, last: 0, unconfirmed: BTreeMap::new(), received })
    }

    /// The number of messages that not all members have acknowledged.
    pub fn unconfirmed(&self) -> usize {
        self.unconfirmed.len()
    }
}

const RESEND: Parameter = Parameter {
    name: "resend",
    meaning: "milliseconds after which a message is sent again to those that have not acknowledged \
              it (default: 100)",
};

const SPREAD: Parameter = Parameter {
    name: "spread",
    meaning: "a receiver acknowledges after a random time of at most so many milliseconds (default: \
              0)",
};

const TRIES: Parameter = Parameter {
    name: "tries",
    meaning: "how often a message is sent to a member at most (default: 1000)",
};

/// Multicast by acknowledgements, by itself.
pub type AcknowledgedMulticast = InGroups<AcknowledgedTower>;

/// See [`AcknowledgedMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AcknowledgedTower;

/// Each message is sent twice at most.
const TWICE: &[(&str, &str)] = &[("tries", "2"), ("senders", "p0")];

impl Tower for AcknowledgedTower {
    type Top = Acknowledged<Payload>;

    const CARD: Card = Card {
        name: "acknowledged-multicast",
        aliases: &["positive-acks"],
        title: "Multicast by acknowledgements",
        source: Source {
            author: "P. B. Danzig",
            year: 1994,
            work: "Flow control for limited buffer multicast, IEEE Transactions on Software \
                   Engineering 20(1)",
        },
        idea: "Send the message to each member, and again to those that have not acknowledged it.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: number the message, send it to every member, and keep it",
            ),
            Rule::on(
                &[Trigger::Message("Data"), Trigger::Timer("Ack")],
                "on a message: deliver it, if it is new; acknowledge it, at once or after a random \
                 time",
            ),
            Rule::on_message(
                "Ack",
                "on an acknowledgement: strike its sender off the list of the message; forget the \
                 message when the list is empty",
            ),
            Rule::on_timer("Resend", "after a while: send it again to those on the list"),
        ],
        assumes: &[
            "links may lose and double messages, but not for ever",
            "no process crashes; agreement is lost if the sender crashes while it sends",
        ],
        tolerates: Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING },
        promises: &[INTEGRITY, VALIDITY, AGREEMENT],
        usual: Some(2),
        proved: &[
            Scope { drops: 1, set: TWICE, ..Scope::of(2) },
            Scope { duplicates: 1, set: TWICE, ..Scope::of(2) },
            Scope { drops: 1, set: TWICE, ..Scope::of(3) },
            Scope { rounds: Rounds::Times(2), drops: 1, set: TWICE, ..Scope::of(2) },
        ],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { crashes: 1, set: TWICE, ..Scope::of(3) },
            steps: 2,
            story: "the sender crashes after it has sent to one of the others: that one delivers, \
                    the other never does",
        }],
        costs: &[
            cost::per_multicast("2(G - 1)", |size| Bounds::exactly(2 * (size.n - 1))),
            cost::reach_hops("1", |_| Bounds::exactly(1)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast("G", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { size.n })
        })])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, RESEND, SPREAD, TRIES],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Acknowledged::from_setup(setup)
    }
}
