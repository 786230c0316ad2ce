//! Elections that are broken on purpose.

pub mod bully;
pub mod chang_roberts;

pub use bully::BullyHasty;
pub use chang_roberts::{ChangRobertsEndless, ChangRobertsForwarding, ChangRobertsFresh};
