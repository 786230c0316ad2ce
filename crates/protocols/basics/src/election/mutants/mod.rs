//! Elections that are broken on purpose.

pub mod chang_roberts;

pub use chang_roberts::{ChangRobertsEndless, ChangRobertsForwarding, ChangRobertsFresh};
