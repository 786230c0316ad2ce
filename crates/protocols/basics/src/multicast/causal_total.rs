//! Causally and totally ordered multicast: a sequencer orders the messages that the causal layer
//! delivers.
//!
//! The causal layer delivers a message, which then waits for its order. When the sequencer gets the
//! message from its causal layer, it multicasts an order, by the causal layer too: it names the
//! sender whose message comes next. Each process gets the orders in the sequence in which the
//! sequencer sent them, and each order after the message that it is about; and it gets the messages
//! of one sender in sequence. So it is enough to name the sender: each process delivers the oldest
//! of that sender's waiting messages. The sequencer's own messages need no order: their place is
//! where they stand among the orders.
//!
//! - Assumes: as the causal layer; the sequencer does not crash.
//! - Guarantees: total order and causal order, hence FIFO. If the sequencer crashes, no process
//!   delivers a message out of order, but the others deliver only the messages that the sequencer
//!   sent or ordered before.
//! - Cost: 2(G − 1) messages, two hops; for the sequencer's own messages G − 1, one hop.
//! - State: that of the causal layer; of each sender at most [`WINDOW`] messages wait for an order.
//!
//! Source: K. Birman, A. Schiper, P. Stephenson: Lightweight causal and atomic group multicast.
//! ACM TOCS 9(3), 1991, section 7 (there the sequencer holds a token that may move).

use super::carrier::{self, Carrier, OVER};
use super::causal::{Causal, Stamped};
use super::groups::{InGroups, Tower};
use super::in_order::WINDOW;
use super::sequencer::{SEQUENCER, sequencer_of};
use super::{Deliver, Layer, Multicast, cost};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Counterexample, OtherCosts, Rounds, Scope, Variant};
use synod_core::family::multicast::{
    AGREEMENT, CAUSAL, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source, Trigger,
};

/// The messages of this layer; the causal layer multicasts them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Turn<D> {
    /// A payload.
    Data(D),
    /// From the sequencer: the oldest message of this sender comes next.
    Next(ProcessId),
}

/// One process of a group, over the causal layer over the layer `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CausalTotal<D, L> {
    causal: Causal<Turn<D>, L>,
    sequencer: ProcessId,
    /// For each process in the world: its messages that have no order yet.
    unordered: Vec<VecDeque<D>>,
}

impl<D: Data, L> CausalTotal<D, L> {
    /// A process in a world of `n`, of a group with this sequencer.
    pub fn new(n: usize, sequencer: ProcessId, lower: L) -> Self {
        let unordered = vec![VecDeque::new(); n];
        CausalTotal { causal: Causal::new(n, lower), sequencer, unordered }
    }
}

impl<D: Data, L: Layer<Stamped<Turn<D>>>> Protocol for CausalTotal<D, L> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = L::Message;
    type Timer = L::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |causal, cx| causal.on_start(cx));
    }

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.multicast(Turn::Data(payload), cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.below(cx, |causal, cx| causal.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.below(cx, |causal, cx| causal.on_timer(timer, cx));
    }
}

impl<D: Data, L: Layer<Stamped<Turn<D>>>> CausalTotal<D, L> {
    fn below(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Causal<Turn<D>, L>, &mut Cx<'_, Causal<Turn<D>, L>>),
    ) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.causal, cx)) {
            self.on_turn(sender, payload, cx);
        }
    }

    fn multicast(&mut self, turn: Turn<D>, cx: &mut Cx<'_, Self>) {
        self.below(cx, |causal, cx| causal.on_input(Multicast(turn), cx));
    }

    /// Handles a delivery of the causal layer, which delivers messages of members only.
    fn on_turn(&mut self, from: ProcessId, turn: Turn<D>, cx: &mut Cx<'_, Self>) {
        match turn {
            Turn::Data(payload) if from == self.sequencer => {
                cx.output(Deliver { sender: from, payload });
            }
            Turn::Data(payload) => self.on_data(from, payload, cx),
            Turn::Next(sender) => self.on_next(from, sender, cx),
        }
    }

    fn on_data(&mut self, sender: ProcessId, payload: D, cx: &mut Cx<'_, Self>) {
        let waiting = &mut self.unordered[sender.index()];
        if waiting.len() as u64 >= WINDOW {
            return cx.accuse(sender, "sends far more than is ordered");
        }
        waiting.push_back(payload);
        if cx.me() == self.sequencer {
            self.multicast(Turn::Next(sender), cx);
        }
    }

    fn on_next(&mut self, from: ProcessId, sender: ProcessId, cx: &mut Cx<'_, Self>) {
        if from != self.sequencer {
            return cx.accuse(from, "ordered a message, and is not the sequencer");
        }
        match self.unordered.get_mut(sender.index()).and_then(VecDeque::pop_front) {
            Some(payload) => cx.output(Deliver { sender, payload }),
            None => cx.accuse(from, "ordered a message that there is not"),
        }
    }
}

