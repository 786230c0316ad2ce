//! The explorer: the same world as the simulator's, every schedule.
//!
//! The simulator draws the next action from its seed. The explorer tries every action: every
//! message may arrive next, every application may ask, every timer may run out, and every fault may
//! happen that the budgets of the scope allow. See [`explore`], and [`explore_from`] for an
//! exploration that begins with a given history, and that its caller can cancel.
//!
//! The explorer leaves out four kinds of states, because they add no behaviour:
//! - A state that was visited before with at least the same remaining fault budget: see
//!   [`World::left`].
//! - While a disk writes, all actions but its end and a crash of its process. The messages of the
//!   process wait for its disk, so every other action that is possible before is possible after it.
//! - Messages that their receivers ignore, whenever they arrive ([`Reductions::ignores`]): the
//!   world forgets them.
//! - Messages to a process that crashed, and its disk: the world forgets them, too.
//!
//! The world forgets only where no process restarts after a crash. The search for endless histories
//! is left out where the graph of states has no circle.
//!
//! Histories are told as they happen in the full world, which forgets nothing, and can be replayed
//! there. So a shortest history may contain the end of a disk write that it could do without.
//!
//! [`Reductions::ignores`]: synod_core::Reductions::ignores
//! [`World::left`]: synod_sim::world::World::left
#![forbid(unsafe_code)]

mod circles;
mod expansion;
mod explorer;
mod frontier;
mod history;
mod lasso;
mod memory;
mod question;
mod roots;
mod successors;
pub mod views;
mod visited;

pub use explorer::{explore, explore_boxed, explore_boxed_from, explore_from};
pub use history::{History, ReplayError, Replayed, replay, replay_boxed};
pub use memory::resident_bytes;
pub use question::{
    Exploration, Judgement, Limits, Phase, Progress, Question, Refutation, Unfinished,
};
