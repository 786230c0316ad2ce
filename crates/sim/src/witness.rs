//! The witness of a run, under any driver: it counts, traces, and keeps the violations.

use crate::count::Meter;
use crate::trace::{Kept, Tracer};
use crate::world::{Happening, Process};
use synod_core::{Algorithm, Violation};

/// Counts, traces, and remembers the first violation of each property. A copy goes on from here
/// without the sinks of the original.
#[derive(Clone)]
pub struct Witness<'s> {
    /// The counts.
    pub meter: Meter,
    /// The first violation of each property, with the number of the event that shows it.
    pub violations: Vec<(Violation, u64)>,
    tracer: Option<Tracer<'s>>,
    /// The number of the last event that is not a violation: it shows a violation that follows.
    last_event: u64,
    /// Whether the trace has every violation, not only the first of each property.
    pub(crate) traces_every_violation: bool,
}

impl<'s> Witness<'s> {
    /// A witness of `n` processes, before the first event.
    pub fn new(n: usize, tracer: Option<Tracer<'s>>) -> Self {
        Witness {
            meter: Meter::new(n),
            violations: Vec::new(),
            tracer,
            last_event: 0,
            traces_every_violation: false,
        }
    }

    /// Takes in a happening. Once broken, many properties stay broken: only the first violation of
    /// each is reported.
    #[inline]
    pub fn see<A: Algorithm>(&mut self, now_us: u64, happening: &Happening<'_, A>) {
        if let Happening::Violated(violation) = happening {
            let mut known = self.violations.iter();
            if !known.any(|(known, _)| known.property == violation.property) {
                self.violations.push(((*violation).clone(), self.last_event));
            } else if !self.traces_every_violation {
                return;
            }
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.see(now_us, happening);
        }
        self.meter.see(now_us, happening);
        if !matches!(happening, Happening::Violated(_)) {
            self.last_event = self.meter.events.saturating_sub(1);
        }
    }

    /// The processes after a step.
    #[inline]
    pub fn look<A: Algorithm>(&mut self, processes: &[Process<A>]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.look(processes);
        }
    }

    /// A step of the world begins.
    #[inline]
    pub(crate) fn begin_step(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            tracer.begin_step();
        }
    }

    /// What the tracer has kept since it was asked last.
    pub(crate) fn take_kept(&mut self) -> Kept {
        self.tracer.as_mut().map(Tracer::take_kept).unwrap_or_default()
    }

    /// Whether a trace can no longer be written: going on would be for nothing.
    pub fn has_failed(&self) -> bool {
        self.tracer.as_ref().is_some_and(Tracer::has_failed)
    }

    /// Ends the run: the counts, and the violations. Fails with the first error of the trace.
    pub fn finish(mut self) -> std::io::Result<(Meter, Vec<(Violation, u64)>)> {
        if let Some(tracer) = self.tracer {
            tracer.finish()?;
        }
        self.meter.finish();
        Ok((self.meter, self.violations))
    }
}
