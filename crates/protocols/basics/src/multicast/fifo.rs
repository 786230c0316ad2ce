//! FIFO ordered multicast: every process delivers the messages of one sender in the order of
//! sending.
//!
//! A sender numbers its messages: S = 1, 2, 3, … A receiver remembers, for each sender q, the
//! number R\[q\] that it delivered last. It delivers the message with the next number. It holds
//! back a message that is ahead of its turn, until those before it have come. It discards a
//! duplicate, whose number it has delivered before.
//!
//! - Assumes: a layer below that delivers every multicast message. Its order does not matter.
//! - Guarantees: FIFO, and the agreement of the layer below. The order holds only among the
//!   messages of one sender in one group. Over a layer with total order the result is totally
//!   ordered too: the common sequence alone decides which messages are held back, so they are the
//!   same at every process.
//! - Cost: one number on each message, and no message more than the layer below.
//! - State: two numbers for each sender; at most [`WINDOW`] messages of each are held back.
//!
//! Many books let S start at 0 and R at 0 as well: then receivers take the first message of every
//! sender for a duplicate. S is the *next* number, R the *last*: they start at 1 and 0.
//!
//! Source: V. Hadzilacos, S. Toueg: A modular approach to fault-tolerant broadcasts and related
//! problems. Cornell TR 94-1425, 1994. G. Coulouris et al.: Distributed Systems, 5th ed. 2012,
//! 15.4.
//!
//! [`WINDOW`]: super::in_order::WINDOW

use super::carrier::{self, Carrier, OVER};
use super::groups::{InGroups, Tower};
use super::in_order::InOrder;
use super::{Deliver, Layer, Multicast, cost};
use serde::{Deserialize, Serialize};
use synod_core::card::{Bounds, Counterexample, OtherCosts, Rounds, Scope, Variant};
use synod_core::family::multicast::{
    AGREEMENT, CAUSAL, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source,
};

/// A payload with the number that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbered<D> {
    /// S: the sender's messages are numbered 1, 2, 3, …
    pub number: u64,
    /// The payload of the layer above.
    pub payload: D,
}

/// One process of a group, over the layer `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fifo<D, L> {
    lower: L,
    /// S: the number of our next message.
    next: u64,
    /// For each process in the world: its messages, put back into order. R is in here.
    senders: Vec<InOrder<D>>,
}

impl<D: Data, L> Fifo<D, L> {
    /// A process in a world of `n`.
    pub fn new(n: usize, lower: L) -> Self {
        Fifo { lower, next: 1, senders: vec![InOrder::after(0); n] }
    }
}

impl<D: Data, L: Layer<Numbered<D>>> Protocol for Fifo<D, L> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = L::Message;
    type Timer = L::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_start(cx));
    }

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        let numbered = Numbered { number: self.next, payload };
        self.next += 1;
        self.below(cx, |lower, cx| lower.on_input(Multicast(numbered), cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_timer(timer, cx));
    }
}

impl<D: Data, L: Layer<Numbered<D>>> Fifo<D, L> {
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_deliver(sender, payload, cx);
        }
    }

    fn on_deliver(&mut self, sender: ProcessId, numbered: Numbered<D>, cx: &mut Cx<'_, Self>) {
        if !cx.is_member(sender) {
            return cx.accuse(sender, "multicast to a group that it is not in");
        }
        let Numbered { number, payload } = numbered;
        if number == 0 {
            return cx.accuse(sender, "numbered a message 0");
        }
        match self.senders[sender.index()].arrive(number, payload) {
            Ok(in_turn) => in_turn.for_each(|payload| cx.output(Deliver { sender, payload })),
            Err(why) => cx.accuse(sender, why),
        }
    }
}

/// FIFO ordered multicast over a carrier.
pub type FifoMulticast = InGroups<FifoTower>;

/// See [`FifoMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FifoTower;

impl Tower for FifoTower {
    type Top = Fifo<Payload, Carrier<Numbered<Payload>>>;

    const CARD: Card = Card {
        name: "fifo-multicast",
        aliases: &["fifo", "of-multicast"],
        title: "FIFO ordered multicast",
        source: Source {
            author: "V. Hadzilacos, S. Toueg",
            year: 1994,
            work: "A modular approach to fault-tolerant broadcasts and related problems, \
                   Cornell TR 94-1425",
        },
        idea: "Senders number their messages; a message ahead of its turn waits.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: attach the next number S, starting with 1, and multicast by the \
                 carrier",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on a message of q with S = R[q] + 1: deliver it, R[q] becomes S; then those held \
                 back that are next",
            ),
            Rule::on(carrier::DELIVERS, "on a message with a larger S: hold it back"),
            Rule::on(
                carrier::DELIVERS,
                "on a message with a smaller S: it is a duplicate, discard it",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "the assumptions of the carrier: over basic, no process crashes",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: carrier::RELIABLE,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO],
            },
        ],
        usual: Some(3),
        proved: &[
            Scope { rounds: Rounds::Times(3), ..Scope::of(2) },
            Scope::of(3),
            Scope {
                rounds: Rounds::Times(2),
                crashes: 1,
                duplicates: 1,
                set: &[("over", "reliable")],
                ..Scope::of(2)
            },
            Scope {
                rounds: Rounds::Times(2),
                crashes: 2,
                duplicates: 1,
                set: &[("over", "reliable"), ("senders", "p0")],
                ..Scope::of(3)
            },
        ],
        counterexamples: &[
            Counterexample {
                property: CAUSAL,
                scope: Scope::of(3),
                steps: 4,
                story: "p0 multicasts, p1 delivers that and multicasts; p2 delivers the second \
                        first, because they are of different senders",
            },
            Counterexample {
                property: TOTAL,
                scope: Scope::of(2),
                steps: 3,
                story: "both multicast, and each delivers its own message first",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { crashes: 1, set: &[("senders", "p0")], ..Scope::of(3) },
                steps: 2,
                story: "over basic multicast: the sender crashes after it has sent to one of the \
                        others",
            },
        ],
        costs: &[
            cost::per_multicast("G - 1", |size| Bounds::exactly(size.n - 1)),
            cost::reach_hops("1", |_| Bounds::exactly(1)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast("1", |size| {
            Bounds::exactly(size.n.min(2) - 1)
        })])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER],
        layers: &["fifo", "basic"],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Fifo::new(setup.n, Carrier::from_setup(setup)?))
    }
}
