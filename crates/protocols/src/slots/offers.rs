//! Offers: a member with a surplus offers slots beforehand, and a member that runs short takes
//! them.
//!
//! A member with a surplus multicasts an *offer* of free slots. From then on it does not use them.
//! The delivered offer puts the slots *on offer*; the member still owns them. A member that runs
//! short multicasts a *take*. At its delivery, all members give the taker slots that are on offer,
//! the lowest first. No member answers, because the owner has agreed beforehand. A taker that gets
//! fewer slots than it needs waits. Later offers go first to the waiting members, slot by slot to
//! the one with the fewest free slots. [`appetite`](super::appetite) says when a member takes or
//! offers, and how many.
//!
//! - Assumes: total order; messages of an old view are void.
//! - Guarantees: a take ends with its delivery (π4), one multicast after it was sent; of two
//!   members without a free slot, the one that asked first waits no longer (π5).
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

use super::Slots;
use super::appetite::{Appetite, Bounds, Market};
use super::estate::{Estate, Stage};
use super::exchange::Exchange;
use super::message::Body;
use super::ranges::Ranges;
use super::table::Owner;
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::family::slots::Output;
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The parameter for a fixed stock.
pub const STOCK: Parameter = Parameter {
    name: "stock",
    meaning: "offers: how many free slots a member keeps (default: as its claims and the latency of \
              the group demand)",
};

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
    appetite: Appetite,
    /// The present bounds for the number of free slots.
    bounds: Bounds,
    /// The number of free slots that each member reported, and the slots that it got since.
    told: Vec<Option<u32>>,
    /// The number of members that have reported.
    speakers: u32,
    /// The sum of their free slots.
    told_in_all: u32,
}

