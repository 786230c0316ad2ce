//! Claims and releases: the application uses the member's own slots (step 1 of the argument in the
//! [module header](super)), and the member sends no message.

use super::Slots;
use super::pool::Pool;
use super::state::MemberState;
use super::table::Owner;
use synod_core::ProcessId;
use synod_core::family::slots::{Output, Refusal, SlotId, Token};
use synod_core::group::Session;

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

    /// The reason for which a claim is refused now, if no slot is free.
    pub(super) fn why_refused(&self) -> Refusal {
        if !self.is_ready() {
            Refusal::Outside
        } else if self.may_use() == 0 {
            Refusal::Denied
        } else {
            self.why_none()
        }
    }

    /// The reason why this member has no free slot. A slot that cools, is promised, is absent or is
    /// free at another member may still come: `Starved`. Otherwise all are in use: `Exhausted`.
    fn why_none(&self) -> Refusal {
        let resting = self.cooling() + self.pool.pledged();
        let elsewhere = self.table.size() - self.total();
        let mut others = self.ready.iter().filter(|other| *other != self.me);
        if resting + elsewhere > 0 || others.any(|other| self.may_have_free(other)) {
            return Refusal::Starved;
        }
        Refusal::Exhausted
    }

    /// Whether another member may have a free slot, as far as this member knows. A member that has
    /// never spoken may have some if it owns some.
    fn may_have_free(&self, other: ProcessId) -> bool {
        match self.reported_free(other) {
            Some(free) => free > 0,
            None => self.table.count(Owner::Of(other)) > 0,
        }
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

impl Slots {
    /// Refuses a claim.
    pub(super) fn refuse(
        &mut self,
        why: Refusal,
        answer: impl FnOnce(Refusal) -> Output,
        session: &mut Session<'_, Self>,
    ) {
        let why = self.in_truth(why);
        session.notify(answer(why));
        match why {
            Refusal::Exhausted | Refusal::Starved => {
                self.scheme.on_refused(&mut self.state, session);
            }
            _ => self.scheme.on_need(&mut self.state, session),
        }
    }

    /// The reason for a refusal: only a member that is sure of it says that all slots are in use.
    pub(super) fn in_truth(&self, why: Refusal) -> Refusal {
        let is_sure = || self.scheme.is_sure_of_none(&self.state);
        if why == Refusal::Exhausted && !is_sure() { Refusal::Starved } else { why }
    }
}
