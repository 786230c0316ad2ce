//! Multicast: the sentences and examples of the textbooks, step by step.

mod by_hand;
mod causal;
mod causal_total;
mod fifo;
mod isis;
mod sequencer;
