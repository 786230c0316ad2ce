//! Totally ordered multicast by agreement (ISIS ABCAST; Birman and Joseph, 1987).
//!
//! 1. The sender multicasts its message.
//! 2. Every member, the sender included, proposes a number larger than any that it has proposed or
//!    seen agreed, and queues the message under it for the time being.
//! 3. The sender takes the largest proposal as the agreed one, and multicasts it. The message moves
//!    to its agreed place.
//!
//! A member delivers from the head of its queue as long as the head is agreed: every message that
//! is agreed later has a larger number.
//!
//! Agreed numbers need not be different: two members may propose the same number for different
//! messages, and each may be the largest. So a place is a number *and* its proposer, which never
//! proposes a number twice. Many books leave the tie-break out, and lose the total order.
//!
//! - Assumes: a layer below that delivers every multicast message; no process crashes. A sender
//!   that crashes before it has agreed leaves its message at the head of the others' queues for
//!   ever.
//! - Guarantees: total order. Moreover, all processes deliver a message after the ones that its
//!   sender had delivered before: the sender knew their agreed numbers when it proposed for its
//!   own. Not FIFO, if two messages of a sender may overtake each other.
//! - Cost: 3(G − 1) messages, three hops.
//! - State: the proposals missing for our own messages, and of each sender at most [`WINDOW`]
//!   messages in the queue. Every step costs the logarithm of that.
//!
//! The textbook's A (the largest agreed) and P (the largest proposed) are used only as max(A, P),
//! so they are one number here. Where links lose messages ([`Uplink::Multicast`]) members multicast
//! proposals as well, because only the layer below can repair a loss.
//!
//! Source: K. Birman, T. Joseph: Reliable communication in the presence of failures. ACM TOCS 5(1),
//! 1987.

use super::carrier::{self, Carrier, OVER};
use super::groups::{InGroups, Tower};
use super::in_order::WINDOW;
use super::{Deliver, Layer, Multicast, Uplink, cost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use synod_core::card::{Bounds, Counterexample, OtherCosts, Rounds, Scope, Tolerance, Variant};
use synod_core::family::multicast::{
    AGREEMENT, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{
    Card, Cx, Data, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Source, Timestamp,
    Trigger, Wire,
};

/// A number and its proposer.
pub type Place = Timestamp;

/// The messages of this layer that the layer below multicasts. `message` is the number that its
/// sender gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Round<D> {
    /// From the sender: which place do you propose for this?
    Ask {
        /// The number of the message.
        message: u64,
        /// The payload.
        payload: D,
    },
    /// A proposal, where it cannot be sent to the sender alone.
    Proposed {
        /// The sender of the message.
        to: ProcessId,
        /// The number of the message.
        message: u64,
        /// The number proposed for it.
        number: u64,
    },
    /// From the sender: its place is this.
    Agreed {
        /// The number of the message.
        message: u64,
        /// The largest of all proposals.
        place: Place,
    },
}

/// The messages between members.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<M> {
    /// To the sender of a message: I propose this number.
    Propose {
        /// The number of the message.
        message: u64,
        /// The number proposed for it.
        number: u64,
    },
    /// A message of the layer below.
    Carried(M),
}

impl<M: Wire> Wire for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Propose { .. } => "Propose",
            Message::Carried(message) => message.kind(),
        }
    }
}

/// The text of a message shows its layer, so no other mark is needed.
impl<M: fmt::Debug> fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Propose { message, number } => {
                write!(f, "Propose {{ message: {message}, number: {number} }}")
            }
            Message::Carried(message) => message.fmt(f),
        }
    }
}

impl<M> From<M> for Message<M> {
    fn from(message: M) -> Self {
        Message::Carried(message)
    }
}

/// The proposals for a message of our own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Poll {
    missing: ProcessSet,
    largest: Place,
}

/// A message in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Queued<D> {
    sender: ProcessId,
    message: u64,
    agreed: bool,
    payload: D,
}

/// One process of a group, over the layer `L`. The mutant without `TIE_BREAK` leaves ties as they
/// come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Isis<D, L, const TIE_BREAK: bool = true> {
    lower: L,
    uplink: Uplink,
    /// The number of messages that we multicast.
    sent: u64,
    /// max(A, P): the largest number that was proposed here or agreed.
    largest: u64,
    /// Our own messages that are not agreed, by number.
    polls: BTreeMap<u64, Poll>,
    /// The messages that are not delivered, in the order of their places.
    queue: BTreeMap<Key, Queued<D>>,
    /// For each process in the world: the places of its messages in the queue, by number.
    keys: Vec<BTreeMap<u64, Key>>,
}

