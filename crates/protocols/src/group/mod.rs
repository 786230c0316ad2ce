//! Group services: membership with views, and multicast in one order with them.
//!
//! What they promise is in [`synod_core::group`]. A service stands on a [`GroupEngine`], whichever
//! it is, and need not know.

pub mod abstract_engine;
pub mod embedded;
mod layer;

pub use embedded::Embedded;
pub use layer::{ENGINE, GroupEngine, Message, Timer};
