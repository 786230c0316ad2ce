//! The receive buffers of all processes.

use super::{Due, Run};
use crate::network::Buffer;
use crate::world::{Action, Slot};
use synod_core::{Algorithm, ProcessId};

/// For each process: how many messages are in its buffer, and when it has handled them all.
#[derive(Clone, Debug)]
pub(super) struct Buffers(Vec<(u32, u64)>);

impl Buffers {
    /// Empty buffers of `n` processes.
    pub(super) fn of(n: usize) -> Self {
        Buffers(vec![(0, 0); n])
    }

    /// A message arrives: the time when it is handled; none if there is no room.
    pub(super) fn enter(&mut self, at: ProcessId, buffer: Buffer, now_us: u64) -> Option<u64> {
        let (inside, free_us) = &mut self.0[at.index()];
        if *inside >= buffer.messages {
            return None;
        }
        *inside += 1;
        *free_us = now_us.max(*free_us).saturating_add(buffer.handling_us);
        Some(*free_us)
    }

    /// A message is handled.
    pub(super) fn leave(&mut self, at: ProcessId) {
        self.0[at.index()].0 -= 1;
    }
}

impl<A: Algorithm> Run<'_, A> {
    /// A message arrives: it waits in the receive buffer until the process has handled those before
    /// it, or is lost if the buffer is full.
    pub(super) fn arrive(&mut self, slot: Slot) -> Option<Action<A::Input>> {
        let Some(buffer) = self.engine.options.network.buffer else { return self.delivery(slot) };
        let at = self.world.flight().get(slot)?.to;
        match self.engine.buffers.enter(at, buffer, self.world.now_us) {
            Some(at_us) => {
                self.engine.schedule(at_us, Due::Handle(slot, at));
                None
            }
            None => {
                self.engine.goes_wrong(self.world.now_us);
                Some(Action::Drop(slot))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_handled_one_after_the_other_and_find_room_when_one_has_left() {
        let (mut buffers, p1) = (Buffers::of(2), ProcessId(1));
        let buffer = Buffer { messages: 2, handling_us: 10 };
        assert_eq!(buffers.enter(p1, buffer, 100), Some(110));
        assert_eq!(buffers.enter(p1, buffer, 101), Some(120));
        assert_eq!(buffers.enter(p1, buffer, 105), None);
        assert_eq!(buffers.enter(ProcessId(0), buffer, 105), Some(115), "another process");
        buffers.leave(p1);
        assert_eq!(buffers.enter(p1, buffer, 110), Some(130));
        buffers.leave(p1);
        buffers.leave(p1);
        assert_eq!(buffers.enter(p1, buffer, 500), Some(510), "it was idle");
    }
}
