//! The cause of an event: the start, input, message or timer to which its process reacts.

use synod_core::Trigger;
use synod_sim::trace::{Event, What};

/// The cause of the last of these events, which belong to one step. None if that event is no
/// reaction of a process.
pub(super) fn cause(step: &[Event]) -> Option<Trigger<'_>> {
    // The judge speaks after the event that shows the violation.
    let shown = step.iter().rposition(|event| event.what != What::Violation)?;
    let (step, last) = (&step[..=shown], &step[shown]);
    if !matches!(last.what, What::Send | What::Output | What::Accuse) {
        return last.trigger();
    }
    // In one step the application may answer an output, and an urgent message may arrive: the last
    // handler that ran at this process is the one that sent or told.
    let mut earlier = step.iter().rev().filter(|event| event.process == last.process);
    earlier.find(|event| begins_effects(event.what))?.trigger()
}

/// Whether effects of a process may follow such an event. Those after a sync waited for the disk,
/// since an earlier step.
fn begins_effects(what: What) -> bool {
    use What::{Input, Receive, Restart, Start, Sync, Timer};
    matches!(what, Start | Restart | Input | Receive | Timer | Sync)
}
