//! Offers: a member with a surplus offers slots beforehand, and a member that runs short takes
//! them.
//!
//! A member with a surplus multicasts an *offer* of free slots. From then on it does not use them.
//! The delivered offer puts the slots *on offer*; the member still owns them. A member that runs
//! short multicasts a *take*. At its delivery, all members give the taker slots that are on offer,
//! the lowest first. No member answers, because the owner has agreed beforehand. A taker that gets
//! fewer slots than it needs waits. Later offers go first to the waiting members, slot by slot to
//! the one with the fewest free slots. [`watermarks`](super::watermarks) says when a member takes
//! or offers, and how many.
//!
//! A member whose claims are refused while it waits *asks again*: it multicasts its take once more.
//! From this delivery on, until it gets a slot, every member lets go of all free slots that it does
//! not need itself.
//!
//! - Assumes: total order; messages of an old view are void.
//! - Guarantees: a take ends with its delivery (π4), one multicast after it was sent. As long as a
//!   member of the view has a free slot that it does not need, a member that goes on asking gets
//!   one (π5): it asks again after two refused claims if nothing is delivered between them, and
//!   after twelve in any case; and the next multicast but one of the member with the slot is an
//!   offer. Of two members without a free slot, the one that asked first waits no longer.
//! - Cost: one multicast for an offer, one for a take, at every size of the group.
//! - State: the slots on offer as ranges, at most one wish and one number for each member.
//!
//! # When a view ends
//! All its offers and wishes end. If a member has not delivered its own offer by then, no member
//! has or ever will, so the owner has its slots again. For slots on offer:
//! 1. If every member of the view came along or ended in it, all survivors have delivered the same
//!    takes. The owner has its slots again.
//! 2. If a member parted, it may have delivered a take that was not delivered here. The slots are
//!    absent here, and at their owner: the taker owns them (step 4 of the argument in the [module
//!    header](super)).
//! 3. A take that is delivered in the transitional configuration brings nothing: members that
//!    parted may have delivered other takes before it. An offer that is delivered there counts as
//!    on offer.
//!
//! Source: pre-authorised donation, as an improvement on the donation scheme of SLOTS; see the
//! card.

mod insistence;

use super::Slots;
use super::exchange::Exchange;
use super::message::Body;
use super::patience::Patience;
use super::ranges::Ranges;
use super::reports::Reports;
use super::settings::Surplus;
use super::state::{MemberState, ViewStage};
use super::table::Owner;
use super::watermarks::{Demand, Supply, Watermarks};
use serde::{Deserialize, Serialize};
use synod_core::family::slots::Output;
use synod_core::group::Session;
use synod_core::{ProcessId, Setup, SetupError};

/// This member's own multicast that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Own {
    None,
    /// A take, and the number of claims since.
    Take {
        claims: u32,
    },
    /// An offer, and the number of claims since.
    Offer {
        claims: u32,
    },
}

/// Offers and takes of a view, as one member sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offers {
    exchange: Exchange,
    own: Own,
    /// Whether this member has begged since its last grant.
    begs: bool,
    demand: Demand,
    /// The present watermarks for the number of free slots.
    watermarks: Watermarks,
    reports: Reports,
    patience: Patience,
}

