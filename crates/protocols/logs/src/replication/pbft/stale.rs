//! Messages that come too late to matter.

use super::{Message, Pbft, PrePrepare, Proposal, Rules};
use synod_core::replication::Parts;
use synod_core::{Data, ProcessId};

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// Whether a message changes nothing, now and later. Views and numbers only grow; in a view, a
    /// number has one pre-prepare, and is prepared once.
    pub(super) fn is_stale(&self, from: ProcessId, message: &Message<O, S>) -> bool {
        let is_over = |view: u64| view < self.view || view == self.view && !self.changing;
        let slot = |number: u64| self.log.get(&number);
        match message {
            Message::PrePrepare(PrePrepare { proposal, .. }) => {
                let known = slot(proposal.number).and_then(|slot| slot.pre_prepare.as_ref());
                let is_known = |known: &PrePrepare<O>| {
                    known.proposal.view > proposal.view || known.proposal == *proposal
                };
                proposal.number <= self.low_water_mark() || known.is_some_and(is_known)
            }
            Message::Prepare(Proposal { view, number, .. }, _) => {
                let is_prepared = slot(*number).is_some_and(|slot| slot.is_prepared_in(*view));
                *view < self.view || *number <= self.low_water_mark() || is_prepared
            }
            Message::Commit(proposal) => proposal.number <= self.executed,
            Message::ViewChange(signed) => {
                let known = self.changes.get(&from).map(|known| known.change.view);
                let view = signed.change.view;
                is_over(view) || known.is_some_and(|known| known >= view)
            }
            Message::NewView(new) => is_over(new.view),
            Message::Checkpoint { number, .. } => *number <= self.low_water_mark(),
            _ => false,
        }
    }
}