/// Causally and totally ordered multicast over a carrier.
pub type CausalTotalMulticast = InGroups<CausalTotalTower>;

/// See [`CausalTotalMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CausalTotalTower;

impl Tower for CausalTotalTower {
    type Top = CausalTotal<Payload, Carrier<Stamped<Turn<Payload>>>>;

    const CARD: Card = Card {
        name: "causal-total",
        aliases: &["causal-total-multicast"],
        title: "Causally and totally ordered multicast",
        source: Source {
            author: "K. Birman, A. Schiper, P. Stephenson",
            year: 1991,
            work: "Lightweight causal and atomic group multicast, ACM TOCS 9(3), section 7",
        },
        idea: "The sequencer says, by causal multicast, whose message comes next.",
        rules: &[
            Rule::on_input("Multicast", "multicast: multicast the message by the causal layer"),
            Rule::on(
                &[Trigger::Input("Multicast"), Trigger::Message("Data"), Trigger::Message("Again")],
                "on causal delivery of a message: it waits for its order; unless it is of the \
                 sequencer, then deliver it",
            ),
            Rule::on(
                carrier::DELIVERS,
                "the sequencer, on causal delivery of a message: multicast the name of its sender \
                 by the causal layer",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on causal delivery of an order: deliver the oldest waiting message of that sender",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "the sequencer does not crash",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: carrier::RELIABLE,
                promises: &[INTEGRITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
            },
        ],
        usual: Some(3),
        proved: &[
            Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            Scope::of(3),
            Scope { crashes: 1, duplicates: 1, set: &[("over", "reliable")], ..Scope::of(2) },
            Scope { crashes: 2, set: &[("over", "reliable"), ("senders", "p1")], ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: VALIDITY,
                scope: Scope { crashes: 1, set: &[("senders", "p1")], ..Scope::of(2) },
                steps: 2,
                story: "p1 multicasts, and the sequencer crashes",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { crashes: 1, set: &[("senders", "p1")], ..Scope::of(3) },
                steps: 3,
                story: "over basic multicast: the sequencer crashes after it has sent an order to \
                        one of the others",
            },
        ],
        costs: &[
            cost::per_multicast("2(G - 1), or G - 1 by the sequencer", |size| {
                Bounds::between(size.n - 1, 2 * (size.n - 1))
            }),
            cost::own_hops("2, or 0 by the sequencer", |_| Bounds::between(0, 2)),
            cost::reach_hops("2, or 1 to or from the sequencer", |_| Bounds::between(1, 2)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast(
            "2, or 1 by the sequencer",
            |size| Bounds::between(size.n.min(2) - 1, 2),
        )])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER, SEQUENCER],
        layers: &["causal-total", "causal", "basic"],
        ..Card::BLANK
    };

    fn build(_me: ProcessId, members: &ProcessSet, setup: &Setup) -> Result<Self::Top, SetupError> {
        let sequencer = sequencer_of(members, setup)?;
        Ok(CausalTotal::new(setup.n, sequencer, Carrier::from_setup(setup)?))
    }
}
