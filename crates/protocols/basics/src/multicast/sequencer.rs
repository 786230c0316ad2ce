//! Totally ordered multicast by a fixed sequencer.
//!
//! To multicast, a process sends its message to the sequencer, one member of the group that all
//! agree on beforehand. The sequencer numbers the messages that it gets, 1, 2, 3, …, and multicasts
//! each with its number. All members, the sender included, deliver in the order of the numbers.
//!
//! - Assumes: a layer below that delivers every multicast message; the sequencer does not crash.
//! - Guarantees: total order. Not FIFO: two messages may overtake each other on their way to the
//!   sequencer (over FIFO links they do not, and then the order is causal as well). If the
//!   sequencer crashes, no member delivers out of order, but no further message is delivered.
//! - Cost: 1 + (G − 1) = G messages, two hops; for the sequencer's own messages G − 1, one hop.
//! - State: two numbers; at most [`WINDOW`] messages are held back. A message that arrives in its
//!   turn is delivered without a search or a copy.
//!
//! Where links lose messages ([`Uplink::Multicast`]), a process multicasts its messages to the
//! sequencer as well, because only the layer below can repair a loss.
//!
//! Sources: M. F. Kaashoek, A. Tanenbaum: Group communication in the Amoeba distributed operating
//! system. ICDCS 1991 (its "PB" method). X. Défago, A. Schiper, P. Urbán: Total order broadcast and
//! multicast algorithms. ACM Computing Surveys 36(4), 2004.
//!
//! [`WINDOW`]: super::in_order::WINDOW

use super::carrier::{self, Carrier, OVER};
use super::groups::{InGroups, Tower};
use super::in_order::InOrder;
use super::{Deliver, Layer, Multicast, Uplink, cost};
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::card::{
    Bounds, Counterexample, OtherCosts, Parameter, Rounds, Scope, Tolerance, Variant,
};
use synod_core::family::multicast::{
    AGREEMENT, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source, Trigger,
    Wire, sight,
};

/// The messages of this layer that the layer below multicasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Turn<D> {
    /// For the sequencer: give this a number.
    Submitted(D),
    /// From the sequencer: this has its number.
    Ordered {
        /// Its place in the order of all messages.
        number: u64,
        /// The process that multicast it.
        sender: ProcessId,
        /// The payload.
        payload: D,
    },
}

/// The messages between members.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D, M> {
    /// To the sequencer: give this a number.
    Submit(D),
    /// A message of the layer below.
    Carried(M),
}

impl<D: Data, M: Wire> Wire for Message<D, M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Submit(_) => "Submit",
            Message::Carried(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Submit(payload) => sight::short(&format!("Submit({payload:?})"), "Submit"),
            Message::Carried(message) => message.label(),
        }
    }
}

/// The text of a message shows its layer, so no other mark is needed.
impl<D: fmt::Debug, M: fmt::Debug> fmt::Debug for Message<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Submit(payload) => write!(f, "Submit({payload:?})"),
            Message::Carried(message) => message.fmt(f),
        }
    }
}

impl<D, M> From<M> for Message<D, M> {
    fn from(message: M) -> Self {
        Message::Carried(message)
    }
}

/// One process of a group, over the layer `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sequencer<D, L> {
    lower: L,
    sequencer: ProcessId,
    uplink: Uplink,
    /// At the sequencer: the number of messages that it has numbered.
    numbered: u64,
    /// The numbered messages with their senders, put back into order.
    ordered: InOrder<(ProcessId, D)>,
}

impl<D: Data, L> Sequencer<D, L> {
    /// A process of a group with this sequencer.
    pub fn new(sequencer: ProcessId, uplink: Uplink, lower: L) -> Self {
        Sequencer { lower, sequencer, uplink, numbered: 0, ordered: InOrder::after(0) }
    }
}

