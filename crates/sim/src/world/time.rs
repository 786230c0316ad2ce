//! How time goes in worlds whose time does not come from a simulator.

use super::{Slot, Status, World};
use synod_core::card::Timing;
use synod_core::family::Pace;
use synod_core::{Algorithm, Application, Family};

impl<A: Algorithm> World<A> {
    /// Whether clocks run alike and every message has a bound.
    pub fn is_synchronous(&self) -> bool {
        self.fixed.timing != Timing::Asynchronous
    }

    /// Whether time may go on. In a synchronous world it must not as long as a timer has run out,
    /// a message is due, a disk has something to write, or an application wants something at once, and
    /// nothing came of it yet; and if nothing depends on time any more, it need not.
    pub(super) fn may_tick(&self) -> bool {
        let timers = || self.processes.iter().filter(|p| p.is_up()).flat_map(|p| &p.timers);
        let bounded = || self.flight.iter().filter_map(|(slot, e)| Some((slot, e.left_ms?)));
        let is_due = |(slot, left): (Slot, u32)| left == 0 && self.is_deliverable(slot);
        let waits = timers().next().is_some() || bounded().any(|(_, left)| left > 0);
        waits
            && !timers().any(|set| set.left_ms == 0)
            && !bounded().any(is_due)
            && !self.processes.iter().any(|process| process.is_up() && process.is_writing())
            && !self.is_anybody_eager()
    }

    /// Whether an application is about to ask for something without any delay.
    fn is_anybody_eager(&self) -> bool {
        let mut offers = Vec::new();
        let is_eager = |input: A::Input| A::Family::pace(&input) == Pace::AtOnce;
        self.processes.iter().filter(|process| process.is_up()).any(|process| {
            process.application.offers(&mut offers);
            offers.drain(..).any(is_eager)
        })
    }

    /// A millisecond passes.
    pub(super) fn tick(&mut self) {
        self.now_us += 1_000;
        if !self.is_synchronous() {
            self.faults.ticks = self.faults.ticks.saturating_sub(1);
            return;
        }
        for process in self.processes.iter_mut().filter(|p| p.status == Status::Up) {
            for set in &mut process.timers {
                set.left_ms = set.left_ms.saturating_sub(1);
            }
        }
        for envelope in self.flight.envelopes_mut() {
            envelope.left_ms = envelope.left_ms.map(|left| left.saturating_sub(1));
        }
        if self.prints.is_some() {
            self.keep_fingerprint();
        }
    }

    /// A message will take longer than the bound.
    pub(super) fn delay(&mut self, slot: Slot) {
        self.faults.late = self.faults.late.saturating_sub(1);
        let envelope = self.flight.get_mut(slot).expect("the action is possible");
        envelope.left_ms = None;
        if self.prints.is_some() {
            self.keep_fingerprint();
        }
    }
}