/// The number, and the tie-break among equal ones: the proposer. (In the mutant our own proposal,
/// that is, the order of arrival at our queue.)
type Key = (u64, u64);

/// The largest step from one number to the next. An honest number grows by at most the size of the
/// group with each message; a process that leaps further lies, to use the numbers up.
const LEAP: u64 = 1 << 32;

impl<D: Data, L, const TIE_BREAK: bool> Isis<D, L, TIE_BREAK> {
    /// A process in a world of `n`.
    pub fn new(n: usize, uplink: Uplink, lower: L) -> Self {
        Isis {
            lower,
            uplink,
            sent: 0,
            largest: 0,
            polls: BTreeMap::new(),
            queue: BTreeMap::new(),
            keys: vec![BTreeMap::new(); n],
        }
    }
}

impl<D: Data, L: Layer<Round<D>>, const TIE_BREAK: bool> Protocol for Isis<D, L, TIE_BREAK> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<L::Message>;
    type Timer = L::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_start(cx));
    }

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        self.sent += 1;
        let mut missing = cx.peers();
        missing.insert(cx.me());
        self.polls.insert(self.sent, Poll { missing, largest: Place::new(0, cx.me()) });
        self.multicast(Round::Ask { message: self.sent, payload }, cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Propose { message, number } => self.on_propose(from, message, number, cx),
            Message::Carried(message) => {
                self.below(cx, |lower, cx| lower.on_message(from, message, cx));
            }
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_timer(timer, cx));
    }
}

impl<D: Data, L: Layer<Round<D>>, const TIE_BREAK: bool> Isis<D, L, TIE_BREAK> {
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_round(sender, payload, cx);
        }
    }

    fn multicast(&mut self, round: Round<D>, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_input(Multicast(round), cx));
    }

    fn on_round(&mut self, from: ProcessId, round: Round<D>, cx: &mut Cx<'_, Self>) {
        match round {
            Round::Ask { message, payload } => self.on_ask(from, message, payload, cx),
            Round::Proposed { to, message, number } if to == cx.me() => {
                self.on_propose(from, message, number, cx);
            }
            Round::Proposed { .. } => {}
            Round::Agreed { message, place } => self.on_agreed(from, message, place, cx),
        }
    }

    /// Step 2, at every member: queue the message, and propose a place for it.
    fn on_ask(&mut self, sender: ProcessId, message: u64, payload: D, cx: &mut Cx<'_, Self>) {
        if !cx.is_member(sender) {
            return cx.accuse(sender, "multicast to a group that it is not in");
        }
        let waiting = &mut self.keys[sender.index()];
        if waiting.len() as u64 >= WINDOW {
            return cx.accuse(sender, "sends far more than it agrees on");
        }
        let (Entry::Vacant(place), Some(number)) =
            (waiting.entry(message), self.largest.checked_add(1))
        else {
            return cx.accuse(sender, "asked twice about one message");
        };
        self.largest = number;
        let tie = if TIE_BREAK { u64::from(cx.me().0) } else { number };
        place.insert((number, tie));
        self.queue.insert((number, tie), Queued { sender, message, agreed: false, payload });
        self.propose(sender, message, number, cx);
    }

    fn propose(&mut self, to: ProcessId, message: u64, number: u64, cx: &mut Cx<'_, Self>) {
        match self.uplink {
            _ if to == cx.me() => self.on_propose(to, message, number, cx),
            Uplink::Direct => cx.send(to, Message::Propose { message, number }),
            Uplink::Multicast => self.multicast(Round::Proposed { to, message, number }, cx),
        }
    }

    /// Step 3, at the sender: when all have proposed, the largest is agreed.
    fn on_propose(&mut self, from: ProcessId, message: u64, number: u64, cx: &mut Cx<'_, Self>) {
        let Entry::Occupied(mut poll) = self.polls.entry(message) else {
            return cx.accuse(from, "proposed for a message that does not wait for it");
        };
        if number == 0 || number > self.largest.saturating_add(LEAP) {
            return cx.accuse(from, "proposed a number that cannot be");
        }
        let Poll { missing, largest } = poll.get_mut();
        if !missing.remove(from) {
            return cx.accuse(from, "proposed twice for one message");
        }
        *largest = (*largest).max(Place::new(number, from));
        if missing.is_empty() {
            let place = poll.remove().largest;
            self.multicast(Round::Agreed { message, place }, cx);
        }
    }

    fn on_agreed(&mut self, sender: ProcessId, message: u64, place: Place, cx: &mut Cx<'_, Self>) {
        let old = self.keys.get(sender.index()).and_then(|keys| keys.get(&message).copied());
        let Some(old) = old else {
            return cx.accuse(sender, "agreed on a message that does not wait for it");
        };
        match self.agreed_key(old, place, cx) {
            Ok(new) => self.settle(sender, message, (old, new), cx),
            Err(why) => cx.accuse(sender, why),
        }
    }

    /// The agreed key of the message that is now at `old`.
    fn agreed_key(&self, old: Key, place: Place, cx: &Cx<'_, Self>) -> Result<Key, &'static str> {
        let Place { time: number, process: proposer } = place;
        let tie = if TIE_BREAK { u64::from(proposer.0) } else { old.1 };
        let new = (number, tie);
        if self.queue[&old].agreed {
            return Err("agreed twice on one message");
        }
        if !cx.is_member(proposer) || number > self.largest.saturating_add(LEAP) {
            return Err("agreed on a place that nobody can have proposed");
        }
        // The agreed place is the largest proposal, so it is not below ours; and if it is ours, we
        // know it.
        if new < old || (proposer == cx.me() && number != old.0) {
            return Err("agreed on a place in spite of our proposal");
        }
        if new != old && self.queue.contains_key(&new) {
            return Err("agreed on a place that is taken");
        }
        Ok(new)
    }

    fn settle(
        &mut self,
        sender: ProcessId,
        message: u64,
        (old, new): (Key, Key),
        cx: &mut Cx<'_, Self>,
    ) {
        let queued = self.queue.remove(&old).expect("its key was remembered");
        self.queue.insert(new, Queued { agreed: true, ..queued });
        self.keys[sender.index()].insert(message, new);
        self.largest = self.largest.max(new.0);
        while let Some(first) = self.queue.first_entry().filter(|first| first.get().agreed) {
            let Queued { sender, message, payload, .. } = first.remove();
            self.keys[sender.index()].remove(&message);
            cx.output(Deliver { sender, payload });
        }
    }
}

