//! Clocks that are broken on purpose: each is a small change to a right one, and the explorer must
//! find the property that it breaks.

pub mod cristian;
mod kept;
pub mod lamport;
pub mod vector;

pub use cristian::{CristianImpostor, CristianSum};
pub use kept::{BerkeleyUntravelled, CristianStepped, TimeServersMean};
pub(super) use kept::{MEAN, STEPPED, UNTRAVELLED};
pub use lamport::LamportDeaf;
pub use vector::VectorDirect;
