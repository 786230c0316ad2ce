//! The phase of the oracle: the moves that it may make now, and their timers.

use super::oracle::Oracle;
use super::{Abstract, Move};
use synod_core::Cx;
use synod_core::reductions::Fleeting;

/// The moves that the oracle may make now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Every possible move: the oracle is not lazy.
    Eager,
    /// Faults only: no member has a multicast left.
    Over,
    /// Passing on the events that every continuation passes on (step L3).
    Certain,
    /// Ending the views that a merge unites, one after the other.
    Gathering,
    /// The rest of a view that some members have left goes on (step B2).
    Abandoned,
    /// Members that wait get a view of their own, because no other can come.
    Stuck,
    /// Every other move, or [`Move::Rest`]: no multicast waits for its place.
    Silent,
    /// Every other move.
    Open,
}

impl Phase {
    /// Whether the phase allows this move.
    pub(super) fn allows(self, next: Move) -> bool {
        match (self, next) {
            (Phase::Eager, _) => !matches!(next, Move::Order | Move::Rest),
            (Phase::Certain, _) => next == Move::Pass,
            (Phase::Gathering, _) => next == Move::Gather,
            (_, Move::Pass | Move::Gather) => false,
            (Phase::Over, _) => next.is_fault(),
            (Phase::Abandoned, _) => {
                matches!(next, Move::Settle | Move::Partition | Move::Die | Move::Crash)
            }
            (Phase::Stuck, _) => next == Move::Settle,
            (Phase::Silent, _) => true,
            (Phase::Open, _) => next != Move::Rest,
        }
    }
}

impl<M: Fleeting> Oracle<M> {
    /// The present phase. A lazy oracle passes on certain events first, so that its states differ
    /// in less.
    pub(super) fn phase(&self) -> Phase {
        if !self.settings.is_lazy() {
            Phase::Eager
        } else if self.rests {
            Phase::Over
        } else if self.is_certain() {
            Phase::Certain
        } else if !self.gathered.is_empty() {
            Phase::Gathering
        } else if self.is_abandoned() {
            Phase::Abandoned
        } else if self.is_stuck() {
            Phase::Stuck
        } else if self.is_silent() {
            Phase::Silent
        } else {
            Phase::Open
        }
    }

    /// Whether a member will certainly get a further event.
    fn is_certain(&self) -> bool {
        self.nodes.iter().any(|node| !node.queue.is_empty())
            || (self.is_over() && self.names().any(|node| self.backlog(node) > 0))
    }

    /// Sets the timers of all moves that are possible now. The order is always the same, so that
    /// the same state has the same timers.
    pub(super) fn set_timers(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        if self.is_at_rest() {
            self.settings.refill();
        }
        let phase = self.phase();
        let may = Move::ALL.map(|next| self.may(next, phase));
        let set = may.iter().rev().fold(0, |set, may| set << 1 | u16::from(*may));
        if std::mem::replace(&mut self.set.0, set) == set && self.settings.is_lazy() {
            return;
        }
        for (next, may) in Move::ALL.into_iter().zip(may) {
            match may {
                true => cx.set_timer(next, next.after_ms()),
                false => cx.cancel_timer(next),
            }
        }
    }

    /// The timer of this move has run out.
    pub(super) fn ran_out(&mut self, next: Move) {
        let place = Move::ALL.iter().position(|other| *other == next);
        self.set.0 &= !(1 << place.expect("all are there"));
    }

    /// Sets the timer of [`Move::Pass`] alone, where no other move can have become possible.
    pub(super) fn set_pass(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        if self.settings.calm {
            self.set_timers(cx);
        } else if self.may(Move::Pass, self.phase()) {
            cx.set_timer(Move::Pass, Move::Pass.after_ms());
        }
    }
}
