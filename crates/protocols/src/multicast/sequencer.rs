//! Totally ordered multicast by a fixed sequencer.
//!
//! To multicast, a process sends its message to the sequencer, one member of the group that all
//! agree on beforehand. The sequencer numbers what it gets, 1, 2, 3, …, and multicasts it with the
//! number. Everybody, the sender included, delivers in the order of the numbers.
//!
//! - Assumes: a layer below that delivers what is multicast; the sequencer does not crash.
//! - Guarantees: total order. Not FIFO: two messages may overtake each other on their way to the
//!   sequencer (over FIFO links they do not, and then the order is causal as well). If the
//!   sequencer crashes, nothing wrong is delivered, but nothing more is delivered either.
//! - Cost: 1 + (G − 1) = G messages, two hops; for the sequencer's own messages G − 1, one hop.
//! - State: two numbers; at most [`WINDOW`] messages are held back. In their turn, messages are
//!   passed on without a search or a copy.
//!
//! Where links lose messages ([`Uplink::Multicast`]), what a process sends to the sequencer is
//! multicast as well, because only the layer below can repair a loss.
//!
//! Sources: M. F. Kaashoek, A. Tanenbaum: Group communication in the Amoeba distributed operating
//! system. ICDCS 1991 (its "PB" method). X. Défago, A. Schiper, P. Urbán: Total order broadcast and
//! multicast algorithms. ACM Computing Surveys 36(4), 2004.
//!
//! [`WINDOW`]: super::in_order::WINDOW

use super::in_order::InOrder;
use super::{Deliver, Layer, Multicast, Uplink};
use serde::{Deserialize, Serialize};
use synod_core::{Cx, Data, ProcessId, Protocol, Wire};

/// What is multicast by the layer below.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Turn<D> {
    /// For the sequencer: give this a number.
    Submitted(D),
    /// From the sequencer: this has its number.
    Ordered {
        /// Its place in the order of all messages.
        number: u64,
        /// Who multicast it.
        sender: ProcessId,
        /// What it says.
        payload: D,
    },
}

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// How many messages we gave a number, if we are the sequencer.
    numbered: u64,
    /// What was ordered, put back into order, with its senders.
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

    /// As the sequencer: the next number for this message.
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
