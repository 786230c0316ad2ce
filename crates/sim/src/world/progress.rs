//! How far a world has come, and what its last step was like.

use super::flight::Slot;
use synod_core::Violation;

/// What was counted, and the step that is being taken or was taken last.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) counts: Counts,
    /// What the step violated.
    pub(super) found: Vec<Violation>,
    /// Set if the process crashes in the middle of the step.
    pub(super) cut: Option<Cut>,
    /// What the step has sent that arrives before it is over.
    pub(super) urgent: Vec<Slot>,
    /// Whether nothing came of the step.
    pub(super) retracted: bool,
}

/// How many there were since the beginning; the next message and the next timer get these numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) steps: u64,
    pub(super) messages: u64,
    pub(super) timers: u64,
}

/// How much of a step is still carried out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// So many messages and outputs still go out.
    pub(super) left: u32,
    /// Whether a message or an output was held back.
    pub(super) reached: bool,
}

impl Progress {
    /// A step begins.
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

    /// Whether the process still is there to let one more message or output go out.
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

/// A copy stands between two steps: of the last one it knows nothing.
impl Clone for Progress {
    fn clone(&self) -> Self {
        Progress { counts: self.counts, ..Progress::default() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.counts = source.counts;
        self.found.clear();
        self.cut = None;
    }
}
