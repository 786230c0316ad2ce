//! Mutual exclusion.

pub mod central;
mod cost;
pub mod mutants;
pub mod ricart_agrawala;
pub mod tickets;
pub mod token_passing;
pub mod token_ring;

pub use central::CentralServer;
pub use ricart_agrawala::RicartAgrawala;
pub use tickets::RicartAgrawalaTickets;
pub use token_passing::{RicartAgrawalaToken, SuzukiKasami};
pub use token_ring::TokenRing;
