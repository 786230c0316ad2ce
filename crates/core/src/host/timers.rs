//! The timers of a process.

use crate::protocol::Data;

/// A timer that is set.
#[derive(Debug, PartialEq, Eq)]
pub struct SetTimer<T> {
    /// The number by which the driver names it.
    pub number: u64,
    /// Its name.
    pub timer: T,
    /// When it is due, in microseconds, by the clock of the driver.
    pub due_us: u64,
}

crate::clone_by_field!(SetTimer<T: Clone> { number, timer, due_us });

/// The timers that are set, in the order of setting. A name is set at most once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Timers<T>(Vec<SetTimer<T>>);

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Timers(Vec::new())
    }
}

impl<T: Clone> Clone for Timers<T> {
    fn clone(&self) -> Self {
        Timers(self.0.clone())
    }

    // Most processes have no timers, and explorers copy them all the time.
    fn clone_from(&mut self, source: &Self) {
        if !(self.0.is_empty() && source.0.is_empty()) {
            self.0.clone_from(&source.0);
        }
    }
}

impl<T: Data> Timers<T> {
    pub(super) fn all(&self) -> &[SetTimer<T>] {
        &self.0
    }

    /// Sets a timer; one of the same name is replaced.
    pub(super) fn set(&mut self, new: SetTimer<T>) {
        self.cancel(&new.timer);
        self.0.push(new);
    }

    pub(super) fn cancel(&mut self, timer: &T) {
        self.0.retain(|set| set.timer != *timer);
    }

    /// The name of the timer with this number, which is no longer set.
    pub(super) fn take(&mut self, number: u64) -> Option<T> {
        let place = self.0.iter().position(|set| set.number == number)?;
        Some(self.0.remove(place).timer)
    }

    pub(super) fn put_off(&mut self, by_us: u64) {
        for set in &mut self.0 {
            set.due_us = set.due_us.saturating_add(by_us);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
