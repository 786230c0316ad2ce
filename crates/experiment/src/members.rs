//! The members: services, and the effects of their steps.

use crate::measure::{Measured, Meter};
use crate::policy::{Holding, Policy};
use crate::timers::Timers;
use crate::waiting::Waiting;
use crate::workload::{ROUND, Time};
use std::collections::VecDeque;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output, SlotId, Token};
use synod_core::group::{Act, Capabilities, Delivery, Level, Member, Session, View, ViewId};

/// The capabilities of the ideal network.
const IDEAL: Capabilities =
    Capabilities { safe: true, partitionable: true, came_with: true, longest_message: usize::MAX };
/// The network accepts every multicast; queues are measured, not limited.
const ROOM: usize = 1 << 20;
/// The duration of a round.
const ROUND_MS: u64 = 1;

/// A claimed slot, and its token.
pub(crate) type Held = (SlotId, Token);

/// A multicast of a member.
pub(crate) struct Sent<M> {
    pub(crate) by: usize,
    pub(crate) level: Level,
    pub(crate) message: M,
}

/// All members, and their measurements.
pub(crate) struct Members<S: Policy> {
    services: Vec<S>,
    views: Vec<Option<ViewId>>,
    /// Whether a member has ever had a slot. Claims count only from then on.
    settled: Vec<bool>,
    pub(crate) meter: Meter,
    pub(crate) timers: Timers<S::Timer>,
    /// The multicasts of the last step, for the network to take.
    pub(crate) sent: VecDeque<Sent<S::Message>>,
    acts: VecDeque<Act<S>>,
    /// The result of the last claim.
    claimed: Option<Held>,
    /// Claims that wait.
    waiting: Waiting,
    /// How many members use each slot.
    users: Vec<u8>,
    /// The number of slots with two users, or more.
    used_twice: u32,
}

impl<S: Policy> Members<S> {
    pub(crate) fn new(services: Vec<S>, meter: Meter) -> Self {
        Members {
            views: vec![None; services.len()],
            settled: vec![false; services.len()],
            services,
            meter,
            timers: Timers::new(),
            sent: VecDeque::new(),
            acts: VecDeque::new(),
            claimed: None,
            waiting: Waiting::default(),
            users: Vec::new(),
            used_twice: 0,
        }
    }

    /// A slot has one user more, or one less.
    #[inline]
    fn note_user(&mut self, slot: SlotId, more: bool) {
        let place = slot.0 as usize;
        if self.users.len() <= place {
            self.users.resize(place + 1, 0);
        }
        let users = &mut self.users[place];
        let before = *users;
        *users = if more { before.saturating_add(1) } else { before.saturating_sub(1) };
        match (before, *users) {
            (1, 2) => self.used_twice += 1,
            (2, 1) => self.used_twice -= 1,
            _ => return,
        }
        self.meter.used_twice(self.used_twice);
    }

    /// The number of members.
    pub(crate) fn count(&self) -> usize {
        self.services.len()
    }

    /// Ends the run. `same` tells whether all members have delivered the same multicasts.
    pub(crate) fn finish(mut self, round: u64, same: bool) -> Measured {
        // Where members are not equally far, a promised slot may already belong to another member.
        let owned =
            |holding: Holding| holding.used + holding.free + u32::from(same) * holding.pledged;
        let all = self.services.iter().map(|service| owned(service.holding()));
        self.meter.measured.owned = all.sum();
        if same {
            let disagrees = |pair: &&[S]| !pair[0].agrees(&pair[1]);
            self.meter.measured.disagreements = self.services.windows(2).filter(disagrees).count();
        }
        self.meter.finish(round)
    }

    /// A round is over, with `queue` multicasts unread.
    pub(crate) fn end(&mut self, round: u64, queue: f64) {
        self.meter.round(round, queue, self.services.iter().map(Policy::holding));
    }

    /// The view of a member, if it has one.
    pub(crate) fn view_of(&self, node: usize) -> Option<ViewId> {
        self.views[node]
    }

