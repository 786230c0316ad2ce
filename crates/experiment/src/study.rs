//! The whole experiment: its runs, and their results.

use crate::erlang::failed_per_success;
use crate::reference::{Alternative, NAMED};
use crate::run::Allocator;
use crate::settings::{Arrivals, HotSpot, Lives, Partition, Settings, Start, Timing};
use crate::summary::Summary;
use serde::Serialize;

/// The paper's figures: claims per multicast, failed per success, the share in use.
#[allow(clippy::approx_constant, reason = "6.28 is no circle here")]
pub const PUBLISHED: [(&str, f64, f64, f64); 2] =
    [("SLOTS", 11.45, 0.17, 0.73), ("mutual exclusion", 6.28, 1.06, 0.91)];

/// A question that several runs answer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The paper's table, under the authors' timing.
    Authors,
    /// The same in a network without limits.
    Clean,
    /// Over the offered load.
    Load,
    /// Over the number of members.
    Members,
    /// Over the latency.
    Latency,
    /// With a hot spot.
    HotSpot,
    /// A hot spot that moves, over time.
    Moving,
    /// A partition, over time.
    Partition,
    /// The alternatives of the paper's section II, without faults.
    Compared,
    /// The same in a partition into a third and two thirds.
    ComparedSplit,
    /// The same when one member is cut off from all others.
    ComparedAlone,
}

/// Runs that differ in their seeds only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// The part of the experiment.
    pub part: Part,
    /// The place on the axis of its part.
    pub x: f64,
    /// The allocator.
    pub allocator: Allocator,
    /// The settings of the runs.
    pub settings: Settings,
    /// The number of runs.
    pub seeds: u64,
}

/// The results of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// The results.
    pub summary: Summary,
}

/// The user's choices. None stands for the default.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The number of members.
    pub nodes: Option<usize>,
    /// The number of slots.
    pub slots: Option<u32>,
    /// The number of rounds.
    pub rounds: Option<u64>,
    /// The offered load, at random times.
    pub load: Option<f64>,
    /// FREE_LOW of the donation schemes.
    pub low: Option<u32>,
    /// The range of the authors' λ, in percent.
    pub lambda: Option<(u64, u64)>,
    /// The law of lifetimes.
    pub lives: Lives,
    /// The number of rounds for which claims wait.
    pub wait: Option<u64>,
    /// The group splits in two for a while.
    pub partition: Option<Partition>,
    /// A member with more than its share.
    pub hot_spot: Option<HotSpot>,
    /// The latency of a multicast in the network without limits.
    pub latency: Option<u64>,
    /// How the members join.
    pub start: Option<Start>,
    /// Only these allocators.
    pub allocators: Vec<Allocator>,
    /// Fewer and shorter runs.
    pub quick: bool,
    /// The number of runs for each case.
    pub seeds: u64,
}

/// The allocators that the tables compare.
pub const ALLOCATORS: [Allocator; 9] = [
    Allocator::Paper,
    Allocator::Repaired,
    Allocator::Offers,
    Allocator::MutualExclusionWithSlip,
    Allocator::MutualExclusion,
    Allocator::Static,
    Allocator::Mover,
    Allocator::Oracle,
    Allocator::PaperAsProgrammed,
];

/// The allocators that run only on request: the alternatives that the paper names, and those that
/// show the cost of a start-up, habit by habit.
pub fn on_demand() -> impl Iterator<Item = Allocator> {
    let habits = NAMED.iter().map(|(habits, ..)| Allocator::Loose(*habits));
    Alternative::ALL.into_iter().map(Allocator::Alternative).chain(habits)
}

impl Wishes {
    /// The settings under the authors' timing, with the user's choices.
    fn authors(&self, allocator: Allocator) -> Settings {
        // In the authors' baseline all members are there from the beginning.
        let start = match allocator {
            _ if allocator.is_slots() => Start::AUTHORS,
            _ => Start::Together,
        };
        let rounds = if self.quick { 20_000 } else { 100_000 };
        self.apply(Settings { rounds, start, ..Settings::published() })
    }

