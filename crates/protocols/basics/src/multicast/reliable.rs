//! Reliable multicast over basic multicast: pass a new message on, then deliver it.
//!
//! To multicast, B-multicast the message with its sender and number. A process that B-delivers a
//! message for the first time B-multicasts it again, unless it is the sender itself, and only then
//! delivers it. So a process that delivers a message has sent it to all others before; even if it
//! crashes then, they get the message.
//!
//! - Assumes: reliable links, in any order. Any number of processes may crash, at any time.
//! - Guarantees: integrity, validity, agreement, and *uniform* agreement, because passing on comes
//!   before delivering. No order.
//! - Cost: G(G − 1) messages; every member gets each message from every other. One hop, as long as
//!   no process crashes.
//! - State: for each sender one number and the numbers that came early, at most
//!   [`AHEAD_AT_MOST`](super::received::AHEAD_AT_MOST).
//!
//! Source: V. Hadzilacos, S. Toueg: A modular approach to fault-tolerant broadcasts and related
//! problems. Cornell TR 94-1425, 1994. T. Chandra, S. Toueg: Unreliable failure detectors for
//! reliable distributed systems. J. ACM 43(2), 1996.

use super::groups::{InGroups, Tower};
use super::received::Received;
use super::{Basic, Deliver, Multicast, basic, cost};
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::card::{Bounds, Counterexample, Crashes, OtherCosts, Rounds, Scope, Tolerance};
use synod_core::family::multicast::{
    AGREEMENT, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source,
};

/// A message as it is passed on: with its origin.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamped<D> {
    /// The process that multicast it.
    pub sender: ProcessId,
    /// Its number among the messages of the sender, from 1.
    pub number: u32,
    /// The payload.
    pub payload: D,
}

impl<D: fmt::Debug> fmt::Debug for Stamped<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}: {:?}", self.sender, self.number, self.payload)
    }
}

/// The moment at which a process passes a message on. The mutants choose the wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Relay {
    /// Before it is delivered.
    BeforeDelivery,
    /// After it is delivered, which is too late.
    AfterDelivery,
    /// Never.
    Never,
}

/// One process of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reliable<D> {
    lower: Basic<Stamped<D>>,
    relay: Relay,
    /// The number of our last message.
    last: u32,
    /// For each process in the world: the numbers of its messages that were received.
    received: Vec<Received>,
}

impl<D: Data> Reliable<D> {
    /// A process in a world of `n`.
    pub fn new(n: usize, relay: Relay) -> Self {
        Reliable { lower: Basic::new(), relay, last: 0, received: vec![Received::default(); n] }
    }
}

impl<D: Data> Protocol for Reliable<D> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = basic::Message<Stamped<D>>;
    type Timer = Never;

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.last += 1;
        let stamped = Stamped { sender: cx.me(), number: self.last, payload };
        self.below(cx, |lower, cx| lower.on_input(Multicast(stamped), cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_message(from, message, cx));
    }
}

impl<D: Data> Reliable<D> {
    fn below(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Basic<Stamped<D>>, &mut Cx<'_, Basic<Stamped<D>>>),
    ) {
        for Deliver { sender: from, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_basic_deliver(from, payload, cx);
        }
    }

    fn on_basic_deliver(&mut self, from: ProcessId, stamped: Stamped<D>, cx: &mut Cx<'_, Self>) {
        match self.is_new(&stamped, cx) {
            Ok(true) => {}
            Ok(false) => return,
            Err(why) => return cx.accuse(from, why),
        }
        let Stamped { sender, payload, .. } = stamped.clone();
        // The sender's own multicast has gone to all members already.
        let relay = if sender == cx.me() { Relay::Never } else { self.relay };
        if relay == Relay::BeforeDelivery {
            self.pass_on(stamped.clone(), cx);
        }
        cx.output(Deliver { sender, payload });
        if relay == Relay::AfterDelivery {
            self.pass_on(stamped, cx);
        }
    }

    fn is_new(&mut self, stamped: &Stamped<D>, cx: &Cx<'_, Self>) -> Result<bool, &'static str> {
        if !cx.is_member(stamped.sender) {
            return Err("passed on a message from outside the group");
        }
        if stamped.sender == cx.me() && stamped.number > self.last {
            return Err("passed on a message that we never sent");
        }
        self.received[stamped.sender.index()].insert(stamped.number)
    }

    /// B-multicasts it again. The copy to ourselves is a duplicate, so we drop it.
    fn pass_on(&mut self, stamped: Stamped<D>, cx: &mut Cx<'_, Self>) {
        let _duplicate = cx.below(|cx| self.lower.on_input(Multicast(stamped), cx));
    }
}

/// Reliable multicast by itself.
pub type ReliableMulticast = InGroups<ReliableTower>;

/// See [`ReliableMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReliableTower;

impl Tower for ReliableTower {
    type Top = Reliable<Payload>;

    const CARD: Card = Card {
        name: "reliable-multicast",
        aliases: &["reliable", "r-multicast"],
        title: "Reliable multicast over basic multicast",
        source: Source {
            author: "V. Hadzilacos, S. Toueg",
            year: 1994,
            work: "A modular approach to fault-tolerant broadcasts and related problems, \
                   Cornell TR 94-1425",
        },
        idea: "A process that gets a message for the first time sends it to all others, then \
               delivers it.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: B-multicast the message with its sender and number",
            ),
            Rule::on_message(
                "Data",
                "on B-delivery of a message that is new: if we are not its sender, B-multicast it \
                 again; then deliver it",
            ),
            Rule::on_message("Data", "on B-delivery of a message that is not new: nothing"),
        ],
        assumes: &["reliable links, in any order", "processes may crash, any number, at any time"],
        tolerates: Tolerance {
            crashes: Crashes::AllButOne,
            duplication: true,
            ..Tolerance::NOTHING
        },
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM],
        usual: Some(2),
        proved: &[
            Scope { crashes: 1, rounds: Rounds::Times(2), ..Scope::of(2) },
            Scope { crashes: 2, duplicates: 1, set: &[("senders", "p0")], ..Scope::of(3) },
            Scope { crashes: 2, duplicates: 1, set: &[("senders", "p0 p1")], ..Scope::of(3) },
        ],
        counterexamples: &[Counterexample {
            property: FIFO,
            scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            steps: 3,
            story: "the second message overtakes the first",
        }],
        costs: &[
            cost::per_multicast("G(G - 1)", |size| Bounds::exactly(size.n * (size.n - 1))),
            cost::reach_hops("1", |_| Bounds::exactly(1)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast("G", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { size.n })
        })])],
        parameters: &[GROUPS, SENDERS, PAYLOAD],
        layers: &["reliable", "basic"],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Reliable::new(setup.n, Relay::BeforeDelivery))
    }
}
