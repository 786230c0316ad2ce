//! A lean world removes the messages that can no longer change any process. The explorer then has
//! fewer states to visit.

use super::{Body, Envelope, Slot, Status, World};
use smallvec::SmallVec;
use std::sync::Arc;
use synod_core::{Algorithm, ProcessId};

impl<A: Algorithm> World<A> {
    /// Removes the messages that their receivers will ignore. It looks only at messages with a
    /// number of at least `since` and at those whose receivers have taken a step: all others were
    /// looked at before.
    pub(super) fn forget_ignored(&mut self, since: u64) {
        let reductions = self.fixed.reductions;
        if !self.fixed.lean || reductions.ignores.is_none() {
            return;
        }
        self.forget(|world, envelope| match &envelope.body {
            Body::Message(message) => {
                let to = world.process(envelope.to);
                (to.print == 0 || envelope.number >= since)
                    && to.is_up()
                    && reductions.ignores(to.state(), envelope.from, message)
            }
            Body::Tell(_) => false,
        });
    }

    /// Makes this world lean from now on: see [`Plan::lean`](super::Plan::lean).
    pub fn become_lean(&mut self) {
        Arc::make_mut(&mut self.fixed.0).lean = true;
        for at in ProcessId::all(self.processes.len()) {
            if self.process(at).status == Status::Crashed {
                self.forget_print(at);
                self.processes[at.index()].disk = None;
                self.bury(at);
            }
        }
        self.forget_ignored(0);
        self.renew_prints();
    }

    /// A process has crashed for good: removes the messages to it, now and later.
    pub(super) fn bury(&mut self, at: ProcessId) {
        self.medium.gone.insert(at);
        self.forget(|_, envelope| envelope.to == at);
    }

    /// Removes these messages without an event: in the trace they are still in flight.
    fn forget(&mut self, which: impl Fn(&Self, &Envelope<A>) -> bool) {
        let these = self.medium.flight.iter().filter(|(_, envelope)| which(self, envelope));
        let slots: SmallVec<[Slot; 8]> = these.map(|(slot, _)| slot).collect();
        for slot in slots {
            let envelope = self.medium.take(slot);
            self.medium.forget_causal(&envelope);
        }
    }
}
