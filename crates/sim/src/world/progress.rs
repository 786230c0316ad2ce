//! The counts of a world, and the state of its current or last step.

use super::flight::Slot;
use synod_core::Violation;

/// The counts of a world, and the state of its current or last step.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) counts: Counts,
    /// The number of changes of processes so far.
    pub(super) changes: u64,
    /// The violations of the step.
    pub(super) found: Vec<Violation>,
    /// Set if the process crashes in the middle of the step.
    pub(super) cut: Option<Cut>,
    /// The messages of the step that arrive before it ends.
    pub(super) urgent: Vec<Slot>,
    /// Whether the protocol retracted the step.
    pub(super) retracted: bool,
}

/// Totals since the start; they number the next message and the next timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) steps: u64,
    pub(super) messages: u64,
    pub(super) timers: u64,
}

/// The part of a step that its process still carries out before it crashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The number of messages and outputs that still go out.
    pub(super) left: u32,
    /// Whether a message or an output was held back.
    pub(super) reached: bool,
}

impl Progress {
    pub(super) fn begin_step(&mut self) {
        self.counts.steps += 1;
        self.found.clear();
        self.cut = None;
        self.retracted = false;
    }

    /// Whether the process has crashed in the middle of the step.
    #[inline]
    pub(super) fn is_cut_off(&self) -> bool {
        self.cut.is_some_and(|cut| cut.reached)
    }

    /// Counts one more message or output; false if the process has crashed before it.
    #[inline]
    pub(super) fn lets_out(&mut self) -> bool {
        let Some(cut) = &mut self.cut else { return true };
        match cut.left.checked_sub(1) {
            Some(left) => cut.left = left,
            None => cut.reached = true,
        }
        !cut.reached
    }
}

/// A copy stands between two steps, so it keeps only the counts.
impl Clone for Progress {
    fn clone(&self) -> Self {
        Progress { counts: self.counts, changes: self.changes, ..Progress::default() }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.counts, self.changes) = (source.counts, source.changes);
        self.found.clear();
        self.cut = None;
    }
}
