//! Promises about the end: judged at the end, or at a deadline, a bounded time after the last
//! fault.

use super::{Ended, Engine, Run};
use crate::world::{Driver, Happening, Status};
use synod_core::card::Deadline;
use synod_core::clock::in_words;
use synod_core::{Algorithm, Family, Monitor, Setup};

/// A deadline of the card, and the time since which it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    property: &'static str,
    delay_us: u64,
    within_us: u64,
    /// The time of the last fault.
    calm_since_us: u64,
    /// Whether a process still waited at the deadline.
    missed: bool,
}

impl Watch {
    /// A watch over each deadline of the algorithm, with this setup.
    pub(super) fn of<A: Algorithm>(setup: &Setup) -> Vec<Self> {
        let watch = |deadline: &Deadline| {
            let calm = (deadline.calm)(setup)?;
            Some(Watch {
                property: deadline.property,
                delay_us: calm.delay_ms.saturating_mul(1_000),
                within_us: calm.within_ms.saturating_mul(1_000),
                calm_since_us: 0,
                missed: false,
            })
        };
        A::kit(setup).card.deadlines.iter().filter_map(watch).collect()
    }

    fn is_over(&self, now_us: u64) -> bool {
        !self.missed && now_us > self.calm_since_us.saturating_add(self.within_us)
    }
}

impl<A: Algorithm> Run<'_, A> {
    /// Whether every application has got all it asked for, and wants no more. A property that has
    /// missed its deadline is not waited for.
    pub(super) fn is_done(&self) -> bool {
        let engine = &self.engine;
        let missed = |id: &str| engine.watches.iter().any(|w| w.missed && w.property == id);
        let mut open = self.world.open_properties().filter(|id| !missed(id));
        engine.faults_to_come == 0
            && self.world.now_us >= engine.run_for_us
            && engine.planned.iter().all(Option::is_none)
            && open.all(|id| self.world.monitor().waiting(id).is_empty())
    }

    /// A process that still waits at the end of the run violates its liveness property.
    pub(super) fn judge_liveness(&mut self, ended: Ended) {
        let why = match ended {
            Ended::Quiet => "nothing can happen any more".to_owned(),
            Ended::Stalled => format!("nothing came of {} steps", self.engine.options.patience),
            Ended::Cut => return,
        };
        for violation in self.world.unfulfilled(&why) {
            self.engine.see(self.world.now_us, Happening::Violated(&violation));
        }
    }

    /// A process that still waits at a deadline counts as failed, even if it is served later.
    pub(super) fn judge_deadlines(&mut self) {
        let now_us = self.world.now_us;
        for index in 0..self.engine.watches.len() {
            let Watch { property, within_us, .. } = self.engine.watches[index];
            let is_over = self.engine.watches[index].is_over(now_us);
            if !is_over || !self.world.open_properties().any(|open| open == property) {
                continue;
            }
            // A paused process cannot do its part, so the deadline does not run.
            if self.world.processes().iter().any(|process| process.status == Status::Paused) {
                self.engine.goes_wrong(now_us);
                continue;
            }
            let why = format!("nothing has gone wrong for more than {}", in_words(within_us));
            if let Some(violation) = self.world.unfulfilled_of(property, &why) {
                self.engine.watches[index].missed = true;
                self.engine.witness.see::<A>(now_us, &Happening::Violated(&violation));
            }
        }
    }
}

impl<A: Algorithm> Engine<'_, A> {
    /// A fault lasts until this moment.
    pub(super) fn goes_wrong(&mut self, until_us: u64) {
        for watch in &mut self.watches {
            watch.calm_since_us = watch.calm_since_us.max(until_us);
        }
    }

    /// A message that leaves now arrives at `at_us`. If it is late, it disturbs the calm until
    /// then.
    pub(super) fn note_delay(&mut self, now_us: u64, at_us: u64) {
        for watch in self.watches.iter_mut().filter(|watch| at_us - now_us >= watch.delay_us) {
            watch.calm_since_us = watch.calm_since_us.max(at_us);
        }
    }

    /// Notes events that disturb the calm.
    pub(super) fn note(&mut self, now_us: u64, happening: &Happening<'_, A>) {
        let is_wrong = match happening {
            Happening::Input(_, input) => A::Family::is_order(input),
            Happening::Crashed(_)
            | Happening::Restarted(..)
            | Happening::Paused(_)
            | Happening::Resumed(_)
            | Happening::Relinked(_) => true,
            _ => false,
        };
        if is_wrong {
            self.goes_wrong(now_us);
        }
    }
}
