//! Mutual exclusion.

pub mod central;
pub mod central_crash;
pub mod cost;
pub mod linda;
pub mod maekawa;
pub mod mutants;
pub mod ricart_agrawala;
pub mod ring_crash;
pub mod sanders;
pub mod tickets;
pub mod token_passing;
pub mod token_ring;
pub mod tuple_space;
mod voting;
pub mod voting_sets;
pub mod watching;

pub use central::CentralServer;
pub use central_crash::CentralServerCrash;
pub use linda::Linda;
pub use maekawa::Maekawa;
pub use ricart_agrawala::RicartAgrawala;
pub use ricart_agrawala::crash::RicartAgrawalaCrash;
pub use ring_crash::TokenRingCrash;
pub use sanders::MaekawaSanders;
pub use sanders::crash::MaekawaSandersCrash;
pub use tickets::RicartAgrawalaTickets;
pub use tickets::bounded::RicartAgrawalaBounded;
pub use token_passing::{RicartAgrawalaToken, SuzukiKasami};
pub use token_ring::TokenRing;
pub use voting_sets::VotingSets;

synod_core::catalogue! {
    CentralServer,
    Linda,
    TokenRing,
    RicartAgrawala,
    RicartAgrawalaTickets,
    RicartAgrawalaBounded,
    RicartAgrawalaToken,
    SuzukiKasami,
    Maekawa,
    MaekawaSanders,
    CentralServerCrash,
    TokenRingCrash,
    RicartAgrawalaCrash,
    MaekawaSandersCrash,
    mutants::R0,
    mutants::R1,
    mutants::R2,
    mutants::R3Split,
    mutants::R3Swapped,
    mutants::SmallModulus,
    mutants::Priority,
    mutants::NoTieBreak,
    mutants::BareReplies,
    mutants::TokenInCsMisplaced,
    mutants::TokenUnfair,
    mutants::Maekawa000,
    mutants::SandersUntold,
    mutants::CentralServerUnasked,
    mutants::TokenRingTwoTokens,
    mutants::AsksTheDead,
    mutants::SandersKeepsVotes,
    mutants::LindaRd,
    mutants::TokenRingKeeper,
}