impl Offers {
    /// Reads the stock from the parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        Ok(Offers { demand: Demand::from_setup(setup)?, ..Offers::with_stock(0) })
    }

    /// A member that keeps this many free slots, or, if 0, as many as its claims demand.
    pub fn with_stock(stock: u32) -> Self {
        let demand = if stock == 0 { Demand::UNKNOWN } else { Demand::Fixed(stock) };
        Offers {
            exchange: Exchange::default(),
            own: Own::None,
            begs: false,
            demand,
            watermarks: Watermarks::default(),
            reports: Reports::default(),
            patience: Patience::default(),
        }
    }

    /// The slots on offer and the waiting members.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The application asked for a slot.
    #[inline]
    pub fn on_need(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match &mut self.own {
            Own::None => self.consider(state, session),
            Own::Take { claims } | Own::Offer { claims } => *claims = claims.saturating_add(1),
        }
    }

    /// The application asked for a slot in vain. A member that waits already has patience for a few
    /// more claims, and then asks again.
    pub fn on_refused(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let waits = state.is_settled() && self.exchange.waits(state.me);
        if !waits || self.own != Own::None {
            self.on_need(state, session);
        } else if self.patience.ends() {
            self.ask(state, session);
        }
    }

    /// Whether a member that knows of no free slot may say that all are in use: it has asked again
    /// in vain, or the others own no slot.
    pub fn is_sure_of_none(&self, state: &MemberState) -> bool {
        self.exchange.is_urgent_for(state.me) || state.owned() == state.total()
    }

    /// The number of free slots that this member needs itself.
    pub fn need(&self) -> u32 {
        self.demand.need()
    }

    /// Whether this member keeps no free slot that it does not need, if a waiting member has asked
    /// again in vain: it has offered its surplus, or will offer it when its own multicast is
    /// delivered (π5).
    pub(super) fn lets_go(&self, state: &MemberState) -> bool {
        let is_asked = state.is_settled() && self.exchange.is_urgent();
        let is_begged = self.exchange.is_begged();
        let need = if is_begged { self.demand.low() - 1 } else { self.demand.need() };
        !is_asked || self.own != Own::None || state.pool.free() <= need
    }

    /// Takes slots if too few are free, or offers some if too many are.
    #[inline]
    pub fn consider(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let queue = state.needed_by_queue();
        let free = state.pool.free().saturating_sub(queue);
        if free >= self.watermarks.low && free <= self.watermarks.high
            || self.own != Own::None
            || !state.is_settled()
        {
            return;
        }
        if state.free().saturating_sub(queue) < self.watermarks.low {
            self.take(state, session);
        } else if free > self.watermarks.high && self.exchange.was_asked() {
            self.offer(free, state, session);
        }
    }

    fn take(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        if !self.exchange.waits(state.me) && state.may_use() > state.free() {
            self.ask(state, session);
        }
    }

    fn ask(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let may_use_more = state.may_use();
        let queue = state.needed_by_queue();
        let wanted =
            |bound: u32| bound.saturating_add(queue).min(may_use_more).saturating_sub(state.free());
        let (wanted, needed) = (wanted(self.watermarks.fill), wanted(self.watermarks.enough));
        self.own = Own::Take { claims: 0 };
        session.notify(Output::Asks(wanted));
        state.multicast(Body::Take { wanted, needed }, session);
    }

    fn offer(&mut self, free: u32, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let spare = free.saturating_sub(self.watermarks.keep).min(self.watermarks.at_once);
        if spare > 0 {
            self.own = Own::Offer { claims: 0 };
            let slots = state.pool.pledge(spare);
            state.multicast(Body::Offer(slots), session);
        }
    }

    /// A take is delivered.
    pub fn on_take(
        &mut self,
        from: ProcessId,
        (wanted, needed): (u32, u32),
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        // Rule 3.
        if !state.is_settled() || !state.ready.contains(from) {
            return;
        }
        let free = state.reported_free(from).unwrap_or(0);
        let granted = self.exchange.take(from, wanted, needed, free);
        let got = granted.len();
        self.reports.note(from, free);
        self.grant(&granted, from, state);
        if from == state.me {
            session.notify(Output::Got(got));
        }
        self.delivered(from, state, session);
    }

    /// An offer is delivered.
    pub fn on_offer(
        &mut self,
        from: ProcessId,
        slots: Ranges,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        // A member that offers slots of others, or offers a slot twice, is not believed.
        let twice = self.exchange.on_offer().intersects(&slots);
        if twice || !state.table.has_all(Owner::Of(from), &slots) {
            return;
        }
        if !state.is_settled() {
            if state.stage == ViewStage::Between {
                self.exchange.put(&slots);
            }
            return;
        }
        self.reports.note(from, state.reported_free(from).unwrap_or(0));
        for (to, share) in self.exchange.offer(from, slots) {
            self.grant(&share, to, state);
        }
        self.delivered(from, state, session);
    }

    /// Gives slots that were on offer to a new owner.
    fn grant(&mut self, slots: &Ranges, to: ProcessId, state: &mut MemberState) {
        if slots.is_empty() {
            return;
        }
        self.begs &= to != state.me;
        self.reports.add(to, slots.len());
        state.grant(slots, to);
    }

    /// The exchange has changed: this member weighs again.
    fn delivered(
        &mut self,
        from: ProcessId,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if let Own::Take { claims } | Own::Offer { claims } = self.own
            && from == state.me
        {
            self.demand.learn(claims);
            self.own = Own::None;
            self.patience = Patience::default();
        }
        self.patience.hear();
        self.weigh(state);
        self.consider(state, session);
        self.insist(state, session);
    }

    /// Sets the watermarks for the present state of the group.
    fn weigh(&mut self, state: &MemberState) {
        let members = state.group_size();
        let free = self.reports.of_all(members) + u64::from(self.exchange.stock());
        self.watermarks = self.demand.watermarks(Supply {
            members,
            free: u32::try_from(free).unwrap_or(u32::MAX),
            stock: self.exchange.stock(),
            missing: self.exchange.missing(),
            urgent: self.exchange.is_urgent() && state.settings.surplus == Surplus::LetGo,
            begged: self.exchange.is_begged() && state.settings.surplus == Surplus::LetGo,
        });
    }

    /// The view is about to end: no member takes slots from now on.
    pub fn pause(&mut self) {
        let (own, on_offer) = (self.own, self.exchange.close());
        self.reset();
        self.own = own;
        self.exchange.put(&on_offer);
    }

    /// The view is over, and so are its offers (rules 1 and 2).
    pub fn close(
        &mut self,
        parted: bool,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if matches!(self.own, Own::Take { .. }) {
            session.notify(Output::Got(0));
        }
        let on_offer = self.exchange.close();
        self.reset();
        if parted {
            state.give(&on_offer, Owner::Absent);
        }
        let promised = state.pool.pledged_slots().clone();
        state.pool.unpledge(&promised);
    }

    /// Drops all offers, wishes and reports.
    pub fn reset(&mut self) {
        self.exchange.close();
        (self.own, self.begs) = (Own::None, false);
        self.patience = Patience::default();
        self.watermarks = Watermarks::default();
        self.reports = Reports::default();
    }

    /// The group is settled: slots may move.
    pub fn begin(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        self.weigh(state);
        self.consider(state, session);
    }

    /// Removes slots from the offers: a `Hand` has given them to a new owner.
    pub fn withdraw(&mut self, slots: &Ranges) {
        self.exchange.withdraw(slots);
    }
}