    /// The settings in the network without limits, with the user's choices.
    pub(crate) fn clean(&self, load: f64) -> Settings {
        let rounds = if self.quick { 2_000 } else { 5_000 };
        let latency = self.latency.unwrap_or(2);
        let timing = Timing::Clean { latency };
        self.apply(Settings { rounds, warm_up: 1_000, timing, ..Settings::clean(load) })
    }

    fn apply(&self, settings: Settings) -> Settings {
        Settings {
            nodes: self.nodes.unwrap_or(settings.nodes),
            slots: self.slots.unwrap_or(settings.slots),
            rounds: self.rounds.unwrap_or(settings.rounds),
            arrivals: self.load.map_or(settings.arrivals, |load| Arrivals::Poisson { load }),
            low: self.low.unwrap_or(settings.low),
            lambda: self.lambda.unwrap_or(settings.lambda),
            lives: self.lives,
            wait: self.wait,
            partition: self.partition.or(settings.partition),
            hot_spot: self.hot_spot.or(settings.hot_spot),
            start: self.start.unwrap_or(settings.start),
            ..settings
        }
    }

    pub(crate) fn wants(&self, allocator: Allocator) -> bool {
        let can = self.wait.is_none() || allocator.can_wait();
        can && (self.allocators.is_empty() || self.allocators.contains(&allocator))
    }

    /// The two tables, or one of them.
    pub fn tables(&self, authors: bool, clean: bool) -> Vec<Case> {
        let mut cases = Vec::new();
        let usual = ALLOCATORS.into_iter().filter(|allocator| self.wants(*allocator));
        let others = on_demand()
            .filter(|allocator| self.allocators.contains(allocator) && self.wants(*allocator));
        for allocator in usual.chain(others) {
            if authors && allocator.takes_turns() {
                // Samples show how the published rules come to a standstill.
                let mut settings = self.authors(allocator);
                settings.sample_every = (settings.rounds / 200).max(1);
                cases.push(self.case(Part::Authors, 0.0, allocator, settings));
            }
            let slip = allocator == Allocator::MutualExclusionWithSlip;
            // They block. If claims wait, that is part of the answer.
            let published = matches!(allocator, Allocator::Paper | Allocator::PaperAsProgrammed);
            if clean && !slip && (!published || self.wait.is_some()) {
                let load = self.load.unwrap_or(0.857);
                cases.push(self.case(Part::Clean, 0.0, allocator, self.clean(load)));
            }
        }
        cases
    }

    /// The cases that the plots need beside the tables.
    pub fn plots(&self) -> Vec<Case> {
        let once = self.once();
        let mut cases = once.over_load();
        cases.extend(once.over_members());
        cases.extend(once.over_latency());
        cases.extend(once.over_time());
        cases
    }

    /// The cases by which those of the fifteen properties are judged that the tables leave open.
    pub fn judged(&self) -> Vec<Case> {
        let mut cases = self.once().over_time();
        let split = |case: &Case| case.allocator == Allocator::Static;
        cases.retain(|case| case.allocator == Allocator::Offers || split(case));
        cases
    }

    fn once(&self) -> Wishes {
        Wishes { seeds: 1, allocators: Vec::new(), ..self.clone() }
    }

    pub(crate) fn case(
        &self,
        part: Part,
        x: f64,
        allocator: Allocator,
        settings: Settings,
    ) -> Case {
        Case { part, x, allocator, settings, seeds: self.seeds }
    }

    fn over_load(&self) -> Vec<Case> {
        let loads: &[f64] = if self.quick {
            &[0.5, 0.8, 1.0, 1.2]
        } else {
            &[0.5, 0.6, 0.7, 0.8, 0.857, 0.9, 0.95, 1.0, 1.1, 1.2]
        };
        let mut cases = Vec::new();
        for &load in loads {
            let settings = Wishes { load: None, ..self.clone() }.clean(load);
            for allocator in [
                Allocator::Repaired,
                Allocator::Offers,
                Allocator::MutualExclusion,
                Allocator::Mover,
            ] {
                // The repaired rules need many multicasts; a shorter run is precise enough.
                let rounds = if allocator == Allocator::Repaired {
                    settings.rounds / 2
                } else {
                    settings.rounds
                };
                let settings = Settings { rounds, ..settings.clone() };
                cases.push(self.case(Part::Load, load, allocator, settings));
            }
        }
        cases
    }

