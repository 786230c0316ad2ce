//! Mutual exclusion: the sentences and examples of the textbooks, step by step.

mod by_hand;
mod central;
mod crash;
mod linda;
mod maekawa;
mod mutants;
mod ricart_agrawala;
mod sanders;
mod tickets;
mod token_passing;
mod token_ring;
mod voting_sets;
