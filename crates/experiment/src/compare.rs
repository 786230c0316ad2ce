//! The alternatives that section II of the paper names, beside SLOTS, in one table.

use crate::measure::Sample;
use crate::reference::Alternative;
use crate::run::Allocator;
use crate::settings::{Arrivals, Partition, Settings};
use crate::study::{Case, Part, Row, Wishes};
use serde::Serialize;
use std::ops::Range;

/// The allocators of the table, in the order in which the paper names them.
pub const COMPARED: [Allocator; 9] = [
    Allocator::Static,
    Allocator::Alternative(Alternative::CentralManager),
    Allocator::Alternative(Alternative::Consensus),
    Allocator::Alternative(Alternative::HOfK),
    Allocator::MutualExclusion,
    Allocator::Alternative(Alternative::AllAuthorise),
    Allocator::Alternative(Alternative::Wackamole),
    Allocator::Repaired,
    Allocator::Offers,
];

/// The rounds of the partition.
const SPLIT: Range<u64> = 1_000..2_000;

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The allocator.
    pub allocator: Allocator,
    /// Failed claims for each that succeeds, without faults.
    pub failed_per_success: f64,
    /// Multicasts for each successful claim.
    pub multicasts_per_claim: f64,
    /// Messages to one member for each successful claim.
    pub messages_per_claim: f64,
    /// The rounds from a claim to its slot.
    pub delay_rounds: u64,
    /// In a partition: the share of claims that fail on the side of a third of the members, which
    /// has p0.
    pub third_fails: f64,
    /// The same on the other side.
    pub rest_fails: f64,
    /// The share of claims of all others that fail while p0 is cut off.
    pub without_p0_fails: f64,
    /// The greatest number of slots in use at two members at once, in all these runs.
    pub used_twice: u32,
}

impl Wishes {
    /// The cases of the table.
    pub fn comparison(&self) -> Vec<Case> {
        let load = self.load.unwrap_or(0.857);
        let steady = self.clean(load);
        let wanted = COMPARED.into_iter().filter(|allocator| self.wants(*allocator));
        let of = |allocator| {
            let split = |left: usize| Settings {
                rounds: 2_400,
                warm_up: 0,
                arrivals: Arrivals::Poisson { load: self.load.unwrap_or(0.7) },
                partition: Some(Partition { from: SPLIT.start, until: SPLIT.end, left }),
                sample_every: 50,
                ..steady.clone()
            };
            let third = split((steady.nodes / 3).max(1));
            let once = Wishes { seeds: 1, ..self.clone() };
            [
                self.case(Part::Compared, 0.0, allocator, steady.clone()),
                once.case(Part::ComparedSplit, 0.0, allocator, third),
                once.case(Part::ComparedAlone, 0.0, allocator, split(1)),
            ]
        };
        wanted.flat_map(of).collect()
    }
}

/// The lines of the table.
pub fn compared(rows: &[Row]) -> Vec<Compared> {
    let of = |allocator: Allocator| {
        let [steady, split, alone] = [Part::Compared, Part::ComparedSplit, Part::ComparedAlone]
            .map(|part| {
                rows.iter().find(|row| row.case.part == part && row.case.allocator == allocator)
            });
        Some(line(steady?, split?, alone?))
    };
    COMPARED.into_iter().filter_map(of).collect()
}

fn line(steady: &Row, split: &Row, alone: &Row) -> Compared {
    let n = split.case.settings.nodes;
    let left = split.case.settings.partition.map_or(0, |parts| parts.left);
    let fails = |row: &Row, side: Range<usize>| share_failed(&row.summary.samples, side);
    let claims = steady.summary.claims_per_multicast.as_ref();
    Compared {
        allocator: steady.case.allocator,
        failed_per_success: steady.summary.failed_per_success.mean,
        multicasts_per_claim: claims.map_or(0.0, |claims| 1.0 / claims.mean),
        messages_per_claim: steady.summary.messages_per_claim,
        delay_rounds: steady.summary.delay_rounds,
        third_fails: fails(split, 0..left),
        rest_fails: fails(split, left..n),
        without_p0_fails: fails(alone, 1..n),
        used_twice: [steady, split, alone]
            .map(|row| row.summary.used_twice)
            .into_iter()
            .max()
            .unwrap_or(0),
    }
}

/// The share of the claims on a side that fail while the group is split.
fn share_failed(samples: &[Sample], side: Range<usize>) -> f64 {
    let during =
        samples.iter().filter(|sample| SPLIT.start < sample.round && sample.round < SPLIT.end);
    let members = during.flat_map(|sample| sample.members.get(side.clone()).unwrap_or_default());
    let (failed, all) = members.fold((0, 0), |(failed, all), member| {
        (failed + member.failed, all + member.failed + member.succeeded)
    });
    f64::from(failed) / f64::from(all.max(1))
}
