//! Mutual exclusion.

pub mod ricart_agrawala;

pub use ricart_agrawala::RicartAgrawala;
