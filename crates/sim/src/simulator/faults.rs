//! The faults of a run: at their times, or in the middle of the next step.

use super::{Due, Run};
use crate::world::{Action, Status};
use synod_core::Algorithm;

impl<A: Algorithm> Run<'_, A> {
    /// A fault occurs now; or, if a process is to crash in the middle of a step, at its next step.
    pub(super) fn fault(&mut self, index: usize) -> Option<Action<A::Input>> {
        self.engine.faults_to_come -= 1;
        let fault = &self.engine.faults[index];
        if let (Action::Crash(at), Some(after)) = (&fault.action, fault.in_step_after) {
            if self.world.process(*at).status != Status::Crashed {
                self.engine.doomed.insert(*at, after);
            }
            return None;
        }
        // A process that is to start again must crash now, even without a step to crash in.
        if let Action::Restart { at, .. } = fault.action
            && self.engine.doomed.remove(&at).is_some()
        {
            self.engine.faults.push(fault.clone());
            self.engine.faults_to_come += 1;
            let again = self.engine.faults.len() - 1;
            self.engine.schedule(self.world.now_us, Due::Fault(again as u32));
            return Some(Action::Crash(at));
        }
        let action = fault.action.clone();
        self.world.can(&action).is_ok().then_some(action)
    }

    /// The step, or only the first part of it if its process is to crash.
    pub(super) fn cut_short(&mut self, action: Action<A::Input>) -> Action<A::Input> {
        if self.engine.doomed.is_empty() && self.engine.hand.crashing.is_none() {
            return action;
        }
        let engine = &mut self.engine;
        let doom = self
            .world
            .actor(&action)
            .and_then(|at| engine.hand.crashing.take().or_else(|| engine.doomed.remove(&at)));
        match doom {
            Some(after) => Action::Cut { step: Box::new(action), after },
            None => action,
        }
    }
}
