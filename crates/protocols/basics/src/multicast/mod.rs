//! Multicast: a tower of layers. The lowest sends to each member; the highest gives all messages
//! one order.
//!
//! Every layer takes [`Multicast`] and gives out [`Deliver`], and owns the layer below it. The
//! fields that a layer adds to a message travel as the payload of the layer below.

pub mod acknowledged;
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

pub use acknowledged::{Acknowledged, AcknowledgedMulticast};
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

synod_core::catalogue! {
    BasicMulticast,
    AcknowledgedMulticast,
    ReliableMulticast,
    IpMulticast,
    FifoMulticast,
    CausalMulticast,
    IsisMulticast,
    SequencerMulticast,
    FifoTotalMulticast,
    CausalTotalMulticast,
    mutants::AcknowledgedTwice,
    mutants::ReliableWithoutRelay,
    mutants::ReliableLateRelay,
    mutants::IpWithoutHeartbeats,
    mutants::IpFromZero,
    mutants::CausalOwnWaits,
    mutants::IsisNoTieBreak,
    mutants::IsisDeaf,
}

/// The input of a layer: every member of the group shall deliver this payload, the sender included.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Multicast<D>(pub D);

/// The output of a layer: it delivers a message to the layer above.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deliver<D> {
    /// The process that multicast it.
    pub sender: ProcessId,
    /// Its content.
    pub payload: D,
}

/// A layer that carries payloads `D`: every protocol that takes [`Multicast`] and gives out
/// [`Deliver`].
pub trait Layer<D>: Protocol<Input = Multicast<D>, Output = Deliver<D>> {}

impl<D, L: Protocol<Input = Multicast<D>, Output = Deliver<D>>> Layer<D> for L {}

/// The way of a message that a layer has for one member only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Uplink {
    /// The layer sends it, because links are reliable.
    Direct,
    /// The layer multicasts it, and the others ignore it: links lose messages, and only the layer
    /// below repairs that.
    Multicast,
}

impl Uplink {
    /// The uplink that the carrier of this setup needs.
    pub fn from_setup(setup: &Setup) -> Uplink {
        match setup.text(carrier::OVER.name) {
            Some("ip") => Uplink::Multicast,
            _ => Uplink::Direct,
        }
    }
}