impl Offers {
    /// Reads the stock from the parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let appetite = match setup.text(STOCK.name) {
            None => Appetite::UNKNOWN,
            Some(_) => {
                let stock = setup.number(STOCK.name, 1)?;
                let bad = |_| setup.bad(STOCK.name, "not a number below 2^32");
                if stock == 0 {
                    return Err(setup.bad(STOCK.name, "at least 1"));
                }
                Appetite::Fixed(u32::try_from(stock).map_err(bad)?)
            }
        };
        Ok(Offers {
            exchange: Exchange::default(),
            own: Own::None,
            appetite,
            bounds: Bounds::default(),
            told: Vec::new(),
            speakers: 0,
            told_in_all: 0,
        })
    }

    /// The slots on offer and the waiting members.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The application asked for a slot.
    #[inline]
    pub fn on_need(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        match &mut self.own {
            Own::None => self.consider(estate, session),
            Own::Take { claims } | Own::Offer { claims } => *claims = claims.saturating_add(1),
        }
    }

    /// Takes slots if too few are free, or offers some if too many are.
    #[inline]
    pub fn consider(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        let free = estate.pool.free();
        if free >= self.bounds.low && free <= self.bounds.high
            || self.own != Own::None
            || !estate.is_settled()
        {
            return;
        }
        if estate.free() < self.bounds.low {
            self.take(estate, session);
        } else if free > self.bounds.high && self.exchange.was_asked() {
            self.offer(free, estate, session);
        }
    }

    fn take(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        let may_use_more = estate.may_use();
        if self.exchange.waits(estate.me) || may_use_more <= estate.free() {
            return;
        }
        let wanted = |bound: u32| bound.min(may_use_more).saturating_sub(estate.free());
        let (wanted, needed) = (wanted(self.bounds.fill), wanted(self.bounds.enough));
        self.own = Own::Take { claims: 0 };
        session.tell(Output::Asks(wanted));
        estate.say(Body::Take { wanted, needed }, session);
    }

    fn offer(&mut self, free: u32, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        let spare = free.saturating_sub(self.bounds.keep).min(self.bounds.at_once);
        if spare > 0 {
            self.own = Own::Offer { claims: 0 };
            let slots = estate.pool.pledge(spare);
            estate.say(Body::Offer(slots), session);
        }
    }

    /// A take is delivered.
    pub fn on_take(
        &mut self,
        from: ProcessId,
        (wanted, needed): (u32, u32),
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        // Rule 3.
        if !estate.is_settled() || !estate.ready.contains(from) {
            return;
        }
        let free = estate.told(from);
        let granted = self.exchange.take(from, wanted, needed, free);
        let got = granted.len();
        self.note(from, free);
        self.grant(&granted, from, estate);
        if from == estate.me {
            session.tell(Output::Got(got));
        }
        self.delivered(from, estate, session);
    }

    /// An offer is delivered.
    pub fn on_offer(
        &mut self,
        from: ProcessId,
        slots: Ranges,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        // A member that offers slots of others, or offers a slot twice, is not believed.
        let twice = self.exchange.on_offer().intersects(&slots);
        if twice || !estate.table.has_all(Owner::Of(from), &slots) {
            return;
        }
        if !estate.is_settled() {
            if estate.stage == Stage::Between {
                self.exchange.put(&slots);
            }
            return;
        }
        self.note(from, estate.told(from));
        for (to, share) in self.exchange.offer(from, slots) {
            self.grant(&share, to, estate);
        }
        self.delivered(from, estate, session);
    }

    /// Notes the number of free slots that a member reports.
    fn note(&mut self, member: ProcessId, free: u32) {
        let place = member.index();
        if self.told.len() <= place {
            self.told.resize(place + 1, None);
        }
        let before = self.told[place].replace(free);
        self.speakers += u32::from(before.is_none());
        self.told_in_all = (self.told_in_all - before.unwrap_or(0)).saturating_add(free);
    }

    /// Gives slots that were on offer to a new owner.
    fn grant(&mut self, slots: &Ranges, to: ProcessId, estate: &mut Estate) {
        if slots.is_empty() {
            return;
        }
        if let Some(Some(told)) = self.told.get_mut(to.index()) {
            *told = told.saturating_add(slots.len());
            self.told_in_all = self.told_in_all.saturating_add(slots.len());
        }
        estate.grant(slots, to);
    }

    /// The exchange has changed: this member weighs again.
    fn delivered(
        &mut self,
        from: ProcessId,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        if let Own::Take { claims } | Own::Offer { claims } = self.own
            && from == estate.me
        {
            self.appetite.learn(claims);
            self.own = Own::None;
        }
        self.weigh(estate);
        self.consider(estate, session);
    }

    /// Sets the bounds for the present state of the group.
    fn weigh(&mut self, estate: &Estate) {
        let members = estate.group_size();
        // A member that has not reported counts as having the mean of those that have.
        let known = u64::from(self.speakers.max(1));
        let told = u64::from(self.told_in_all) * u64::from(members) / known;
        let free = told + u64::from(self.exchange.stock());
        self.bounds = self.appetite.bounds(Market {
            members,
            free: u32::try_from(free).unwrap_or(u32::MAX),
            stock: self.exchange.stock(),
            missing: self.exchange.missing(),
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
    pub fn close(&mut self, lost: bool, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        if matches!(self.own, Own::Take { .. }) {
            session.tell(Output::Got(0));
        }
        let on_offer = self.exchange.close();
        self.reset();
        if lost {
            estate.give(&on_offer, Owner::Absent);
        }
        let promised = estate.pool.pledged_slots().clone();
        estate.pool.unpledge(&promised);
    }

    /// Drops all offers, wishes and reports.
    pub fn reset(&mut self) {
        self.exchange.close();
        self.own = Own::None;
        self.bounds = Bounds::default();
        self.told.clear();
        self.speakers = 0;
        self.told_in_all = 0;
    }

    /// The group is settled: slots may move.
    pub fn begin(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        self.weigh(estate);
        self.consider(estate, session);
    }

    /// Removes slots from the offers: a `Hand` has given them to a new owner.
    pub fn withdraw(&mut self, slots: &Ranges) {
        self.exchange.withdraw(slots);
    }
}

/// Gives every member an equal share of slots that no life owns.
pub fn share_out(slots: &Ranges, estate: &mut Estate) {
    let heirs: ProcessSet = estate.ready.iter().chain(estate.waiting.iter()).collect();
    let (mut left, mut rest) = (heirs.len() as u32, slots.clone());
    for heir in heirs.iter() {
        let share = rest.take_first(rest.len().div_ceil(left));
        estate.give(&share, Owner::Of(heir));
        left -= 1;
    }
}