/// Totally ordered multicast by agreement, over a carrier.
pub type IsisMulticast = InGroups<IsisTower>;

/// See [`IsisMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IsisTower;

impl Tower for IsisTower {
    type Top = Isis<Payload, Carrier<Round<Payload>>>;

    const CARD: Card = Card {
        name: "isis",
        aliases: &["abcast", "total-isis"],
        title: "Totally ordered multicast by agreement (ISIS)",
        source: Source {
            author: "K. Birman, T. Joseph",
            year: 1987,
            work: "Reliable communication in the presence of failures, ACM TOCS 5(1)",
        },
        idea: "Every member proposes a place for the message; the largest proposal is agreed.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: multicast the message by the carrier, and wait for a proposal of every \
                 member",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on a message: propose a number larger than all proposed or agreed here, and queue \
                 the message under it",
            ),
            Rule::on(
                &[Trigger::Message("Propose"), Trigger::Message("Data"), Trigger::Message("Again")],
                "on the last proposal: the largest, with its proposer, is agreed; multicast it",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on an agreed place: move the message there; deliver from the head of the queue as \
                 long as the head is agreed",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "reliable links for the proposals",
            "no process crashes: a sender that crashes before it has agreed blocks all others",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: Tolerance { duplication: false, ..carrier::RELIABLE },
                promises: &[INTEGRITY, TOTAL],
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
                steps: 5,
                story: "p0 multicasts twice; p1 gets the second first, so each proposes 1 and 2 \
                        the other way round, and p0's own 2 for the second is smaller than p1's 2 \
                        for the first",
            },
            Counterexample {
                property: VALIDITY,
                scope: Scope { crashes: 1, set: &[("senders", "p0")], ..Scope::of(2) },
                steps: 2,
                story: "p1 crashes before it has proposed, and p0 waits for ever",
            },
            Counterexample {
                property: UNIFORM,
                scope: Scope { crashes: 1, ..Scope::of(2) },
                steps: 6,
                story: "p0 delivers its message and crashes; at p1 a message waits in front of it \
                        for a proposal of p0 that never comes",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { crashes: 1, set: &[("senders", "p0 p1")], ..Scope::of(3) },
                steps: 9,
                story: "over basic multicast: p0 crashes after it has sent the agreed place to one \
                        of the others",
            },
        ],
        costs: &[
            cost::per_multicast("3(G - 1)", |size| Bounds::exactly(3 * (size.n - 1))),
            cost::own_hops("2", |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 })),
            cost::reach_hops("3", |_| Bounds::exactly(3)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast("G + 1", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { size.n + 1 })
        })])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER],
        layers: &["isis", "basic"],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Isis::new(setup.n, Uplink::from_setup(setup), Carrier::from_setup(setup)?))
    }
}
