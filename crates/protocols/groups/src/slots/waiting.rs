//! Claims that wait: the queue of a member, and when its claims are served.
//!
//! A claim that finds no free slot here may wait for one. The claims of a member wait in one queue
//! and are served in order of arrival, as soon as the member has a slot for the first one: after a
//! release, after a cool-down, or because slots were moved here. A claim leaves the queue without a
//! slot if its time is over, or if its application cancels it. So every ticket gets one answer.
//!
//! A claim that waits is a need of its member (π5). With `offers`, the member wishes for one more
//! slot for each claim that waits, and asks again as soon as its wish is delivered in vain: no
//! further claim of a blocked application tells it to. If that brings nothing for a while, it
//! *begs*, and idle members give up their last free slots, too. With donations nothing tells a
//! member when another one has slots to spare, so it asks again after a while.
//!
//! Views do not touch the queue: a claim that waits holds no slot. It waits on if the member has
//! lost its membership, and is refused if the member leaves.
//!
//! - Guarantees: while a claim waits, its member has no slot for it, and has asked for one
//!   (invariant `pi5`); claims that wait get slots in turn; each is answered in the end (π4).
//! - Cost: no message for the queue itself; with `offers`, at most one take for each grant, and a
//!   multicast in each while that claims wait in vain.
//! - State: one ticket for each claim that waits, [`Settings::queue`] at most, and a timer.
//!
//! [`Settings::queue`]: super::settings::Settings::queue

use super::scheme::Scheme;
use super::settings::Waiting;
use super::state::MemberState;
use super::{Slots, Timer};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::Parameter;
use synod_core::family::slots::{Output, Refusal, Ticket};
use synod_core::group::Session;

/// The bound of the queue.
pub const QUEUE: Parameter =
    Parameter { name: "queue", meaning: "how many claims may wait at a member (default: 64)" };
/// Its default.
pub(super) const QUEUE_BY_DEFAULT: u32 = 64;

/// The time after which a member asks for donations again, or begs, in milliseconds.
const AGAIN_MS: u64 = 50;

/// The claims that wait at a member, in order of arrival. Each ticket is in it once at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Queue(VecDeque<Ticket>);

impl Queue {
    /// The number of claims that wait.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whether no claim waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a claim waits.
    pub fn contains(&self, ticket: Ticket) -> bool {
        self.0.contains(&ticket)
    }

    /// A claim waits from now on, behind all others.
    fn join(&mut self, ticket: Ticket, waiting: Waiting) {
        match waiting {
            Waiting::LastFirst => self.0.push_front(ticket),
            Waiting::InTurn | Waiting::Forgotten => self.0.push_back(ticket),
        }
    }

    /// The claim that is served next waits no longer.
    fn next(&mut self) -> Option<Ticket> {
        self.0.pop_front()
    }

    /// A claim waits no longer. Returns whether it did.
    fn leave(&mut self, ticket: Ticket) -> bool {
        let place = self.0.iter().position(|other| *other == ticket);
        place.is_some_and(|place| self.0.remove(place).is_some())
    }
}

impl MemberState {
    /// Whether a claim could get a slot now.
    #[inline]
    pub(super) fn has_a_slot_to_claim(&self) -> bool {
        self.free() > 0 && self.is_ready() && self.may_use() > 0
    }

    /// The number of slots that the claims in the queue need, within the member's cap.
    #[inline]
    pub(super) fn needed_by_queue(&self) -> u32 {
        if self.queue.is_empty() { 0 } else { self.queue.len().min(self.may_use()) }
    }
}

/// Whether a member has a slot for a claim that waits, or does not ask the others for one although
/// it is settled among them: both are wrong. Judged with `offers`; the members of a donation scheme
/// ask now and then.
pub(super) fn is_negligent(member: &Slots) -> bool {
    let state = &member.state;
    if state.queue.is_empty() {
        return false;
    }
    let asks = match &member.scheme {
        Scheme::Offers(offers) => offers.insists(state),
        Scheme::Donation(_) | Scheme::Published(_) => true,
    };
    state.has_a_slot_to_claim() || state.needed_by_queue() > 0 && state.is_settled() && !asks
}

