//! What it is time for, and the timers of all that may happen then.

use super::oracle::Oracle;
use super::{Abstract, Move};
use synod_core::Cx;
use synod_core::reductions::Fleeting;

/// What it is time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Whatever is possible: the oracle is not lazy.
    Eager,
    /// Nothing, unless something goes wrong: nobody has anything to say.
    Over,
    /// Telling what is certain.
    Certain,
    /// Ending the views whose members get one together.
    Gathering,
    /// The rest of a view that some have left goes on.
    Abandoned,
    /// Those who wait get a view of their own.
    Stuck,
    /// Whatever else is possible, and perhaps nobody has anything to say.
    Silent,
    /// Whatever else is possible.
    Open,
}

impl Phase {
    /// Whether it is time for this.
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
    /// What it is time for: if the oracle is lazy, what is certain comes before all else.
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

    /// Whether somebody will be told something, whatever happens.
    fn is_certain(&self) -> bool {
        self.nodes.iter().any(|node| !node.queue.is_empty())
            || (self.is_over() && self.names().any(|node| self.backlog(node) > 0))
    }

    /// Sets the timers of all that may happen now. Always in the same order, so that the same
    /// state has the same timers.
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

    /// One of them has run out.
    pub(super) fn ran_out(&mut self, next: Move) {
        let place = Move::ALL.iter().position(|other| *other == next);
        self.set.0 &= !(1 << place.expect("all are there"));
    }

    /// The same, if members were told something or there is something to be told.
    pub(super) fn set_pass(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        if self.settings.calm {
            self.set_timers(cx);
        } else if self.may(Move::Pass, self.phase()) {
            cx.set_timer(Move::Pass, Move::Pass.after_ms());
        }
    }
}
