//! Multicast: a tower of layers, from sending to each member to one order for all.
//!
//! Every layer takes [`Multicast`] and tells [`Deliver`], and owns the layer below it. What one
//! layer adds to a message travels as the payload of the layer below.

use serde::{Deserialize, Serialize};
use synod_core::ProcessId;

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
