//! Two-phase commit: what it costs, what it writes down, what it makes of nonsense, and many runs
//! in which everybody crashes and comes back.

mod by_hand;
mod runs;
