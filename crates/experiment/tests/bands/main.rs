//! The results of the experiment: the published figures, reproduced, and the limits that formulas
//! give.

mod alternatives;
mod reference;
mod slots;
mod start_up;
mod waiting;

use synod_experiment::measure::Measured;
use synod_experiment::statistics::Mean;
use synod_experiment::{Allocator, Settings, run};

/// The mean of the quantity `what` over these runs.
pub(crate) fn mean(runs: &[Measured], what: impl Fn(&Measured) -> f64) -> f64 {
    Mean::of(&runs.iter().map(what).collect::<Vec<_>>()).mean
}

pub(crate) fn runs(settings: &Settings, allocator: Allocator, seeds: u64) -> Vec<Measured> {
    (1..=seeds).map(|seed| run(settings, allocator, seed, &|_| ())).collect()
}

/// Asserts that a value is within `within` of the expected one.
#[track_caller]
pub(crate) fn assert_near(what: &str, value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{what}: {value}, expected {expected} ± {within}");
}
