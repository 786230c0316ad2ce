//! Two-phase commit: its costs, its records, its answers to forged messages, and many runs in which
//! every process crashes and comes back.

mod by_hand;
mod runs;
