//! Mutual exclusion.

pub mod central;
pub mod cost;
pub mod linda;
pub mod maekawa;
pub mod mutants;
pub mod ricart_agrawala;
pub mod sanders;
pub mod tickets;
pub mod token_passing;
pub mod token_ring;
pub mod tuple_space;
mod voting;
pub mod voting_sets;

pub use central::CentralServer;
pub use linda::Linda;
pub use maekawa::Maekawa;
pub use ricart_agrawala::RicartAgrawala;
pub use sanders::MaekawaSanders;
pub use tickets::RicartAgrawalaTickets;
pub use token_passing::{RicartAgrawalaToken, SuzukiKasami};
pub use token_ring::TokenRing;
pub use voting_sets::VotingSets;

synod_core::catalogue! {
    CentralServer,
    Linda,
    TokenRing,
    RicartAgrawala,
    RicartAgrawalaTickets,
    RicartAgrawalaToken,
    SuzukiKasami,
    Maekawa,
    MaekawaSanders,
    mutants::R0,
    mutants::R1,
    mutants::R2,
    mutants::R3Split,
    mutants::R3Swapped,
    mutants::Priority,
    mutants::NoTieBreak,
    mutants::BareReplies,
    mutants::TokenInCsMisplaced,
    mutants::TokenUnfair,
    mutants::Maekawa000,
    mutants::SandersUntold,
    mutants::LindaRd,
}
