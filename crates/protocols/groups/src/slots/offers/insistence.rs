//! Claims that wait make a member insist: it asks again at once, and begs after a while.

use super::super::Slots;
use super::super::message::Body;
use super::super::state::MemberState;
use super::{Offers, Own};
use synod_core::ProcessId;
use synod_core::group::Session;

impl Offers {
    /// A claim begins to wait. Its application makes no further claims that could tell this member
    /// to ask again, so patience is of no use.
    pub fn on_wait(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        self.on_need(state, session);
        self.insist(state, session);
    }

    /// Asks again, if this member's wish was delivered in vain and claims wait for it.
    pub(super) fn insist(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let is_short = state.needed_by_queue() > state.free();
        if is_short
            && self.own == Own::None
            && state.is_settled()
            && self.exchange.waits(state.me)
            && !self.exchange.is_urgent_for(state.me)
        {
            self.ask(state, session);
        }
    }

    /// Claims have waited here for a while. If this member has asked again in vain, it begs.
    pub fn remind(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        let is_short = state.needed_by_queue() > state.free();
        let is_in_vain = state.is_settled() && self.exchange.is_urgent_for(state.me);
        if is_short && is_in_vain && !self.begs {
            self.begs = true;
            state.multicast(Body::Beg, session);
        }
    }

    /// A member begs.
    pub fn on_beg(
        &mut self,
        from: ProcessId,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if state.is_settled() {
            self.exchange.beg(from);
            self.weigh(state);
            self.consider(state, session);
        }
    }

    /// Whether this member's multicast is under way, or its wish is urgent.
    pub(in super::super) fn insists(&self, state: &MemberState) -> bool {
        self.own != Own::None || self.exchange.is_urgent_for(state.me)
    }
}
