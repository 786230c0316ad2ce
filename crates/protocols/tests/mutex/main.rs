//! Mutual exclusion: the sentences and examples of the textbooks, step by step.

mod by_hand;
mod central;
mod mutants;
mod ricart_agrawala;
mod tickets;
mod token_passing;
mod token_ring;
