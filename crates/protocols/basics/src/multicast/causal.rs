//! Causally ordered multicast (Birman, Schiper and Stephenson, 1991).
//!
//! Every process counts, for each sender, the messages that it has delivered: the vector V. To
//! multicast, it counts the message as its own, and sends it with V. A receiver delivers it when it
//! has delivered all earlier messages of the same sender, and every message that the sender had
//! delivered before: V_j\[j\] = V\[j\] + 1, and V_j\[k\] ≤ V\[k\] for all other k. Until then it
//! holds the message back. A process delivers its own messages at once.
//!
//! - Assumes: a layer below that delivers every multicast message, and a sender's own message to
//!   itself in the same step.
//! - Guarantees: causal order, hence FIFO; no total order, since concurrent messages are free.
//!   Agreement is that of the layer below.
//! - Cost: N numbers on each message, and no message more than the layer below.
//! - State: N numbers; of each sender at most [`WINDOW`] messages are held back. Only the next
//!   message of each sender can be deliverable, so no queue is searched.
//!
//! Two readings of the textbook are wrong. V counts *delivered* messages (and our own), not
//! received ones. And a process must not wait for its own messages: it counted them when it sent
//! them, so they would never be the next ones.
//!
//! Source: K. Birman, A. Schiper, P. Stephenson: Lightweight causal and atomic group multicast.
//! ACM TOCS 9(3), 1991.

use super::carrier::{self, Carrier, OVER};
use super::groups::{InGroups, Tower};
use super::in_order::WINDOW;
use super::{Deliver, Layer, Multicast, cost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::{Bounds, Counterexample, OtherCosts, Rounds, Scope, Variant};
use synod_core::family::multicast::{
    AGREEMENT, CAUSAL, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source,
};

/// A payload with the vector of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamped<D> {
    /// The number of messages of each process that the sender had delivered, this one included.
    pub vector: Vec<u64>,
    /// The payload of the layer above.
    pub payload: D,
}

/// One process of a group, over the layer `L`. The mutant without `OWN_AT_ONCE` blocks its own
/// messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Causal<D, L, const OWN_AT_ONCE: bool = true> {
    lower: L,
    /// V: the number of delivered messages of each process in the world; our own count when sent.
    delivered: Vec<u64>,
    /// For each process: its messages that are not deliverable yet, by number.
    held_back: Vec<BTreeMap<u64, Stamped<D>>>,
}

impl<D: Data, L, const OWN_AT_ONCE: bool> Causal<D, L, OWN_AT_ONCE> {
    /// A process in a world of `n`.
    pub fn new(n: usize, lower: L) -> Self {
        Causal { lower, delivered: vec![0; n], held_back: vec![BTreeMap::new(); n] }
    }
}

impl<D: Data, L: Layer<Stamped<D>>, const OWN_AT_ONCE: bool> Protocol
    for Causal<D, L, OWN_AT_ONCE>
{
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = L::Message;
    type Timer = L::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_start(cx));
    }

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.delivered[cx.me().index()] += 1;
        let stamped = Stamped { vector: self.delivered.clone(), payload };
        self.below(cx, |lower, cx| lower.on_input(Multicast(stamped), cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_timer(timer, cx));
    }
}

