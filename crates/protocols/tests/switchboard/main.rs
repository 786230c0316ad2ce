//! The switchboard: many services on one group engine.

mod explored;
mod hand;
mod rules;
