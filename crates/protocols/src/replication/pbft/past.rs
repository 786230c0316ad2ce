//! What comes too late to matter.

use super::{Accepted, Message, Pbft, Proposal};
use synod_core::{Data, ProcessId};

impl<O: Data, S: Data> Pbft<O, S> {
    /// Views and numbers only grow. In a view, a number has one proposal, and is prepared once.
    pub(super) fn is_past(&self, from: ProcessId, message: &Message<O, S>) -> bool {
        let is_over = |view: u64| view < self.view || view == self.view && !self.changing;
        let slot = |number: u64| self.log.get(&number);
        match message {
            Message::PrePrepare(Accepted { proposal, .. }) => {
                let known = slot(proposal.number).and_then(|slot| slot.accepted.as_ref());
                let is_known = |known: &Accepted<O>| {
                    known.proposal.view > proposal.view || known.proposal == *proposal
                };
                proposal.number <= self.low() || known.is_some_and(is_known)
            }
            Message::Prepare(Proposal { view, number, .. }, _) => {
                let is_prepared = slot(*number).is_some_and(|slot| slot.is_prepared_in(*view));
                *view < self.view || *number <= self.low() || is_prepared
            }
            Message::Commit(proposal) => proposal.number <= self.executed,
            Message::ViewChange(signed) => {
                let known = self.changes.get(&from).map(|known| known.change.view);
                let view = signed.change.view;
                is_over(view) || known.is_some_and(|known| known >= view)
            }
            Message::NewView(new) => is_over(new.view),
            Message::Checkpoint { number, .. } => *number <= self.low(),
            _ => false,
        }
    }
}
