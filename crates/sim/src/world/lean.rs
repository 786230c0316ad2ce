//! A lean world forgets what makes no difference any more.

use super::{Body, Envelope, Slot, World};
use smallvec::SmallVec;
use synod_core::{Algorithm, ProcessId};

impl<A: Algorithm> World<A> {
    /// Forgets the messages that their receivers will ignore.
    pub(super) fn forget_ignored(&mut self) {
        if !self.fixed.lean {
            return;
        }
        self.forget(|world, envelope| match &envelope.body {
            Body::Message(message) => {
                let to = world.process(envelope.to);
                to.is_up() && to.state.ignores(envelope.from, message)
            }
            Body::Tell(_) => false,
        });
    }

    /// Nothing that is on its way to this process will make a difference.
    pub(super) fn bury(&mut self, at: ProcessId) {
        self.gone.insert(at);
        self.forget(|_, envelope| envelope.to == at);
    }

    /// Forgets these messages. Nobody sees it: to whoever looks on, they are still on their way.
    fn forget(&mut self, which: impl Fn(&Self, &Envelope<A>) -> bool) {
        let these = self.flight.iter().filter(|(_, envelope)| which(self, envelope));
        let slots: SmallVec<[Slot; 8]> = these.map(|(slot, _)| slot).collect();
        for slot in slots {
            let envelope = self.take(slot);
            self.forget_causal(&envelope);
        }
    }
}
