//! Several runs that differ in their seeds only, as one.

use crate::measure::{Measured, Sample};
use crate::settings::Settings;
use crate::statistics::Mean;
use crate::waiting::Delays;
use serde::Serialize;

/// The results of several runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The number of runs.
    pub seeds: usize,
    /// Successful claims for each multicast; none if there was no multicast.
    pub claims_per_multicast: Option<Mean>,
    /// Messages to one member for each successful claim.
    pub messages_per_claim: f64,
    /// The rounds from a claim to its slot.
    pub delay_rounds: u64,
    /// How long claims waited, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Delays>,
    /// The greatest number of slots in use at two members at once.
    pub used_twice: u32,
    /// Failed claims for each that succeeded.
    pub failed_per_success: Mean,
    /// The share of the slots in use.
    pub used: Mean,
    /// The offered load, computed from the claims.
    pub offered: Mean,
    /// Multicasts in a round.
    pub multicasts_per_round: Mean,
    /// Multicasts that wait to be read, on average over members.
    pub queue: Mean,
    /// Members blocked at the end.
    pub blocked: Mean,
    /// The greatest number of requests open at once.
    pub most_open: usize,
    /// By number of multicasts: the requests that were served after that many.
    pub response_multicasts: Vec<u64>,
    /// By number of rounds: the requests that were served after that many.
    pub response_rounds: Vec<u64>,
    /// Requests that ended without a slot.
    pub unserved: u64,
    /// Requests that brought more than was asked for, exactly that, less, nothing.
    pub outcomes: [u64; 4],
    /// Donations that left the donor with fewer free slots than it should keep.
    pub overgenerous: u64,
    /// Pairs of members that disagreed at the end.
    pub disagreements: usize,
    /// The number of slots owned at the end, in the run with the fewest.
    pub owned_least: u32,
    /// The same in the run with the most.
    pub owned_most: u32,
    /// The course of the first run, if samples were taken.
    pub samples: Vec<Sample>,
}

impl Summary {
    /// The summary of these runs, at least one.
    pub fn of(settings: &Settings, runs: &[Measured]) -> Self {
        let mean =
            |what: &dyn Fn(&Measured) -> f64| Mean::of(&runs.iter().map(what).collect::<Vec<_>>());
        let sum = |what: &dyn Fn(&Measured) -> u64| runs.iter().map(what).sum::<u64>();
        let silent = runs.iter().any(|run| run.multicasts == 0);
        Summary {
            seeds: runs.len(),
            claims_per_multicast: (!silent).then(|| mean(&Measured::claims_per_multicast)),
            messages_per_claim: sum(&|run| run.messages) as f64
                / sum(&|run| run.succeeded).max(1) as f64,
            delay_rounds: runs.iter().map(|run| run.delay_rounds).max().unwrap_or(0),
            delays: Delays::of(&together(runs.iter().map(|run| &run.delays))),
            used_twice: runs.iter().map(|run| run.used_twice).max().unwrap_or(0),
            failed_per_success: mean(&Measured::failed_per_success),
            used: mean(&|run| run.used),
            offered: mean(&|run| run.offered(settings.slots)),
            multicasts_per_round: mean(&Measured::multicasts_per_round),
            queue: mean(&|run| run.queue),
            blocked: mean(&|run| run.blocked as f64),
            most_open: runs.iter().map(|run| run.most_open).max().unwrap_or(0),
            response_multicasts: together(runs.iter().map(|run| &run.response_multicasts)),
            response_rounds: together(runs.iter().map(|run| &run.response_rounds)),
            unserved: sum(&|run| run.unserved),
            outcomes: [0, 1, 2, 3].map(|which| sum(&|run| run.outcomes[which])),
            overgenerous: sum(&|run| run.overgenerous),
            disagreements: runs.iter().map(|run| run.disagreements).sum(),
            owned_least: runs.iter().map(|run| run.owned).min().unwrap_or(0),
            owned_most: runs.iter().map(|run| run.owned).max().unwrap_or(0),
            samples: runs.first().map(|run| run.samples.clone()).unwrap_or_default(),
        }
    }
}

/// The sum of histograms.
fn together<'a>(histograms: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    let mut sum: Vec<u64> = Vec::new();
    for histogram in histograms {
        if sum.len() < histogram.len() {
            sum.resize(histogram.len(), 0);
        }
        histogram.iter().zip(&mut sum).for_each(|(count, sum)| *sum += count);
    }
    sum
}