impl<D: Data, L: Layer<Turn<D>>> Protocol for Sequencer<D, L> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<D, L::Message>;
    type Timer = L::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_start(cx));
    }

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        if cx.me() == self.sequencer {
            return self.order(cx.me(), payload, cx);
        }
        match self.uplink {
            Uplink::Direct => cx.send(self.sequencer, Message::Submit(payload)),
            Uplink::Multicast => self.multicast(Turn::Submitted(payload), cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Submit(payload) => self.on_submit(from, payload, cx),
            Message::Carried(message) => {
                self.below(cx, |lower, cx| lower.on_message(from, message, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_timer(timer, cx));
    }
}

impl<D: Data, L: Layer<Turn<D>>> Sequencer<D, L> {
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_turn(sender, payload, cx);
        }
    }

    fn multicast(&mut self, turn: Turn<D>, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_input(Multicast(turn), cx));
    }

    fn on_turn(&mut self, from: ProcessId, turn: Turn<D>, cx: &mut Cx<'_, Self>) {
        match turn {
            Turn::Submitted(payload) if cx.me() == self.sequencer => {
                self.on_submit(from, payload, cx);
            }
            Turn::Submitted(_) => {}
            Turn::Ordered { number, sender, payload } => {
                self.on_ordered(from, number, (sender, payload), cx);
            }
        }
    }

    fn on_submit(&mut self, from: ProcessId, payload: D, cx: &mut Cx<'_, Self>) {
        if cx.me() != self.sequencer {
            return cx.accuse(from, "submitted to somebody who is not the sequencer");
        }
        if !cx.is_member(from) {
            return cx.accuse(from, "multicast to a group that it is not in");
        }
        self.order(from, payload, cx);
    }

    /// At the sequencer: gives this message the next number.
    fn order(&mut self, sender: ProcessId, payload: D, cx: &mut Cx<'_, Self>) {
        self.numbered += 1;
        self.multicast(Turn::Ordered { number: self.numbered, sender, payload }, cx);
    }

    fn on_ordered(
        &mut self,
        from: ProcessId,
        number: u64,
        message: (ProcessId, D),
        cx: &mut Cx<'_, Self>,
    ) {
        if from != self.sequencer {
            return cx.accuse(from, "gave out a number, and is not the sequencer");
        }
        if number == 0 || !cx.is_member(message.0) {
            return cx.accuse(from, "ordered a message that cannot be");
        }
        match self.ordered.arrive(number, message) {
            Ok(in_turn) => {
                in_turn.for_each(|(sender, payload)| cx.output(Deliver { sender, payload }));
            }
            Err(why) => cx.accuse(from, why),
        }
    }
}

/// The parameter that names the sequencer.
pub const SEQUENCER: Parameter = Parameter {
    name: "sequencer",
    meaning: "the process that orders the messages of its groups, e.g. p2 (default: the first of \
              each group)",
};

/// The sequencer of a group: the process that the parameter names, or the first member if that
/// process is not in the group.
pub fn sequencer_of(members: &ProcessSet, setup: &Setup) -> Result<ProcessId, SetupError> {
    let first = members.first().expect("groups are not empty");
    let named = setup.process(SEQUENCER.name, first)?;
    Ok(if members.contains(named) { named } else { first })
}

impl<D: Data> Sequencer<D, Carrier<Turn<D>>> {
    /// A member of a group, by the parameters.
    pub fn from_setup(members: &ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
        let sequencer = sequencer_of(members, setup)?;
        Ok(Sequencer::new(sequencer, Uplink::from_setup(setup), Carrier::from_setup(setup)?))
    }
}

/// Totally ordered multicast by a sequencer, over a carrier.
pub type SequencerMulticast = InGroups<SequencerTower>;

/// See [`SequencerMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SequencerTower;

/// The rule of the sequencer itself, for every protocol above it. A submission to it travels as a
/// multicast where only that is repaired.
pub const ORDER: Rule = Rule::on(
    &[Trigger::Message("Submit"), Trigger::Message("Data"), Trigger::Message("Again")],
    "the sequencer, on a message: give it the next number, multicast it by the carrier",
);

impl Tower for SequencerTower {
    type Top = Sequencer<Payload, Carrier<Turn<Payload>>>;

    const CARD: Card = Card {
        name: "sequencer",
        aliases: &["total-sequencer"],
        title: "Totally ordered multicast by a sequencer",
        source: Source {
            author: "M. F. Kaashoek, A. Tanenbaum",
            year: 1991,
            work: "Group communication in the Amoeba distributed operating system, ICDCS",
        },
        idea: "Send the message to the sequencer; it numbers all messages and multicasts them.",
        rules: &[
            Rule::on_input("Multicast", "multicast: send the message to the sequencer"),
            ORDER,
            Rule::on(
                carrier::DELIVERS,
                "on a numbered message: deliver it when all with smaller numbers are delivered",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "reliable links to the sequencer",
            "the sequencer does not crash",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: Tolerance { duplication: false, ..carrier::RELIABLE },
                promises: &[INTEGRITY, AGREEMENT, UNIFORM, TOTAL],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
            },
        ],
        proved: &[
            Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            Scope::of(3),
            Scope { crashes: 1, set: &[("over", "reliable")], ..Scope::of(2) },
            Scope { crashes: 2, set: &[("over", "reliable"), ("senders", "p1")], ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: FIFO,
                scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
                steps: 3,
                story: "p1 multicasts twice, and the second overtakes the first on the way to the \
                        sequencer",
            },
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
                story: "over basic multicast: the sequencer crashes after it has sent a numbered \
                        message to one of the others",
            },
        ],
        costs: &[
            cost::per_multicast("G, or G - 1 by the sequencer", |size| {
                Bounds::between(size.n - 1, size.n)
            }),
            cost::own_hops("2, or 0 by the sequencer", |_| Bounds::between(0, 2)),
            cost::reach_hops("2, or 1 to or from the sequencer", |_| Bounds::between(1, 2)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast(
            "2, or 1 by the sequencer",
            |size| Bounds::between(size.n.min(2) - 1, 2),
        )])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER, SEQUENCER],
        layers: &["sequencer", "basic"],
        ..Card::BLANK
    };

    fn build(_me: ProcessId, members: &ProcessSet, setup: &Setup) -> Result<Self::Top, SetupError> {
        Sequencer::from_setup(members, setup)
    }
}
