//! Failure detectors: step by step, in every state of a small world, and in long runs.

mod by_hand;
mod explored;
mod runs;
