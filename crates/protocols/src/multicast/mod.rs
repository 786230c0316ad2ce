//! Multicast: a tower of layers, from sending to each member to one order for all.
//!
//! Every layer takes [`Multicast`] and tells [`Deliver`], and owns the layer below it. What one
//! layer adds to a message travels as the payload of the layer below.

pub mod basic;
pub mod carrier;
pub mod causal;
pub mod causal_total;
mod cost;
pub mod fifo;
pub mod fifo_total;
pub mod groups;
pub mod in_order;
pub mod ip_reliable;
pub mod isis;
pub mod mutants;
pub mod received;
pub mod reliable;
pub mod sequencer;

pub use basic::{Basic, BasicMulticast};
pub use carrier::Carrier;
pub use causal::{Causal, CausalMulticast};
pub use causal_total::{CausalTotal, CausalTotalMulticast};
pub use fifo::{Fifo, FifoMulticast};
pub use fifo_total::FifoTotalMulticast;
pub use groups::{InGroups, Tower};
pub use ip_reliable::{IpMulticast, IpReliable};
pub use isis::{Isis, IsisMulticast};
pub use reliable::{Reliable, ReliableMulticast};
pub use sequencer::{Sequencer, SequencerMulticast};

use serde::{Deserialize, Serialize};
use synod_core::{ProcessId, Protocol, Setup};

/// The layer above wants this to be delivered by every member of the group, itself included.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Multicast<D>(pub D);

/// A message is delivered to the layer above.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deliver<D> {
    /// Who multicast it.
    pub sender: ProcessId,
    /// What it says.
    pub payload: D,
}

/// A layer that carries payloads `D`: whatever takes [`Multicast`] and tells [`Deliver`].
pub trait Layer<D>: Protocol<Input = Multicast<D>, Output = Deliver<D>> {}

impl<D, L: Protocol<Input = Multicast<D>, Output = Deliver<D>>> Layer<D> for L {}

/// How something reaches a single member, where a layer has something to say to one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Uplink {
    /// It is sent: links are reliable.
    Direct,
    /// It is multicast, and the others ignore it: links lose messages, and only the layer below
    /// repairs that.
    Multicast,
}

impl Uplink {
    /// What the carrier of this setup needs.
    pub fn from_setup(setup: &Setup) -> Uplink {
        match setup.text(carrier::OVER.name) {
            Some("ip") => Uplink::Multicast,
            _ => Uplink::Direct,
        }
    }
}
