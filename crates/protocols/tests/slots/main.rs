//! SLOTS: its rules, its vectors, and what goes wrong with the published ones.

mod by_hand;
mod explored;
mod hand;
mod knowledge;
mod lazy;
mod offers;
mod rules;
mod swarm;
mod vectors;
mod views;
