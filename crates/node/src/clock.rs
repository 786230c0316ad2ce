//! The monotonic clock of a node.

use std::time::{Duration, Instant};

/// Microseconds since the node started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeClock {
    start: Instant,
}

impl Default for NodeClock {
    fn default() -> Self {
        NodeClock::new()
    }
}

impl NodeClock {
    /// A clock that begins now.
    pub(crate) fn new() -> Self {
        NodeClock { start: Instant::now() }
    }

    #[inline]
    pub(crate) fn now_us(self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    pub(crate) fn now_ms(self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// The moment at which this clock shows this time.
    pub(crate) fn at_us(self, us: u64) -> Instant {
        self.start + Duration::from_micros(us)
    }
}
