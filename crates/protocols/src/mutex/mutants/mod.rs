//! Algorithms that are broken on purpose: each is a small change to a right one, and the explorer
//! must find what it breaks.

pub mod permission;
pub mod tickets;
pub mod token_passing;

pub use permission::{BareReplies, NoTieBreak, Priority};
pub use tickets::{R0, R1, R2, R3Split, R3Swapped};
pub use token_passing::{TokenInCsMisplaced, TokenUnfair};
