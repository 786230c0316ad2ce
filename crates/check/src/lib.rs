//! The explorer: the same world as the simulator's, every schedule.
//!
//! Where the simulator asks the seed what happens next, the explorer tries everything: every
//! message may be the next to arrive, every application may ask, every timer may run out, and
//! what may go wrong goes wrong, within a budget. See [`explore`].
#![forbid(unsafe_code)]

mod explorer;
mod history;
mod lasso;
mod question;
mod successors;
mod visited;

pub use explorer::explore;
pub use history::{History, ReplayError, Replayed, replay};
pub use question::{Exploration, Limits, Progress, Question, Refutation, Unfinished, Verdict};
