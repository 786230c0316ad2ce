//! FIFO ordered multicast: the messages of one sender are delivered in the order of sending.
//!
//! A sender numbers its messages: S = 1, 2, 3, … A receiver remembers, for each sender q, the
//! number R\[q\] that it delivered last. The message with the next number is delivered; one that
//! is ahead of its turn is held back until those before it have come; a number that was delivered
//! before is a duplicate and discarded.
//!
//! - Assumes: a layer below that delivers what is multicast. Its order does not matter.
//! - Guarantees: FIFO, and whatever the layer below does about agreement. Only among the messages
//!   of one sender in one group; nothing is said of messages of different senders or groups.
//!   Over a layer with total order the result is totally ordered too: what is held back follows
//!   from the common sequence alone, so it is the same at every process.
//! - Cost: one number on each message, and no message more than the layer below.
//! - State: two numbers for each sender; of each at most [`WINDOW`] messages are held back.
//!
//! Many books let S start at 0 and R at 0 as well: then the first message of everybody is taken
//! for a duplicate. S is the *next* number, R the *last*: they start at 1 and 0.
//!
//! Source: V. Hadzilacos, S. Toueg: A modular approach to fault-tolerant broadcasts and related
//! problems. Cornell TR 94-1425, 1994. G. Coulouris et al.: Distributed Systems, 5th ed. 2012, 15.4.
//!
//! [`WINDOW`]: super::in_order::WINDOW

use super::in_order::InOrder;
use super::{Deliver, Layer, Multicast};
use serde::{Deserialize, Serialize};
use synod_core::{Cx, Data, ProcessId, Protocol};

/// A payload with the number that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbered<D> {
    /// S: the sender's messages are numbered 1, 2, 3, …
    pub number: u64,
    /// What the layer above multicasts.
    pub payload: D,
}

/// One process of a group, over the layer `L`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fifo<D, L> {
    lower: L,
    /// S: the number of our next message.
    next: u64,
    /// Of each process in the world: what it multicast, put back into order. R is in here.
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
