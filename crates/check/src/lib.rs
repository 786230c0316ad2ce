//! The explorer: the same world as the simulator's, every schedule.
//!
//! Where the simulator asks the seed what happens next, the explorer tries everything: every
//! message may be the next to arrive, every application may ask, every timer may run out, and
//! what may go wrong goes wrong, within a budget. See [`explore`].
//!
//! Four things are left out, because they lead nowhere else:
//! - A state that was seen before, with as much that may still go wrong or more: see [`World::left`].
//! - While a disk writes, nothing else is tried but a crash of its process: what a process says waits for
//!   its disk, so whatever else could happen before can happen after it.
//! - A message that its receiver will ignore whenever it comes ([`Reductions::ignores`]) is forgotten.
//! - So is what is on its way to somebody who crashed and never comes back, and its disk.
//!
//! The last two only where nobody comes back. And nobody is searched for who waits for ever in a circle, where
//! there is no circle. Histories are told as they happen in the whole world, with
//! nothing left out, and can be done again there; the shortest may have a disk write that it could do
//! without.
//!
//! [`Reductions::ignores`]: synod_core::Reductions::ignores
//! [`World::left`]: synod_sim::world::World::left
#![forbid(unsafe_code)]

mod circles;
mod explorer;
mod history;
mod lasso;
mod memory;
mod question;
mod successors;
mod visited;

pub use explorer::explore;
pub use history::{History, ReplayError, Replayed, replay};
pub use question::{Exploration, Limits, Progress, Question, Refutation, Unfinished, Verdict};