impl Slots {
    /// The application claims a slot, and waits for one if none is free here.
    pub(super) fn claim_within(
        &mut self,
        ticket: Ticket,
        wait_ms: u64,
        session: &mut Session<'_, Self>,
    ) {
        let state = &mut self.state;
        if state.queue.contains(ticket) {
            return;
        }
        if self.leaving {
            return session.notify(Output::Unserved(ticket, Refusal::Outside));
        }
        let waiting = state.settings.waiting;
        self.scheme.before_claim(state, session);
        if state.has_a_slot_to_claim() {
            state.queue.join(ticket, waiting);
            return self.serve_queue(session);
        }
        if wait_ms == 0 {
            let why = state.why_refused();
            return self.refuse(why, |why| Output::Unserved(ticket, why), session);
        }
        if state.queue.len() >= state.settings.queue {
            return session.notify(Output::Unserved(ticket, Refusal::Full));
        }
        state.queue.join(ticket, waiting);
        session.set_timer(Timer::TimeIsUp(ticket), wait_ms);
        self.scheme.on_wait(&mut self.state, session);
        if self.state.queue.len() == 1 {
            session.set_timer(Timer::Again, AGAIN_MS);
        }
    }

    /// The application cancels a claim.
    pub(super) fn cancel(&mut self, ticket: Ticket, session: &mut Session<'_, Self>) {
        if self.state.queue.leave(ticket) {
            session.cancel_timer(Timer::TimeIsUp(ticket));
            session.notify(Output::Unserved(ticket, Refusal::Cancelled));
            self.note_empty_queue(session);
        }
    }

    /// The time of a claim is over.
    pub(super) fn give_up(&mut self, ticket: Ticket, session: &mut Session<'_, Self>) {
        if self.state.queue.leave(ticket) {
            let why = self.in_truth(self.state.why_refused());
            session.notify(Output::Unserved(ticket, why));
            self.note_empty_queue(session);
        }
    }

    /// Claims have waited for a while.
    pub(super) fn ask_again(&mut self, session: &mut Session<'_, Self>) {
        if !self.state.queue.is_empty() {
            self.scheme.on_reminder(&mut self.state, session);
            session.set_timer(Timer::Again, AGAIN_MS);
        }
    }

    /// Serves the claims that wait, as far as there are slots for them.
    #[inline]
    pub(super) fn serve_queue(&mut self, session: &mut Session<'_, Self>) {
        if !self.state.queue.is_empty() && self.state.has_a_slot_to_claim() {
            self.serve_waiting_claims(session);
        }
    }

    fn serve_waiting_claims(&mut self, session: &mut Session<'_, Self>) {
        while self.state.has_a_slot_to_claim()
            && let Some(ticket) = self.state.queue.next()
        {
            let (slot, token) = self.state.claim(None).expect("there is a slot to claim");
            session.cancel_timer(Timer::TimeIsUp(ticket));
            session.notify(Output::Served { ticket, slot, token });
            self.scheme.on_served(&mut self.state, session);
        }
        self.note_empty_queue(session);
    }

    /// A new view begins. It does not touch the queue.
    pub(super) fn enter_with_queue(&mut self) {
        if self.state.settings.waiting == Waiting::Forgotten {
            self.state.queue = Queue::default();
        }
    }

    /// The member leaves: no claim here will get a slot.
    pub(super) fn turn_away(&mut self, session: &mut Session<'_, Self>) {
        while let Some(ticket) = self.state.queue.next() {
            session.cancel_timer(Timer::TimeIsUp(ticket));
            session.notify(Output::Unserved(ticket, Refusal::Outside));
        }
        self.note_empty_queue(session);
    }

    fn note_empty_queue(&self, session: &mut Session<'_, Self>) {
        if self.state.queue.is_empty() {
            session.cancel_timer(Timer::Again);
        }
    }
}
