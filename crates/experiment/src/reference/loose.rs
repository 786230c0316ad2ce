//! SLOTS with donations, as the authors' program starts up: a join makes no request void.
//!
//! Every member keeps its own books: the members that have still to answer its request, and those
//! to which it owes an empty answer. Optimisations 2 and 3 are repaired, so that no member blocks:
//! the next member always answers, both sides count the other's request as an answer, and a member
//! that asks drops the answers that it owes and does not wait for those members. Requests and
//! donations count at any time after they were sent, and no view guards them.
//!
//! Simulations of the authors' program differ in how the group begins. [`Habits`] lists the
//! differences, so that each can be measured by itself.
//!
//! Source: the authors' public simulation, and the published figures of an independent one.

use crate::policy::{Holding, Policy, Program};
use crate::settings::{Settings, Start};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use synod_core::family::slots::{Input, Output, Refusal, SlotId, Token};
use synod_core::group::{Delivery, Level, Service, Session, View};
use synod_core::protocol::{Never, Wire};
use synod_core::{ProcessId, ProcessSet};
use synod_protocols::slots::heuristics::{slots_to_donate, slots_to_request};

/// FREE_LOW of the paper.
const LOW: u32 = 4;
/// MIN_OWNED of the authors' simulation.
const MIN: u32 = 8;

/// How a group begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Habits {
    /// A new member waits for a status from the first, which sends one at a time; otherwise it is a
    /// member as soon as it joins. Either counts as its request.
    pub by_status: bool,
    /// Shares are those of the whole group, though most members have not joined yet; otherwise of
    /// the present members.
    pub shares_of_all: bool,
    /// At a join all members forget their open requests and the answers they owe, and may ask
    /// again. Earlier requests are still answered.
    pub forgets: bool,
    /// A member asks for more before a claim, not after it.
    pub asks_first: bool,
}

impl Habits {
    /// None, except that members ask before they claim, as in the authors' program.
    pub const PLAIN: Habits =
        Habits { by_status: false, shares_of_all: false, forgets: false, asks_first: true };
    /// Those of the authors' program.
    pub const PROGRAM: Habits = Habits { by_status: true, forgets: true, ..Habits::PLAIN };
    /// Those with which the figures of an independent simulation come out.
    pub const SIMULATION: Habits = Habits { shares_of_all: true, forgets: true, ..Habits::PLAIN };

    pub(crate) fn name(self) -> &'static str {
        NAMED.iter().find(|(habits, ..)| *habits == self).map_or("loose-otherwise", |named| named.1)
    }

    pub(crate) fn title(self) -> &'static str {
        NAMED
            .iter()
            .find(|(habits, ..)| *habits == self)
            .map_or("loose, otherwise", |named| named.2)
    }
}

/// Habits that are measured by name: each by itself, and those that belong together.
pub const NAMED: [(Habits, &str, &str); 6] = [
    (Habits::PLAIN, "loose", "loose: a join is a request"),
    (Habits { forgets: true, ..Habits::PLAIN }, "loose-forgets", "loose, joins make forget"),
    (Habits { shares_of_all: true, ..Habits::PLAIN }, "loose-all", "loose, shares of all"),
    (Habits::SIMULATION, "loose-all-forgets", "loose, shares of all, joins make forget"),
    (Habits { by_status: true, ..Habits::PLAIN }, "loose-status", "loose, joins by status"),
    (Habits::PROGRAM, "loose-program", "loose, as the authors' program"),
];

/// A multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The sender needs this many slots.
    Request(u32),
    /// An answer.
    Donate {
        /// The receiver of the slots.
        to: ProcessId,
        /// The slots.
        slots: Vec<u32>,
    },
    /// A node is a member now, beside the present ones.
    Status {
        /// The new member.
        to: ProcessId,
        /// The present members.
        ready: ProcessSet,
    },
}

impl Wire for Message {}

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Loose {
    habits: Habits,
    nodes: u32,
    slots: u32,
    free: BTreeSet<u32>,
    used: u32,
    pledged: u32,
    /// The members, as far as this one knows; empty, if it is none itself.
    ready: ProcessSet,
    /// Nodes that wait for a status.
    waiting: ProcessSet,
    /// Members that have still to answer this member's request; empty, if it has none.
    pending: ProcessSet,
    /// Members to which this one owes an empty answer that it put off.
    owed: ProcessSet,
    /// The number of slots that its request brought so far.
    got: u32,
}