    #[inline]
    fn step(&mut self, node: usize, now: Time, step: impl FnOnce(&mut S, &mut Session<'_, S>)) {
        let me = ProcessId(node as u32);
        step(&mut self.services[node], &mut Session::new(me, IDEAL, ROOM, &mut self.acts));
        while let Some(act) = self.acts.pop_front() {
            match act {
                Act::Multicast(level, message) => {
                    self.meter.multicast(now / ROUND);
                    self.sent.push_back(Sent { by: node, level, message });
                }
                Act::Notify(notice) => self.on_notice(node, now, notice),
                Act::SetTimer(timer, after_ms) => {
                    self.timers.set(node, timer, now + after_ms * ROUND / ROUND_MS);
                }
                Act::CancelTimer(timer) => self.timers.cancel(node, &timer),
                Act::Leave => {}
            }
        }
    }

    fn on_notice(&mut self, node: usize, now: Time, notice: Output) {
        match notice {
            Output::Claimed(slot, token) => self.claimed = Some((slot, token)),
            Output::Served { ticket, slot, token } => {
                let delay = self.waiting.answered(ticket, now);
                self.meter.waited(now / ROUND, delay);
                self.meter.claim(node, now / ROUND, true);
                self.note_user(slot, true);
                self.waiting.served.push_back((node, (slot, token)));
            }
            Output::Unserved(ticket, _) => {
                self.waiting.answered(ticket, now);
                if self.settled[node] {
                    self.meter.claim(node, now / ROUND, false);
                }
            }
            Output::Asks(count) => self.meter.asks(node, now / ROUND, count),
            Output::Got(count) => self.meter.got(node, now / ROUND, count),
            _ => {}
        }
    }

    /// The operator at a member gives an order.
    pub(crate) fn order(&mut self, node: usize, now: Time, order: Input) {
        self.step(node, now, |service, session| service.on_command(order, session));
    }

    /// A member claims a slot.
    #[inline]
    pub(crate) fn claim(&mut self, node: usize, now: Time) -> Option<Held> {
        self.claimed = None;
        self.settled[node] |= self.services[node].holding().owned() > 0;
        self.step(node, now, |service, session| service.on_command(Input::Claim, session));
        if self.settled[node] || self.claimed.is_some() {
            self.meter.claim(node, now / ROUND, self.claimed.is_some());
        }
        if let Some((slot, _)) = self.claimed {
            self.note_user(slot, true);
        }
        self.claimed
    }

    /// A member claims a slot, and waits for it.
    pub(crate) fn claim_within(&mut self, node: usize, now: Time, rounds: u64) {
        self.settled[node] |= self.services[node].holding().owned() > 0;
        let ticket = self.waiting.claim(now);
        let claim = Input::ClaimWithin { ticket, wait_ms: rounds * ROUND_MS };
        self.step(node, now, |service, session| service.on_command(claim, session));
    }

    /// A slot that a claim has waited for, and its member.
    #[inline]
    pub(crate) fn served(&mut self) -> Option<(usize, Held)> {
        self.waiting.served.pop_front()
    }

    /// A member releases a slot.
    #[inline]
    pub(crate) fn release(&mut self, node: usize, now: Time, (slot, token): Held) {
        let release = Input::Release(slot, token);
        self.note_user(slot, false);
        self.step(node, now, |service, session| service.on_command(release, session));
    }

    /// A member has finished its work for now.
    #[inline]
    pub(crate) fn manage(&mut self, node: usize, now: Time) {
        if S::MANAGES {
            self.step(node, now, |service, session| service.manage(session));
        }
    }

    /// A member learns a view.
    pub(crate) fn view(&mut self, node: usize, now: Time, view: &View) {
        if self.views[node].is_some() {
            let with = view.companions(ProcessId(node as u32));
            self.step(node, now, |service, session| service.on_transitional(&with, session));
        }
        self.views[node] = Some(view.id);
        self.step(node, now, |service, session| service.on_view(view, session));
    }

    /// A member delivers a multicast.
    #[inline]
    pub(crate) fn deliver(&mut self, node: usize, now: Time, delivery: Delivery<S::Message>) {
        let me = ProcessId(node as u32);
        let before = self.services[node].holding();
        let waits = self.meter.waits(node);
        let answers = waits && S::answers(&delivery.message, delivery.sender.node, me);
        if answers {
            self.meter.hears(node);
        }
        self.step(node, now, |service, session| service.on_deliver(delivery, session));
        let after = self.services[node].holding();
        if waits && after.owned() > before.owned() {
            self.meter.served(
                node,
                now / ROUND,
                self.services[node].requests() + u32::from(!answers),
            );
        }
        if after.pledged > before.pledged && after.free < self.services[node].keeps() {
            self.meter.measured.overgenerous += 1;
        }
    }

    /// The next timer expires.
    pub(crate) fn run_out(&mut self, now: Time) {
        if let Some((node, timer)) = self.timers.take() {
            self.step(node, now, |service, session| service.on_timer(timer, session));
        }
    }
}

/// A node in its first life; there are no others here.
pub(crate) fn member(node: usize) -> Member {
    Member { node: ProcessId(node as u32), incarnation: 1 }
}
