//! The clock that all processes of a machine have in common.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds since some moment that is the same for every process of this machine.
#[inline]
pub(crate) fn now_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is ever negative.
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}