impl Loose {
    /// A group of nodes that have not joined yet, or are all members with the same share.
    pub fn group(settings: &Settings, habits: Habits) -> Vec<Self> {
        let (nodes, slots) = (settings.nodes, settings.slots);
        let mut member = Loose {
            habits,
            nodes: nodes as u32,
            slots,
            free: BTreeSet::new(),
            used: 0,
            pledged: 0,
            ready: ProcessSet::EMPTY,
            waiting: ProcessSet::EMPTY,
            pending: ProcessSet::EMPTY,
            owed: ProcessSet::EMPTY,
            got: 0,
        };
        if settings.start != Start::Together {
            return vec![member; nodes];
        }
        member.ready = ProcessSet::all(nodes);
        let mut members = vec![member; nodes];
        for slot in 0..slots {
            members[slot as usize % nodes].free.insert(slot);
        }
        members
    }

    fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// The number of members that share the slots.
    fn size(&self) -> u32 {
        if self.habits.shares_of_all { self.nodes } else { self.ready.len() as u32 }
    }

    fn next_after(&self, node: ProcessId) -> Option<ProcessId> {
        self.ready.iter().find(|other| *other > node).or_else(|| self.ready.first())
    }

    fn claim(&mut self, session: &mut Session<'_, Self>) {
        if self.habits.asks_first {
            self.on_need(session);
        }
        match self.free.pop_first() {
            None => session.notify(Output::Refused(Refusal::Starved)),
            Some(slot) => {
                self.used += 1;
                session.notify(Output::Claimed(SlotId(slot), Token::default()));
            }
        }
        if !self.habits.asks_first {
            self.on_need(session);
        }
    }

    /// Asks for slots, if they run short.
    fn on_need(&mut self, session: &mut Session<'_, Self>) {
        let me = session.me();
        if !self.ready.contains(me) || self.free() >= LOW || !self.pending.is_empty() {
            return;
        }
        let (size, owned) = (self.size(), self.free() + self.used);
        let amount = slots_to_request(self.slots, size, owned, self.free(), LOW);
        self.open(amount, session);
        let next = self.next_after(me);
        for other in std::mem::take(&mut self.owed).iter().filter(|other| next != Some(*other)) {
            self.pending.remove(other);
        }
        say(Message::Request(amount), session);
        self.end_if_answered(session);
    }

    fn open(&mut self, amount: u32, session: &mut Session<'_, Self>) {
        self.pending = self.ready.clone();
        self.pending.remove(session.me());
        self.got = 0;
        session.notify(Output::Asks(amount));
    }

    fn end_if_answered(&mut self, session: &mut Session<'_, Self>) {
        if self.pending.is_empty() {
            session.notify(Output::Got(self.got));
        }
    }

    fn on_request(&mut self, from: ProcessId, asked: u32, session: &mut Session<'_, Self>) {
        let me = session.me();
        if from == me || !self.ready.contains(me) || !self.ready.contains(from) {
            return;
        }
        let is_next = self.next_after(from) == Some(me);
        let asks = !self.pending.is_empty();
        if self.pending.remove(from) {
            self.end_if_answered(session);
            if !is_next {
                return;
            }
        }
        let count = if asks { 0 } else { slots_to_donate(asked, self.size(), self.free(), LOW) };
        if count == 0 && !is_next && self.owed.insert(from) {
            return;
        }
        let slots: Vec<u32> = (0..count).filter_map(|_| self.free.pop_first()).collect();
        self.pledged += slots.len() as u32;
        say(Message::Donate { to: from, slots }, session);
    }

    fn on_donate(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        slots: Vec<u32>,
        session: &mut Session<'_, Self>,
    ) {
        let me = session.me();
        if from == me {
            self.pledged -= slots.len() as u32;
        } else if to == me {
            self.got += slots.len() as u32;
            self.free.extend(slots);
            if self.pending.remove(from) {
                self.end_if_answered(session);
            }
        } else if self.owed.remove(to) {
            say(Message::Donate { to, slots: Vec::new() }, session);
        }
    }

    /// A node joins.
    fn on_join(&mut self, node: ProcessId, session: &mut Session<'_, Self>) {
        if self.ready.contains(node) {
            return;
        }
        if self.habits.forgets {
            if !self.pending.is_empty() {
                session.notify(Output::Got(self.got));
            }
            self.pending.clear();
            self.owed.clear();
        }
        if !self.habits.by_status {
            return self.on_ready(node, session);
        }
        self.waiting.insert(node);
        if self.waiting.len() == 1 {
            self.send_status(session);
        }
    }

    /// The first member sends a status to the next waiting node.
    fn send_status(&self, session: &mut Session<'_, Self>) {
        if self.ready.first() == Some(session.me())
            && let Some(to) = self.waiting.first()
        {
            say(Message::Status { to, ready: self.ready.clone() }, session);
        }
    }

    fn on_status(&mut self, to: ProcessId, ready: &ProcessSet, session: &mut Session<'_, Self>) {
        if to == session.me() {
            return self.enter(ready, session);
        }
        self.waiting.remove(to);
        self.send_status(session);
        self.on_ready(to, session);
    }

    /// Another node becomes a member, which counts as its request.
    fn on_ready(&mut self, node: ProcessId, session: &mut Session<'_, Self>) {
        self.ready.insert(node);
        self.on_request(node, MIN, session);
    }

