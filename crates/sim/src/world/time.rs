//! Time in worlds without a simulator: synchronous scopes count it in ticks.

use super::process::left_ms;
use super::{Process, Slot, Status, World};
use synod_core::card::Timing;
use synod_core::family::Pace;
use synod_core::host::SetTimer;
use synod_core::{Algorithm, Application, Family};

impl<A: Algorithm> World<A> {
    /// Whether clocks run alike and every message has a bound.
    pub fn is_synchronous(&self) -> bool {
        self.fixed.timing != Timing::Asynchronous
    }

    /// The time, if timers fire by the clock. In an asynchronous world they may fire at any time.
    pub(super) fn clock_us(&self) -> Option<u64> {
        self.is_synchronous().then_some(self.now_us)
    }

    /// The remaining time of a timer in milliseconds.
    pub(super) fn left_ms(&self, set: &SetTimer<A::Timer>) -> u32 {
        left_ms(set, self.clock_us())
    }

    /// Whether a tick may pass. In a synchronous world every due event comes first: a timer that
    /// has expired, a message at its bound, a record for a disk, a request without delay. If no
    /// timer and no bound is running, a tick would change nothing.
    pub(super) fn may_tick(&self) -> bool {
        let timers = || self.processes.iter().filter(|p| p.is_up()).flat_map(Process::timers);
        let bounded = || self.medium.flight.iter().filter_map(|(slot, e)| Some((slot, e.left_ms?)));
        let is_due = |(slot, left): (Slot, u32)| left == 0 && self.is_deliverable(slot);
        let waits = timers().next().is_some() || bounded().any(|(_, left)| left > 0);
        waits
            && !timers().any(|set| self.left_ms(set) == 0)
            && !bounded().any(is_due)
            && !self.processes.iter().any(|process| process.is_up() && process.is_writing())
            && !self.is_anybody_eager()
    }

    /// Whether an application has a request without delay.
    fn is_anybody_eager(&self) -> bool {
        let mut is_any = false;
        let mut look = |input| is_any |= A::Family::pace(&input) == Pace::AtOnce;
        for process in self.processes.iter().filter(|process| process.is_up()) {
            process.application.offers(&mut look);
        }
        is_any
    }

    pub(super) fn tick(&mut self) {
        self.now_us += 1_000;
        if !self.is_synchronous() {
            self.faults.ticks = self.faults.ticks.saturating_sub(1);
            return;
        }
        // A paused process does not notice the time, so its timers are put off.
        for process in self.processes.iter_mut().filter(|p| p.status == Status::Paused) {
            process.host.put_off_timers(1_000);
        }
        for envelope in self.medium.flight.envelopes_mut() {
            envelope.left_ms = envelope.left_ms.map(|left| left.saturating_sub(1));
        }
        if self.print != 0 {
            self.keep_fingerprint();
        }
    }

    /// Lets a message take longer than the bound.
    pub(super) fn delay(&mut self, slot: Slot) {
        self.faults.late = self.faults.late.saturating_sub(1);
        let envelope = self.medium.flight.get_mut(slot).expect("the action is possible");
        envelope.left_ms = None;
        if self.print != 0 {
            self.keep_fingerprint();
        }
    }
}
