//! Group services: membership views, and the members' multicasts, in one order.
//!
//! The contract is in [`synod_core::group`]. A service stands on a [`GroupEngine`], and cannot tell
//! which engine that is.

pub mod abstract_engine;
pub mod embedded;
mod layer;
pub mod mutants;

pub use embedded::Embedded;
pub use layer::{ENGINE, GroupEngine, Message, Timer};

use synod_core::family::multicast::Payload;

synod_core::catalogue! {
    GroupEngine<Payload>,
    mutants::GroupHasty,
}
