//! Allocators to compare with. They survive no failure, so none of them is for use.

mod alternatives;
mod central;
mod loose;
mod mutual_exclusion;
mod static_split;

pub use alternatives::Alternative;
pub use loose::{Habits, Loose, NAMED};
pub use mutual_exclusion::MutualExclusion;
pub use static_split::StaticSplit;

pub(crate) use alternatives::Alternatives;
pub(crate) use central::{Central, Kind};
