//! SLOTS: its rules, its vectors, and the hazards of the published rules.

mod argument;
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
mod waiting;
