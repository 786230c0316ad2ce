//! Cuts, losses and delays that are made on purpose: `synod chaos` makes them in a cluster that is
//! there to be tried.

use super::{Links, locked};
use synod_core::ProcessId;

/// The faults of the link to one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Nothing is sent.
    pub(crate) deaf: bool,
    /// Nothing is received.
    pub(crate) mute: bool,
    /// Each message waits so long.
    pub(crate) delay_us: u64,
    /// The number of messages that are lost, of a thousand.
    pub(crate) loss_permille: u32,
}

/// The fault of a link, and the draws that it needs.
#[derive(Debug, Default)]
pub(super) struct Faulty {
    pub(super) fault: Fault,
    drawn: u32,
}

/// What becomes of a message.
pub(super) enum Passage {
    Lost,
    After(u64),
}

impl Faulty {
    pub(super) fn on_send(&mut self) -> Passage {
        if self.fault.deaf {
            return Passage::Lost;
        }
        if self.fault.loss_permille > 0 {
            // A multiplicative generator: good enough to lose messages, and needs no memory.
            self.drawn = self.drawn.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            if (u64::from(self.drawn) * 1_000) >> 32 < u64::from(self.fault.loss_permille) {
                return Passage::Lost;
            }
        }
        Passage::After(self.fault.delay_us)
    }
}

impl Fault {
    /// Whether no connection can be made.
    pub(super) fn is_cut(&self) -> bool {
        self.deaf || self.mute
    }
}

impl Links {
    /// Makes these faults on the link to a node, in place of those before.
    pub(crate) fn set_fault(&self, node: ProcessId, fault: Fault) {
        if let Some(peer) = self.peers.get(node.index()) {
            locked(&peer.fault).fault = fault;
            peer.wake.notify_one();
        }
    }

    pub(super) fn fault(&self, node: ProcessId) -> Fault {
        self.peers.get(node.index()).map(|peer| locked(&peer.fault).fault).unwrap_or_default()
    }
}
