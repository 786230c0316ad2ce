//! Vector clocks (Fidge, 1988; Mattern, 1989).
//!
//! A process counts its own events and, for every other process, how many of that one's events it
//! knows of. Messages carry all these numbers, and the receiver takes over every number that is
//! larger than its own. A vector is the whole past of its event, so two vectors tell which event
//! happened first: `a` happened before `b` if and only if V(a) < V(b), that is, no number of V(a)
//! is larger and some number is smaller. If neither vector is smaller, the events are concurrent.
//!
//! - Assumes: the group does not change. Links may lose messages, and processes may crash.
//! - Guarantees: T1, T2, T3, T4.
//! - Cost: no messages of its own; N numbers on each message. Fewer do not suffice for T4.
//! - State: N numbers.
//!
//! Causal multicast has a vector of its own, because it counts multicasts only, and no arrivals.
//!
//! Sources: C. Fidge: Timestamps in message-passing systems that preserve the partial ordering.
//! Australian Computer Science Conference, 1988. F. Mattern: Virtual time and global states of
//! distributed systems. Parallel and Distributed Algorithms, 1989.

use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Source};
use synod_core::family::logical_time::{Input, LogicalTime, Output, Stamp, T1, T2, T3, T4};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, VectorStamp, Wire,
};

/// A message of the application, with the time of its sending.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The sender's vector, the sending included.
    pub time: VectorStamp,
}

impl Wire for Message {}

/// One process with a vector clock. With `TRANSITIVE` it is right; without, it takes over the count
/// of the sender alone: the mutant [`vector-direct`](super::mutants::vector).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Clock<const TRANSITIVE: bool> {
    clock: VectorStamp,
}

/// One process of the right version.
pub type VectorClock = Clock<true>;

impl<const TRANSITIVE: bool> Protocol for Clock<TRANSITIVE> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.advance(cx.me());
        self.stamp_event(cx);
        if let Input::Send(to) = input {
            cx.send(to, Message { time: self.clock.clone() });
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        // Accepting more events of ours than there were would make our next event look old.
        if !self.is_possible(&message.time, cx.me()) {
            return cx.accuse(from, "sent a vector time that cannot be");
        }
        match TRANSITIVE {
            true => self.clock.merge(&message.time),
            false => self.take_over(from, &message.time),
        }
        self.advance(cx.me());
        self.stamp_event(cx);
    }
}

impl<const TRANSITIVE: bool> Clock<TRANSITIVE> {
    /// A group in which nothing has happened yet.
    pub(super) fn group(setup: &Setup) -> Vec<Self> {
        vec![Clock { clock: VectorStamp::zero(setup.n) }; setup.n]
    }

    /// No process knows of more events of ours than we do.
    fn is_possible(&self, time: &VectorStamp, me: ProcessId) -> bool {
        time.0.len() == self.clock.0.len() && time.0[me.index()] <= self.clock.0[me.index()]
    }

    fn take_over(&mut self, from: ProcessId, time: &VectorStamp) {
        let known = &mut self.clock.0[from.index()];
        *known = (*known).max(time.0[from.index()]);
    }

    fn advance(&mut self, me: ProcessId) {
        self.clock.0[me.index()] += 1;
    }

    fn stamp_event(&self, cx: &mut Cx<'_, Self>) {
        cx.output(Output::Stamped(Stamp::Vector(self.clock.clone())));
    }
}

impl Algorithm for VectorClock {
    type Family = LogicalTime;

    const CARD: Card = Card {
        name: "vector-clock",
        aliases: &["vector", "fidge-mattern"],
        title: "The vector clock of Fidge and Mattern",
        source: Source {
            author: "C. Fidge; F. Mattern",
            year: 1988,
            work: "Timestamps in message-passing systems that preserve the partial ordering, \
                   ACSC 1988; Virtual time and global states of distributed systems, 1989",
        },
        idea: "Count the known events of each process; messages carry all counts.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Act"), Trigger::Input("Send"), Trigger::Message("Message")],
                "before every event: advance the own count by one; all counts are the event's time",
            ),
            Rule::on_input("Send", "on sending: the message carries the time of the event"),
            Rule::on_message(
                "Message",
                "on a message: first take over every count that is larger; then it is an event as \
                 any other",
            ),
        ],
        assumes: &["the group does not change"],
        promises: &[T1, T2, T3, T4],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Self::group(setup))
    }
}
