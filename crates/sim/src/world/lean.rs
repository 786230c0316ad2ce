//! A lean world forgets what makes no difference any more.

use super::{Body, Envelope, Slot, Status, World};
use smallvec::SmallVec;
use std::sync::Arc;
use synod_core::{Algorithm, ProcessId};

impl<A: Algorithm> World<A> {
    /// Forgets the messages that their receivers will ignore, of those with this number or a
    /// greater one and of those whose receivers have taken a step. (Of all others it is known that
    /// they will not.)
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

    /// From now on this world is lean: see [`Plan::lean`](super::Plan::lean).
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

    /// Nothing that is on its way to this process will make a difference.
    pub(super) fn bury(&mut self, at: ProcessId) {
        self.medium.gone.insert(at);
        self.forget(|_, envelope| envelope.to == at);
    }

    /// Forgets these messages. Nobody sees it: to whoever looks on, they are still on their way.
    fn forget(&mut self, which: impl Fn(&Self, &Envelope<A>) -> bool) {
        let these = self.medium.flight.iter().filter(|(_, envelope)| which(self, envelope));
        let slots: SmallVec<[Slot; 8]> = these.map(|(slot, _)| slot).collect();
        for slot in slots {
            let envelope = self.medium.take(slot);
            self.medium.forget_causal(&envelope);
        }
    }
}
