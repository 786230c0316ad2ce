//! Judges a world after each step.

use super::{Body, Driver, Happening, World};
use synod_core::{Algorithm, Invariant, Notes, ProcessId, Snapshot, System, Violation};

/// In larger groups, the algorithm's own invariants are judged only at some steps and at the end of
/// the run: each judgement looks at all processes.
pub const INVARIANTS_AT_EVERY_STEP_UP_TO: usize = 64;
const INVARIANTS_NOW_AND_THEN: u64 = 4096;

impl<A: Algorithm> World<A> {
    /// Judges the algorithm's own invariants after a step.
    pub(super) fn judge(&mut self, driver: &mut dyn Driver<A>) {
        let due = self.processes.len() <= INVARIANTS_AT_EVERY_STEP_UP_TO
            || self.progress.counts.steps.is_multiple_of(INVARIANTS_NOW_AND_THEN);
        let is_new =
            |driver: &mut dyn Driver<A>| self.print == 0 || driver.is_news(self.fingerprint());
        if due && !self.fixed.invariants.is_empty() && is_new(driver) {
            self.judge_invariants(driver);
        }
    }

    /// Judges the algorithm's own invariants at the end: in a large group the last steps may not
    /// have been judged.
    pub fn judge_invariants_at_the_end(&mut self, driver: &mut dyn Driver<A>) {
        self.progress.found.clear();
        self.judge_invariants(driver);
    }

    fn judge_invariants(&mut self, driver: &mut dyn Driver<A>) {
        let before = self.progress.found.len();
        let violations: Vec<_> =
            self.broken(driver).into_iter().map(|invariant| self.violation_of(invariant)).collect();
        self.progress.found.extend(violations);
        report(&mut self.progress.found, before, &self.fixed.judged, self.now_us, driver);
    }

    fn violation_of(&self, invariant: &Invariant<A>) -> Violation {
        let Invariant { name, statement, .. } = *invariant;
        let culprit = (self.fixed.culprit)(name, &Snapshot::new(self, &Notes::default()));
        let because = culprit.unwrap_or_else(|| format!("it is no longer true that {statement}"));
        Violation { property: name, at: ProcessId(0), because }
    }

    /// The invariants that do not hold now.
    fn broken(&self, driver: &mut dyn Driver<A>) -> Vec<&Invariant<A>> {
        let invariants = self.fixed.invariants.iter();
        if let Some(names) = driver.judged_before(self.steps()) {
            return invariants.filter(|invariant| names.contains(&invariant.name)).collect();
        }
        let mut new = Notes::default();
        let notes = driver.notes().unwrap_or(&mut new);
        notes.next();
        let snapshot = Snapshot::new(self, notes);
        invariants.filter(|invariant| !(invariant.holds)(&snapshot)).collect()
    }

    /// Whether this is the name of an invariant that is judged here.
    pub(crate) fn is_invariant(&self, name: &str) -> bool {
        self.fixed.invariants.iter().any(|invariant| invariant.name == name)
    }
}

/// Reports to the driver the violations since `before` of judged properties, and removes all
/// others. The caller calls it directly after an event, so that the trace shows the violation at
/// that event.
pub(super) fn report<A: Algorithm>(
    found: &mut Vec<Violation>,
    before: usize,
    judged: &[&'static str],
    now_us: u64,
    driver: &mut dyn Driver<A>,
) {
    if found.len() == before {
        return;
    }
    let new = found.split_off(before);
    for violation in new.into_iter().filter(|new| judged.contains(&new.property)) {
        driver.see(now_us, Happening::Violated(&violation));
        found.push(violation);
    }
}

impl<A: Algorithm> System<A> for World<A> {
    fn size(&self) -> usize {
        self.processes.len()
    }

    fn process(&self, at: ProcessId) -> &A {
        self.processes[at.index()].state()
    }

    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s A::Message)) {
        for (_, envelope) in self.medium.flight.iter() {
            if let Body::Message(message) = &envelope.body {
                show(envelope.from, envelope.to, message);
            }
        }
    }

    // Without fingerprints the number of the last change tells the states of one history apart.
    fn print(&self, at: ProcessId) -> u64 {
        let process = &self.processes[at.index()];
        if self.print == 0 { process.changed } else { process.print }
    }
}
