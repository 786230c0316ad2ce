//! Claims and releases: the application uses the member's own slots (step 1 of the argument in the
//! [module header](super)), and the member sends no message.

use super::pool::Pool;
use super::state::MemberState;
use synod_core::family::slots::{Refusal, SlotId, Token};

impl MemberState {
    /// The token of the next claim.
    fn next_token(&mut self) -> Token {
        self.clock += 1;
        Token { epoch: self.view.map_or(0, |view| view.epoch), count: self.clock }
    }

    /// Takes a slot into use: the named one, or the lowest free one. Reserved slots go first.
    pub fn claim(&mut self, which: Option<SlotId>) -> Result<(SlotId, Token), Refusal> {
        if !self.is_ready() {
            return Err(Refusal::Outside);
        }
        if self.may_use() == 0 {
            return Err(Refusal::Denied);
        }
        let token = self.next_token();
        let pools = self.private.iter_mut().chain([&mut self.pool]);
        let slot = match which {
            None => pools.into_iter().find_map(|pool| pool.claim(token)),
            Some(slot) => {
                let mut pools = pools;
                pools.any(|pool| pool.claim_slot(slot, token)).then_some(slot)
            }
        };
        match (slot, which) {
            (Some(slot), _) => Ok((slot, token)),
            (None, Some(_)) => Err(Refusal::Elsewhere),
            (None, None) => Err(self.why_none()),
        }
    }

    /// The reason why this member has no free slot. A slot that cools, is promised, is absent or is
    /// free at another member may still come: `Starved`. Otherwise all are in use: `Exhausted`.
    fn why_none(&self) -> Refusal {
        let resting = self.cooling() + self.pool.pledged();
        let others = self.ready.iter().filter(|other| *other != self.me);
        let mut others = others.map(|other| self.reported_free(other));
        let elsewhere = self.table.size() - self.total();
        if resting + elsewhere > 0 || others.any(|free| free > 0) {
            return Refusal::Starved;
        }
        Refusal::Exhausted
    }

    /// Gives a slot back. Returns whether the token is that of the slot's last claim.
    pub fn release(&mut self, slot: SlotId, token: Token) -> bool {
        let cool = self.settings.cooldown_ms > 0;
        let private = self.private.as_mut();
        private.is_some_and(|pool| pool.release(slot, token, cool).is_ok())
            || self.pool.release(slot, token, cool).is_ok()
    }

    /// The number of slots that cool.
    pub fn cooling(&self) -> u32 {
        self.pool.cooling() + self.private.as_ref().map_or(0, Pool::cooling)
    }

    /// Frees the slots that have cooled long enough. Returns whether other slots still cool.
    pub fn warm(&mut self) -> bool {
        let private = self.private.as_mut().is_some_and(Pool::warm);
        self.pool.warm() || private
    }

    /// Uses slots from the beginning, as the parameter `used` says.
    pub fn use_some(&mut self, count: u32) {
        for _ in 0..count {
            let token = self.next_token();
            self.pool.claim(token);
        }
    }

    /// The number of slots that this member may still take into use, by its cap.
    pub fn may_use(&self) -> u32 {
        let used = self.pool.used() + self.private.as_ref().map_or(0, Pool::used);
        self.settings.cap.saturating_sub(used)
    }
}
