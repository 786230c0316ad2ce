//! The turns of a run: each takes the next planned event and its immediate consequences.

use super::{Due, Run};
use crate::world::{Action, World};
use synod_core::Algorithm;

/// Keeps the worlds before and after one step, while a run is repeated to inspect that step.
#[derive(Clone, Debug)]
pub(crate) struct Probe<A: Algorithm> {
    /// The number of the first event of the step.
    first_event: u64,
    before: Option<World<A>>,
    after: Option<World<A>>,
}

impl<A: Algorithm> Probe<A> {
    /// A probe for the step whose first event has this number.
    pub(crate) fn new(first_event: u64) -> Self {
        Probe { first_event, before: None, after: None }
    }

    /// The worlds before and after, if the step was taken.
    pub(crate) fn into_worlds(self) -> Option<(World<A>, World<A>)> {
        self.before.zip(self.after)
    }
}

impl<A: Algorithm> Run<'_, A> {
    /// Plans the faults, and starts every process.
    pub(crate) fn begin(&mut self) {
        for index in 0..self.engine.faults.len() {
            self.engine.schedule(self.engine.faults[index].at_us, Due::Fault(index as u32));
        }
        self.engine.faults_to_come = self.engine.faults.len();
        self.look_before();
        self.world.start(&mut self.engine);
        self.look_after();
        self.settle();
    }

    /// Whether every request is fulfilled, although messages go on for ever.
    pub(super) fn is_over(&self) -> bool {
        // `is_done` looks at every process. It nearly always becomes true at an input or output, so
        // other steps check it only rarely.
        let engine = &self.engine;
        let look = engine.last_progress == engine.steps || engine.steps.is_multiple_of(64);
        engine.restless && look && self.is_done()
    }

    pub(super) fn judge_deadlines_now_and_then(&mut self) {
        if self.engine.steps.is_multiple_of(64) {
            self.judge_deadlines();
        }
    }

    /// Takes the next planned event and its immediate consequences. False if none is planned.
    pub(super) fn turn(&mut self) -> bool {
        let Some((time_us, number, due)) = self.engine.agenda.next() else { return false };
        // A tick by hand may have moved the clock beyond the planned time.
        self.world.now_us = self.world.now_us.max(time_us);
        self.take(number, due);
        true
    }

    /// Takes the step of a planned event, unless the event is void, and its immediate consequences.
    pub(super) fn take(&mut self, number: u64, due: Due) {
        if let Some(action) = self.action(number, due) {
            let action = self.cut_short(action);
            self.step(&action);
        }
        self.settle();
    }

    /// Takes a step, and delivers the held-back messages that waited for it.
    pub(super) fn step(&mut self, action: &Action<A::Input>) {
        self.engine.steps += 1;
        self.move_world(action);
        match action {
            Action::Resume(at) | Action::Crash(at) => self.unpark(*at),
            _ => {}
        }
        self.let_go();
    }

    /// The one place where a run changes its world.
    pub(super) fn move_world(&mut self, action: &Action<A::Input>) {
        self.engine.witness.begin_step();
        if self.engine.probe.is_some() {
            self.look_before();
        }
        self.world.step(action, &mut self.engine);
        if self.engine.probe.is_some() {
            self.look_after();
        }
    }

    fn look_before(&mut self) {
        let event = self.engine.witness.meter.events;
        if let Some(probe) = &mut self.engine.probe
            && probe.first_event == event
        {
            probe.before = Some(self.world.clone());
        }
    }

    fn look_after(&mut self) {
        if let Some(probe) = &mut self.engine.probe
            && probe.before.is_some()
            && probe.after.is_none()
            && self.engine.witness.meter.events > probe.first_event
        {
            probe.after = Some(self.world.clone());
        }
    }
}
