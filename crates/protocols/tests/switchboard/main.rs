//! The switchboard: many services on one group engine.

mod explored;