    fn over_members(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        let most = |allocator| match (allocator, self.quick) {
            (Allocator::Offers, false) => 256,
            (Allocator::Offers, true) => 64,
            (_, false) => 64,
            (_, true) => 16,
        };
        for allocator in [Allocator::Repaired, Allocator::Offers] {
            for nodes in
                [4usize, 8, 16, 32, 64, 128, 256].into_iter().filter(|n| *n <= most(allocator))
            {
                // The work grows with the cube of the size, so large groups run for a shorter time.
                let rounds = (60_000 / nodes as u64 / (nodes as u64 / 16).max(1)).clamp(200, 4_000);
                let settings = Settings {
                    nodes,
                    slots: 24 * nodes as u32,
                    rounds,
                    warm_up: 600,
                    ..Settings::clean(0.857)
                };
                cases.push(self.case(Part::Members, nodes as f64, allocator, settings));
            }
        }
        cases
    }

    fn over_latency(&self) -> Vec<Case> {
        let latencies: &[u64] = if self.quick { &[1, 5, 20] } else { &[1, 2, 3, 5, 10, 20, 50] };
        let mut cases = Vec::new();
        for &latency in latencies {
            for allocator in [
                Allocator::Repaired,
                Allocator::Offers,
                Allocator::MutualExclusion,
                Allocator::Mover,
            ] {
                let wishes = Wishes { latency: Some(latency), load: None, ..self.clone() };
                let settings = wishes.clean(0.857);
                let settings = Settings { rounds: settings.rounds / 2, ..settings };
                cases.push(self.case(Part::Latency, latency as f64, allocator, settings));
            }
        }
        cases
    }

    fn over_time(&self) -> Vec<Case> {
        let settings = Wishes { load: None, ..self.clone() }.clean(0.857);
        let hot = Settings {
            rounds: settings.rounds.min(5_000),
            hot_spot: Some(HotSpot { share: 0.5, moves_every: 0 }),
            ..settings.clone()
        };
        let hot_case = |allocator| self.case(Part::HotSpot, 0.5, allocator, hot.clone());
        let mut cases: Vec<Case> = [
            Allocator::Repaired,
            Allocator::Offers,
            Allocator::MutualExclusion,
            Allocator::Static,
            Allocator::Mover,
        ]
        .map(hot_case)
        .into();
        let moving = Settings {
            rounds: 4_000,
            warm_up: 0,
            hot_spot: Some(HotSpot { share: 0.3, moves_every: 1_000 }),
            sample_every: 20,
            ..settings.clone()
        };
        cases.push(self.case(Part::Moving, 0.0, Allocator::Offers, moving));
        let left = settings.nodes / 3;
        let parted = Settings {
            rounds: 6_000,
            warm_up: 0,
            arrivals: Arrivals::Poisson { load: 0.7 },
            hot_spot: None,
            partition: Some(Partition { from: 2_000, until: 4_000, left: left.max(1) }),
            sample_every: 50,
            ..settings
        };
        cases.push(self.case(Part::Partition, 0.0, Allocator::Offers, parted));
        cases
    }
}

/// Erlang's formula for one pool for all: failed for each success, and the share in use.
pub fn pooled(settings: &Settings) -> (f64, f64) {
    let offered = settings.offered_load() * f64::from(settings.slots);
    let failed = failed_per_success(offered, settings.slots);
    (failed, settings.offered_load() / (1.0 + failed))
}

/// The same for an even split.
pub fn split(settings: &Settings) -> f64 {
    let share = settings.slots / settings.nodes as u32;
    failed_per_success(settings.offered_load() * f64::from(share), share)
}
