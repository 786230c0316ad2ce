//! Multicast: the sentences and examples of the textbooks.

mod basic;
mod by_hand;
mod causal;
mod causal_total;
mod explored;
mod fifo;
mod forged;
mod groups;
mod ip;
mod isis;
mod sequencer;
