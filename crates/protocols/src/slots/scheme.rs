//! How slots move between members: one of several schemes, chosen when a pool is set up.
//!
//! Whatever the scheme, the membership tells it the same few things; see the methods. A scheme
//! changes who owns what only when a message is delivered, and asks for nothing while the group is
//! unsettled.

use super::Slots;
use super::donation::Donation;
use super::estate::Estate;
use super::message::Body;
use super::offers::{self, Offers};
use super::published::Published;
use super::ranges::Ranges;
use super::settings::{Rules, Settings};
use super::table::Owner;
use serde::{Deserialize, Serialize};
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// How slots move.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// Whoever needs slots asks, and everybody answers.
    Donation(Donation),
    /// The same with the rules that were published.
    Published(Published),
    /// Whoever has some to spare offers them, and whoever needs some takes them.
    Offers(Offers),
}

impl Scheme {
    /// As the parameters want it.
    pub fn from_setup(settings: &Settings, setup: &Setup) -> Result<Self, SetupError> {
        Ok(match settings.rules {
            Rules::Repaired => Scheme::Donation(Donation::from_setup(setup)?),
            Rules::Paper => Scheme::Published(Published::from_setup(setup)?),
            Rules::Offers => Scheme::Offers(Offers::from_setup(setup)?),
        })
    }

    /// A slot was claimed, or asked for in vain: is there need for more?
    #[inline]
    pub fn on_need(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(donation) => donation.on_need(estate, session),
            Scheme::Published(donation) => donation.on_need(estate, session),
            Scheme::Offers(offers) => offers.on_need(estate, session),
        }
    }

    /// A slot was given back: is there a surplus?
    #[inline]
    pub fn on_release(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        match self {
            // Nobody gives what nobody asked for.
            Scheme::Donation(_) | Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.consider(estate, session),
        }
    }

    /// A message of a scheme is delivered, in this view or in the transitional configuration after
    /// it.
    pub fn on_deliver(
        &mut self,
        from: ProcessId,
        body: Body,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        match (self, body) {
            (Scheme::Donation(donation), Body::Request(asked)) => {
                donation.on_request(from, asked, estate, session);
            }
            (Scheme::Donation(donation), Body::Donate { to, slots }) => {
                donation.on_donate(from, to, &slots, estate, session);
            }
            (Scheme::Published(donation), Body::Request(asked)) => {
                donation.on_request(from, asked, estate, session);
            }
            (Scheme::Published(donation), Body::Donate { to, slots }) => {
                donation.on_donate(from, to, &slots, estate, session);
            }
            (Scheme::Offers(offers), Body::Offer(slots)) => {
                offers.on_offer(from, slots, estate, session);
            }
            (Scheme::Offers(offers), Body::Take { wanted, needed }) => {
                offers.on_take(from, (wanted, needed), estate, session);
            }
            // What belongs to another scheme says nothing to this one.
            _ => {}
        }
    }

    /// The view is about to end: what is delivered from now on may move slots, and nothing else.
    pub fn pause(&mut self) {
        match self {
            Scheme::Donation(donation) => donation.pause(),
            // The published rules know nothing of it.
            Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.pause(),
        }
    }

    /// The view is over, and so is everything that was under way in it. The table is as it was when
    /// the last message was delivered. `lost` tells whether somebody may be alive elsewhere who was
    /// in the view, and may have delivered what we did not.
    pub fn close(&mut self, lost: bool, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        match self {
            Scheme::Donation(donation) => donation.close(estate, session),
            // The published rules let cycles go on; see `Published::part_from`.
            Scheme::Published(_) => {}
            Scheme::Offers(offers) => offers.close(lost, estate, session),
        }
    }

    /// These slots have a new owner by other means than this scheme's.
    pub fn withdraw(&mut self, slots: &Ranges) {
        if let Scheme::Offers(offers) = self {
            offers.withdraw(slots);
        }
    }

    /// The group is settled, and slots may move again. `new` are members that are initialised since
    /// it was settled before.
    pub fn begin(
        &mut self,
        new: &ProcessSet,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        match self {
            Scheme::Donation(donation) => donation.begin(new, estate, session),
            Scheme::Published(donation) => donation.begin(new, estate, session),
            Scheme::Offers(offers) => offers.begin(estate, session),
        }
    }

    /// Everything begins anew.
    pub fn reset(&mut self) {
        match self {
            Scheme::Donation(donation) => donation.reset(),
            Scheme::Published(donation) => donation.reset(),
            Scheme::Offers(offers) => offers.reset(),
        }
    }

    /// Nobody can have these slots any more: who gets them? The same answer at all members.
    pub fn reclaim(&mut self, slots: &Ranges, estate: &mut Estate) {
        match (self, estate.primary) {
            (Scheme::Offers(_), _) => offers::share_out(slots, estate),
            (_, Some(primary)) => estate.give(slots, Owner::Of(primary)),
            (_, None) => {}
        }
    }
}