impl<D: Data, L: Layer<Stamped<D>>, const OWN_AT_ONCE: bool> Causal<D, L, OWN_AT_ONCE> {
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_deliver(sender, payload, cx);
        }
    }

    fn on_deliver(&mut self, sender: ProcessId, stamped: Stamped<D>, cx: &mut Cx<'_, Self>) {
        if sender == cx.me() && OWN_AT_ONCE {
            return cx.output(Deliver { sender, payload: stamped.payload });
        }
        if let Err(why) = self.check(sender, &stamped.vector, cx) {
            return cx.accuse(sender, why);
        }
        let number = stamped.vector[sender.index()];
        if number <= self.delivered[sender.index()] && sender != cx.me() {
            return; // It was delivered before: a duplicate.
        }
        if self.is_next(sender, &stamped.vector) {
            self.held_back[sender.index()].remove(&number); // A liar sent two with this number.
            self.deliver(sender, stamped.payload, cx);
            self.deliver_held_back(cx);
        } else {
            self.held_back[sender.index()].entry(number).or_insert(stamped);
        }
    }

    /// Checks that an honest sender can have this vector: it knows of no messages that were never
    /// sent.
    fn check(
        &self,
        sender: ProcessId,
        vector: &[u64],
        cx: &Cx<'_, Self>,
    ) -> Result<(), &'static str> {
        if !cx.is_member(sender) {
            return Err("multicast to a group that it is not in");
        }
        if vector.len() != self.delivered.len() {
            return Err("sent a vector of the wrong length");
        }
        if vector[sender.index()] == 0 {
            return Err("numbered a message 0");
        }
        let ours = cx.me().index();
        if vector[ours] > self.delivered[ours] {
            return Err("delivered messages that we never sent");
        }
        for (index, (theirs, ours)) in vector.iter().zip(&self.delivered).enumerate() {
            if *theirs > 0 && !cx.is_member(ProcessId(index as u32)) {
                return Err("delivered messages of somebody who is not in the group");
            }
            if *theirs > ours.saturating_add(WINDOW) {
                return Err("sent a number far beyond its turn");
            }
        }
        Ok(())
    }

    /// Whether this is the next message of its sender, and we have delivered all that the sender
    /// had.
    fn is_next(&self, sender: ProcessId, vector: &[u64]) -> bool {
        let sender = sender.index();
        let mut counts = vector.iter().zip(&self.delivered).enumerate();
        counts.all(|(k, (theirs, ours))| match k == sender {
            true => *theirs == ours + 1,
            false => theirs <= ours,
        })
    }

    fn deliver(&mut self, sender: ProcessId, payload: D, cx: &mut Cx<'_, Self>) {
        self.delivered[sender.index()] += 1;
        cx.output(Deliver { sender, payload });
    }

    fn deliver_held_back(&mut self, cx: &mut Cx<'_, Self>) {
        while let Some(sender) = self.ready() {
            let (_, next) = self.held_back[sender.index()].pop_first().expect("it is ready");
            self.deliver(sender, next.payload, cx);
        }
    }

    /// A sender whose next message is held back and has become deliverable.
    fn ready(&self) -> Option<ProcessId> {
        let mut senders = ProcessId::all(self.held_back.len());
        senders.find(|sender| {
            let next = self.held_back[sender.index()].first_key_value();
            next.is_some_and(|(_, next)| self.is_next(*sender, &next.vector))
        })
    }
}

/// Causally ordered multicast over a carrier.
pub type CausalMulticast = InGroups<CausalTower>;

/// See [`CausalMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CausalTower;

impl Tower for CausalTower {
    type Top = Causal<Payload, Carrier<Stamped<Payload>>>;

    const CARD: Card = Card {
        name: "causal-multicast",
        aliases: &["causal", "cbcast", "oc-multicast"],
        title: "Causally ordered multicast",
        source: Source {
            author: "K. Birman, A. Schiper, P. Stephenson",
            year: 1991,
            work: "Lightweight causal and atomic group multicast, ACM TOCS 9(3)",
        },
        idea: "Every message carries the counts that its sender had delivered; a receiver that \
               lacks one waits.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: count the message in V, attach V, multicast by the carrier, and \
                 deliver it",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on a message of j with vector W: deliver it when W[j] = V[j] + 1 and W[k] <= V[k] \
                 for all other k; until then hold it back",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on delivery of a message of j: V[j] becomes V[j] + 1; then those held back that \
                 can be delivered now",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "the assumptions of the carrier: over basic, no process crashes",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: carrier::RELIABLE,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL],
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
                property: TOTAL,
                scope: Scope::of(2),
                steps: 3,
                story: "both multicast, and each delivers its own message first: they are \
                        concurrent",
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
        layers: &["causal", "basic"],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Causal::new(setup.n, Carrier::from_setup(setup)?))
    }
}
