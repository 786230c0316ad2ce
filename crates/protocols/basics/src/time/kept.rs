//! A clock that is kept above another, and set without ever going back.

use serde::{Deserialize, Serialize};
use synod_core::clock::slew_us;

/// A clock that is kept in software.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The last reading of the clock below.
    read_us: i64,
    /// What the kept clock showed then.
    pub(super) shown_us: i64,
    /// The correction that is left: negative if the kept clock is ahead.
    pub(super) correction_us: i64,
}

impl Kept {
    /// A clock that shows what the one below shows.
    pub(super) fn new(now_us: i64) -> Self {
        Kept { read_us: now_us, shown_us: now_us, correction_us: 0 }
    }

    /// The time that it is on its way to.
    pub(super) fn target_us(&self) -> i64 {
        self.shown_us.saturating_add(self.correction_us)
    }

    /// Moves the time that it is on its way to.
    pub(super) fn correct(&mut self, by_us: i64) {
        self.correction_us = self.correction_us.saturating_add(by_us);
        self.go_on(self.read_us);
    }

    /// Lets the kept clock go on to this reading of the clock below.
    pub(super) fn go_on(&mut self, now_us: i64) {
        let elapsed_us = now_us.saturating_sub(self.read_us).max(0);
        let gone_us = slew_us(self.correction_us, elapsed_us.unsigned_abs());
        let made_good_us = gone_us.saturating_sub(elapsed_us);
        self.read_us = now_us;
        self.shown_us = self.shown_us.saturating_add(gone_us);
        self.correction_us = self.correction_us.saturating_sub(made_good_us);
    }
}
