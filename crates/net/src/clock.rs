//! The monotonic clock that all processes of one machine share.

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::io;
use std::time::Duration;

/// Microseconds since an epoch that every process of this machine shares.
#[inline]
pub(crate) fn now_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is ever negative.
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// Ends a wait for sockets within less than a millisecond, which is the resolution of `epoll_wait`.
#[derive(Debug)]
pub(crate) struct Alarm(OwnedFd);

impl Alarm {
    /// An alarm that wakes the poll with this token.
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let alarm = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        registry.register(&mut SourceFd(&alarm.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Alarm(alarm))
    }

    /// Rings once, after this time; replaces an earlier setting.
    pub(crate) fn set(&self, after: Duration) -> io::Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let once = Timespec { tv_sec: 0, tv_nsec: after.subsec_nanos().max(1).into() };
        let when = Itimerspec { it_interval: never, it_value: once };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &when)?;
        Ok(())
    }
}
