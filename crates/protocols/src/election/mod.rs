//! Election.

pub mod chang_roberts;
mod cost;
pub mod hirschberg_sinclair;
pub mod mutants;
mod ring;

pub use chang_roberts::ChangRoberts;
pub use hirschberg_sinclair::HirschbergSinclair;
