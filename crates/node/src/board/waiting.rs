//! Claims that wait for an item. The pool serves them in turn; here stands who waits.

use super::{Board, GroupProcess};
use crate::cell::Stepping;
use synod_client::api::{Failure, Holder, Token};
use synod_core::family::services::{Input, Tag};
use synod_core::family::slots::{self, Refusal, SlotId, Ticket};
use tokio::sync::oneshot;

/// What comes of a claim that waited.
pub(crate) type Served = Result<(u64, Token), Failure>;

/// A claim that waits.
#[derive(Debug)]
pub(crate) struct WaitingClaim {
    holder: Holder,
    answer: oneshot::Sender<Served>,
}

impl Board {
    /// A claim that waited has its slot. If its user is gone meanwhile, the slot goes back.
    pub(super) fn on_served(
        &mut self,
        tag: Tag,
        ticket: Ticket,
        slot: SlotId,
        token: slots::Token,
    ) {
        let waiting = self.tickets.remove(&(tag, ticket));
        let now_us = self.clock.now_us();
        let waiting = waiting.filter(|claim| match &claim.holder {
            Holder::Session(session) => self.check_session(*session, now_us).is_ok(),
            Holder::Label(_) => true,
        });
        let Some(WaitingClaim { holder, answer }) = waiting.filter(|w| !w.answer.is_closed())
        else {
            return self.asks.push_back(Input::Pool(tag, slots::Input::Release(slot, token)));
        };
        let granted = self.grant(tag, (slot, token), holder, now_us).ok_or(Failure::NotReady);
        // Its user has just been there, and the lock is held.
        let _ = answer.send(granted);
    }

    /// A claim waited in vain.
    pub(super) fn on_unserved(&mut self, tag: Tag, ticket: Ticket, why: Refusal) {
        if let Some(waiting) = self.tickets.remove(&(tag, ticket)) {
            let _ = waiting.answer.send(Err(self.refused(tag, None, why)));
        }
    }

    /// The pool is gone, and all that waited for it wait in vain.
    pub(super) fn forget_tickets(&mut self, tag: Tag) {
        self.tickets.retain(|(of, _), _| *of != tag);
    }
}

impl Stepping<'_, GroupProcess, Board> {
    /// Claims any item of a pool, and waits for one. The receiver gets the answer.
    pub(crate) fn claim_within(
        &mut self,
        pool: &str,
        holder: Holder,
        wait_ms: u64,
        now_us: u64,
    ) -> Result<oneshot::Receiver<Served>, Failure> {
        let board = &mut self.state.above;
        let tag = board.pool_tag(pool)?;
        if let Holder::Session(session) = &holder {
            board.check_session(*session, now_us)?;
        }
        board.next_ticket += 1;
        let ticket = Ticket(board.next_ticket);
        let (answer, receiver) = oneshot::channel();
        board.tickets.insert((tag, ticket), WaitingClaim { holder, answer });
        self.input(Input::Pool(tag, slots::Input::ClaimWithin { ticket, wait_ms }));
        let board = &mut self.state.above;
        if board.take_said().is_some() {
            // The pool has not begun here.
            board.tickets.remove(&(tag, ticket));
            return Err(Failure::NotReady);
        }
        Ok(receiver)
    }
}
