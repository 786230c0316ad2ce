//! The result of a run.

use crate::count::{Measured, Meter};
use synod_core::{Verdict, Violation};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every request was fulfilled, or no action was enabled.
    Quiet,
    /// Actions went on, but for too long no request was made or fulfilled.
    Stalled,
    /// The limit of steps was reached.
    Cut,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The reason for its end.
    pub ended: Ended,
    /// The number of steps, without losses and copies on the network.
    pub steps: u64,
    /// Simulated time at the end, in microseconds.
    pub time_us: u64,
    /// The first violation of each property, with the number of the event that shows it.
    pub violations: Vec<(Violation, u64)>,
    /// The judged properties on which the run ended too early to decide, each with the reason.
    pub undecided: Vec<(&'static str, String)>,
    /// The counts of messages and operations.
    pub meter: Meter,
    /// The costs on the card that this run measured.
    pub costs: Vec<Measured>,
}

impl Report {
    /// The verdict on one of the judged properties.
    pub fn verdict_on(&self, property: &str) -> Verdict {
        let is_violated = self.violations.iter().any(|(known, _)| known.property == property);
        let is_open = self.undecided.iter().any(|(open, _)| *open == property);
        match (is_violated, is_open) {
            (true, _) => Verdict::Violated,
            (false, true) => Verdict::Undecided,
            (false, false) => Verdict::Holds,
        }
    }

    /// Whether a measured cost agrees with its formula. A run that was cut short does not decide on
    /// that, because it also counts messages of operations that are not over.
    pub fn verdict_on_cost(&self, cost: &Measured) -> Verdict {
        if self.ended == Ended::Cut { Verdict::Undecided } else { cost.agrees().into() }
    }

    /// The verdict on all judged properties together.
    pub fn verdict(&self) -> Verdict {
        match (self.violations.is_empty(), self.undecided.is_empty()) {
            (false, _) => Verdict::Violated,
            (true, false) => Verdict::Undecided,
            (true, true) => Verdict::Holds,
        }
    }
}
