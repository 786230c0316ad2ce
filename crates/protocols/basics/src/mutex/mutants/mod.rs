//! Algorithms that are broken on purpose: each is a small change to a right one, and the explorer
//! must find the property that it breaks.

pub mod crash;
pub mod linda_rd;
pub mod maekawa_000;
pub mod permission;
pub mod sanders_untold;
pub mod tickets;
pub mod token_passing;
pub mod token_ring;

pub use crash::{AsksTheDead, CentralServerUnasked, SandersKeepsVotes, TokenRingTwoTokens};
pub use linda_rd::LindaRd;
pub use maekawa_000::Maekawa000;
pub use permission::{BareReplies, NoTieBreak, Priority};
pub use sanders_untold::SandersUntold;
pub use tickets::{R0, R1, R2, R3Split, R3Swapped, SmallModulus};
pub use token_passing::{TokenInCsMisplaced, TokenUnfair};
pub use token_ring::TokenRingKeeper;
