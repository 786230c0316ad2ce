//! How slots move between members: one of several schemes, chosen when a pool is set up.
//!
//! The membership drives every scheme through the same methods. A scheme changes the table only
//! when a message is delivered, so that all tables stay equal (step 3 of the argument in the
//! [module header](super)). It asks for no slot while the group is unsettled.

use super::Slots;
use super::donation::Donation;
use super::message::Body;
use super::offers::Offers;
use super::published::PublishedDonation;
use super::ranges::Ranges;
use super::settings::{Rules, Settings};
use super::state::MemberState;
use super::table::Owner;
use serde::{Deserialize, Serialize};
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The scheme of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// A member that runs short asks, and every other member answers.
    Donation(Donation),
    /// The same with the published rules.
    Published(PublishedDonation),
    /// A member with a surplus offers slots, and a member that runs short takes them.
    Offers(Offers),
}

impl Scheme {
    /// Reads the scheme from the parameters.
    pub fn from_setup(settings: &Settings, setup: &Setup) -> Result<Self, SetupError> {
        Ok(match settings.rules {
            Rules::Repaired => Scheme::Donation(Donation::from_setup(setup)?),
            Rules::Paper => Scheme::Published(PublishedDonation::from_setup(setup)?),
            Rules::Offers => Scheme::Offers(Offers::from_setup(setup)?),
        })
    }

    /// The application is about to claim a slot: the only time to ask, if the pool is set up so.
    #[inline]
    pub fn before_claim(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(donation) if donation.switches().at_claims => {
                donation.ask(state, session);
            }
            Scheme::Published(donation) if donation.switches().at_claims => {
                donation.ask(state, session);
            }
            _ => {}
        }
    }

    /// The application claimed a slot, or asked in vain: does the member need more?
    #[inline]
    pub fn on_need(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(donation) if donation.switches().at_claims => {}
            Scheme::Published(donation) if donation.switches().at_claims => {}
            Scheme::Donation(donation) => donation.ask(state, session),
            Scheme::Published(donation) => donation.ask(state, session),
            Scheme::Offers(offers) => offers.on_need(state, session),
        }
    }

    /// The application asked for a slot in vain.
    pub fn on_refused(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(_) | Scheme::Published(_) => self.on_need(state, session),
            Scheme::Offers(offers) => offers.on_refused(state, session),
        }
    }

    /// A claim begins to wait.
    pub fn on_wait(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(donation) => donation.ask(state, session),
            Scheme::Published(donation) => donation.ask(state, session),
            Scheme::Offers(offers) => offers.on_wait(state, session),
        }
    }

    /// A claim that waited got a slot.
    pub fn on_served(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(_) | Scheme::Published(_) => self.on_need(state, session),
            Scheme::Offers(offers) => offers.consider(state, session),
        }
    }

    /// Claims have waited for a while. With donations no message tells a member when another one
    /// has slots to spare, so it asks again.
    pub fn on_reminder(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(_) | Scheme::Published(_) => self.on_wait(state, session),
            Scheme::Offers(offers) => offers.remind(state, session),
        }
    }

    /// Whether a member that knows of no free slot may say that all are in use.
    pub fn is_sure_of_none(&self, state: &MemberState) -> bool {
        match self {
            Scheme::Donation(_) | Scheme::Published(_) => true,
            Scheme::Offers(offers) => offers.is_sure_of_none(state),
        }
    }

    /// The application gave a slot back, or another member handed some over: has the member a
    /// surplus?
    #[inline]
    pub fn on_release(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self {
            // A member donates only on request.
            Scheme::Donation(_) | Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.consider(state, session),
        }
    }

    /// A message of a scheme is delivered, in its view or in the transitional configuration after
    /// it.
    pub fn on_deliver(
        &mut self,
        from: ProcessId,
        body: Body,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        match (self, body) {
            (Scheme::Donation(donation), Body::Request(asked)) => {
                donation.on_request(from, asked, state, session);
            }
            (Scheme::Donation(donation), Body::Donate { to, slots }) => {
                donation.on_donate(from, to, &slots, state, session);
            }
            (Scheme::Published(donation), Body::Request(asked)) => {
                donation.on_request(from, asked, state, session);
            }
            (Scheme::Published(donation), Body::Donate { to, slots }) => {
                donation.on_donate(from, to, &slots, state, session);
            }
            (Scheme::Offers(offers), Body::Offer(slots)) => {
                offers.on_offer(from, slots, state, session);
            }
            (Scheme::Offers(offers), Body::Take { wanted, needed }) => {
                offers.on_take(from, (wanted, needed), state, session);
            }
            (Scheme::Offers(offers), Body::Beg) => offers.on_beg(from, state, session),
            // A message of another scheme is ignored: members disagree on the rules.
            _ => {}
        }
    }

    /// The view is about to end: from now on deliveries may move slots, and do nothing else.
    pub fn pause(&mut self) {
        match self {
            Scheme::Donation(donation) => donation.pause(),
            // The published rules know nothing of it.
            Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.pause(),
        }
    }

    /// The view is over, and with it all cycles, offers and takes. The table stands as the last
    /// delivery left it. `parted` tells whether a member of the view may be alive elsewhere, and
    /// may have delivered messages that were not delivered here.
    pub fn close(
        &mut self,
        parted: bool,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        match self {
            Scheme::Donation(donation) => donation.close(state, session),
            // The published rules let cycles go on; see `PublishedDonation::part_from`.
            Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.close(parted, state, session),
        }
    }

    /// Removes slots from the offers: they have moved by other means.
    pub fn withdraw(&mut self, slots: &Ranges) {
        if let Scheme::Offers(offers) = self {
            offers.withdraw(slots);
        }
    }

    /// The group is settled, and slots may move again. `new` are the members initialised since it
    /// was last settled.
    pub fn begin(
        &mut self,
        new: &ProcessSet,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        match self {
            Scheme::Donation(donation) => donation.begin(new, state, session),
            Scheme::Published(donation) => donation.begin(new, state, session),
            Scheme::Offers(offers) => offers.begin(state, session),
        }
    }

    /// Drops all state of the scheme.
    pub fn reset(&mut self) {
        match self {
            Scheme::Donation(donation) => donation.reset(),
            Scheme::Published(donation) => donation.reset(),
            Scheme::Offers(offers) => offers.reset(),
        }
    }

    /// Gives out slots that no life owns, in the same way at all members.
    pub fn reclaim(&mut self, slots: &Ranges, state: &mut MemberState) {
        match (self, state.primary) {
            (Scheme::Offers(_), _) => share_out(slots, state),
            (_, Some(primary)) => state.give(slots, Owner::Of(primary)),
            (_, None) => {}
        }
    }
}

/// Gives every member an equal share of slots that no life owns.
fn share_out(slots: &Ranges, state: &mut MemberState) {
    let heirs: ProcessSet = state.ready.iter().chain(state.waiting.iter()).collect();
    let (mut left, mut rest) = (heirs.len() as u32, slots.clone());
    for heir in heirs.iter() {
        let share = rest.take_first(rest.len().div_ceil(left));
        state.give(&share, Owner::Of(heir));
        left -= 1;
    }
}
