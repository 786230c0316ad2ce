//! Judges a world after each step.

use super::{Body, Driver, Happening, World};
use synod_core::{Algorithm, ProcessId, Snapshot, System, Violation};

/// Above so many processes an algorithm's own invariants are judged only now and then.
pub const INVARIANTS_AT_EVERY_STEP_UP_TO: usize = 64;
const INVARIANTS_NOW_AND_THEN: u64 = 4096;

impl<A: Algorithm> World<A> {
    /// Judges the state after a step, and reports everything that the step violated.
    pub(super) fn judge(&mut self, driver: &mut dyn Driver<A>) {
        let due = self.processes.len() <= INVARIANTS_AT_EVERY_STEP_UP_TO
            || self.steps.is_multiple_of(INVARIANTS_NOW_AND_THEN);
        if due && !self.fixed.invariants.is_empty() {
            self.judge_invariants();
        }
        if self.found.is_empty() {
            return;
        }
        let judged = &self.fixed.judged;
        self.found.retain(|violation| judged.contains(&violation.property));
        for violation in &self.found {
            driver.see(self.now_us, Happening::Violated(violation));
        }
    }

    fn judge_invariants(&mut self) {
        for index in 0..self.fixed.invariants.len() {
            let invariant = self.fixed.invariants[index];
            if !(invariant.holds)(&Snapshot(self)) {
                self.found.push(Violation {
                    property: invariant.name,
                    at: ProcessId(0),
                    because: format!("it is no longer true that {}", invariant.statement),
                });
            }
        }
    }
}

impl<A: Algorithm> System<A> for World<A> {
    fn size(&self) -> usize {
        self.processes.len()
    }

    fn process(&self, at: ProcessId) -> &A {
        &self.processes[at.index()].state
    }

    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s A::Message)) {
        for (_, envelope) in self.flight.iter() {
            if let Body::Message(message) = &envelope.body {
                show(envelope.from, envelope.to, message);
            }
        }
    }
}
