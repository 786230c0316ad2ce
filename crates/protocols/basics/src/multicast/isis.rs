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
//! so they are one number here. It may also be a Lamport clock (`numbers=clock`): then messages are
//! stamped, and a sender's clock is not behind the proposals that it received. Where links lose
//! messages ([`Uplink::Multicast`]) members multicast proposals as well, because only the layer
//! below can repair a loss.
//!
//! Source: K. Birman, T. Joseph: Reliable communication in the presence of failures. ACM TOCS 5(1),
//! 1987.

mod card;
mod message;

pub(super) use card::build;
pub use card::{IsisMulticast, IsisTower};
pub use message::{Message, Round};

use super::in_order::WINDOW;
use super::{Deliver, Layer, Multicast, Uplink};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol, Timestamp};

/// A number and its proposer.
pub type Place = Timestamp;

/// Where the numbers that members propose come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Numbers {
    /// From the numbers proposed and agreed here: max(A, P) + 1.
    #[default]
    Agreed,
    /// From a Lamport clock, which also counts the messages sent here, and with which each message
    /// is stamped.
    Clock,
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
/// come, and the one that does not `HEAR` proposes without regard to agreed numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Isis<D, L, const TIE_BREAK: bool = true, const HEAR: bool = true> {
    lower: L,
    uplink: Uplink,
    numbers: Numbers,
    /// The number of messages that we multicast.
    sent: u64,
    /// max(A, P): the largest number that was proposed here or agreed; or the clock.
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

impl<D: Data, L, const TIE_BREAK: bool, const HEAR: bool> Isis<D, L, TIE_BREAK, HEAR> {
    /// A process in a world of `n`.
    pub fn new(n: usize, uplink: Uplink, lower: L) -> Self {
        Isis {
            lower,
            uplink,
            numbers: Numbers::Agreed,
            sent: 0,
            largest: 0,
            polls: BTreeMap::new(),
            queue: BTreeMap::new(),
            keys: vec![BTreeMap::new(); n],
        }
    }

    /// The same, with numbers from there.
    #[must_use]
    pub fn numbered(self, numbers: Numbers) -> Self {
        Isis { numbers, ..self }
    }
}

impl<D: Data, L: Layer<Round<D>>, const TIE_BREAK: bool, const HEAR: bool> Protocol
    for Isis<D, L, TIE_BREAK, HEAR>
{
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
        self.ask(payload, cx);
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

impl<D: Data, L: Layer<Round<D>>, const TIE_BREAK: bool, const HEAR: bool>
    Isis<D, L, TIE_BREAK, HEAR>
{
    fn below(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        for Deliver { sender, payload } in cx.below(|cx| step(&mut self.lower, cx)) {
            self.on_round(sender, payload, cx);
        }
    }

    fn multicast(&mut self, round: Round<D>, cx: &mut Cx<'_, Self>) {
        self.below(cx, |lower, cx| lower.on_input(Multicast(round), cx));
    }

    /// Step 1, at the sender. Where a clock gives the numbers, to send is an event.
    fn ask(&mut self, payload: D, cx: &mut Cx<'_, Self>) {
        let message = self.sent;
        let round = match self.numbers {
            Numbers::Agreed => Round::Ask { message, payload },
            Numbers::Clock => {
                self.largest = self.largest.saturating_add(1);
                Round::AskAt { message, time: self.largest, payload }
            }
        };
        self.multicast(round, cx);
    }

    /// The clock rule for a message that carries a time: the clock is not behind it. Returns
    /// whether the time can be.
    fn witness(&mut self, time: u64) -> bool {
        let is_sound = self.numbers == Numbers::Clock && time <= self.largest.saturating_add(LEAP);
        if is_sound {
            self.largest = self.largest.max(time);
        }
        is_sound
    }

    fn on_round(&mut self, from: ProcessId, round: Round<D>, cx: &mut Cx<'_, Self>) {
        match round {
            Round::Ask { message, payload } => self.on_ask(from, message, payload, cx),
            Round::AskAt { message, time, payload } => match self.witness(time) {
                true => self.on_ask(from, message, payload, cx),
                false => cx.accuse(from, "stamped a message with a time that cannot be"),
            },
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
        let agreed = missing.is_empty().then(|| poll.remove().largest);
        self.witness(number);
        if let Some(place) = agreed {
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
        if HEAR {
            self.largest = self.largest.max(new.0);
        }
        while let Some(first) = self.queue.first_entry().filter(|first| first.get().agreed) {
            let Queued { sender, message, payload, .. } = first.remove();
            self.keys[sender.index()].remove(&message);
            cx.output(Deliver { sender, payload });
        }
    }
}