    /// This node becomes a member, beside these.
    fn enter(&mut self, ready: &ProcessSet, session: &mut Session<'_, Self>) {
        self.ready.extend(ready.iter());
        self.ready.insert(session.me());
        self.open(MIN, session);
    }
}

fn say(message: Message, session: &mut Session<'_, Loose>) {
    session.multicast(Level::Agreed, message).expect("the ideal network takes in whatever comes");
}

impl Service for Loose {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Never;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Claim => self.claim(session),
            Input::Release(slot, _) if self.free.insert(slot.0) => self.used -= 1,
            _ => {}
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        let me = session.me();
        if view.members.len() == 1 {
            self.free = (0..self.slots).collect();
            self.ready.insert(me);
        } else if self.ready.contains(me) {
            for change in &view.joined {
                self.on_join(change.member.node, session);
            }
        } else if !self.habits.by_status {
            self.enter(&view.set(), session);
        }
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        let from = delivery.sender.node;
        match delivery.message {
            Message::Request(asked) => self.on_request(from, asked, session),
            Message::Donate { to, slots } => self.on_donate(from, to, slots, session),
            Message::Status { to, ready } => self.on_status(to, &ready, session),
        }
    }

    fn on_lost(&mut self, _session: &mut Session<'_, Self>) {}
}

impl Policy for Loose {
    fn program(&self) -> Program {
        Program { ends_first: false, counts_passes: true }
    }

    fn requests(&self) -> u32 {
        1
    }

    fn keeps(&self) -> u32 {
        LOW
    }

    fn holding(&self) -> Holding {
        Holding { used: self.used, free: self.free(), pledged: self.pledged }
    }

    fn answers(message: &Message, _sender: ProcessId, to: ProcessId) -> bool {
        matches!(message, Message::Donate { to: asked, .. } if *asked == to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use synod_core::group::{Act, Capabilities};

    const CAN: Capabilities =
        Capabilities { safe: true, partitionable: true, came_with: true, longest_message: 1_000 };

    /// The multicasts of p1 in one step, in a group of four members.
    fn step(
        member: &mut Loose,
        step: impl FnOnce(&mut Loose, &mut Session<'_, Loose>),
    ) -> Vec<Message> {
        let mut acts = VecDeque::new();
        step(member, &mut Session::new(ProcessId(1), CAN, 9, &mut acts));
        let said = |act| if let Act::Multicast(_, message) = act { Some(message) } else { None };
        acts.into_iter().filter_map(said).collect()
    }

    /// One of four with two slots each, which therefore asks; a fifth node has not joined yet.
    fn asking(habits: Habits) -> Loose {
        let settings =
            Settings { nodes: 4, slots: 8, start: Start::Together, ..Settings::published() };
        let mut member = Loose::group(&settings, habits).swap_remove(1);
        let said = step(&mut member, |member, session| member.on_need(session));
        assert_eq!(said, [Message::Request(2)]);
        member
    }

    #[test]
    fn a_member_that_forgets_asks_again_and_the_others_do_not() {
        for forgets in [false, true] {
            let mut member = asking(Habits { forgets, ..Habits::PLAIN });
            step(&mut member, |member, session| member.on_join(ProcessId(4), session));
            let said = step(&mut member, |member, session| member.on_need(session));
            assert_eq!(said.len(), usize::from(forgets), "{said:?}");
        }
    }

    #[test]
    fn a_request_counts_as_an_answer_but_the_next_member_answers_all_the_same() {
        let mut member = asking(Habits::PLAIN);
        assert!(
            step(&mut member, |member, session| member.on_request(ProcessId(2), 4, session))
                .is_empty()
        );
        let said = step(&mut member, |member, session| member.on_request(ProcessId(0), 4, session));
        assert_eq!(said, [Message::Donate { to: ProcessId(0), slots: Vec::new() }]);
        assert_eq!(member.pending, [ProcessId(3)].into_iter().collect());
    }

    #[test]
    fn a_member_that_asks_while_it_owes_an_answer_neither_gives_it_nor_waits() {
        let settings =
            Settings { nodes: 4, slots: 8, start: Start::Together, ..Settings::published() };
        let mut member = Loose::group(&settings, Habits::PLAIN).swap_remove(1);
        assert!(
            step(&mut member, |member, session| member.on_request(ProcessId(3), 4, session))
                .is_empty()
        );
        step(&mut member, |member, session| member.on_need(session));
        assert_eq!(member.pending, [ProcessId(0), ProcessId(2)].into_iter().collect());
        let empty = |member: &mut Loose, session: &mut Session<'_, Loose>| {
            member.on_donate(ProcessId(0), ProcessId(3), Vec::new(), session);
        };
        assert!(step(&mut member, empty).is_empty());
    }
}
