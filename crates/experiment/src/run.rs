//! One run.

use crate::clean::{self, Served};
use crate::measure::Measured;
use crate::policy::Policy;
use crate::reference::{
    Alternative, Alternatives, Central, Habits, Kind, Loose, MutualExclusion, StaticSplit,
};
use crate::settings::{Settings, Timing};
use crate::{slots, turns};
use serde::{Deserialize, Serialize};

/// The allocators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocator {
    /// SLOTS, with the rules that were published.
    Paper,
    /// The same, as the authors' public simulation reads them.
    PaperAsProgrammed,
    /// SLOTS, with the published donations and rules that hold.
    Repaired,
    /// The same donations without views that guard them, for a start-up with these habits.
    Loose(Habits),
    /// SLOTS, with offers.
    Offers,
    /// The paper's baseline, as it is described.
    MutualExclusion,
    /// The same with the indexing slip of the authors' simulation.
    MutualExclusionWithSlip,
    /// The same share for all members, for ever.
    Static,
    /// Sees the whole pool, moves free slots every round.
    Mover,
    /// One pool without latency.
    Oracle,
    /// An alternative that section II of the paper names.
    Alternative(Alternative),
}

impl Allocator {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Allocator::Paper => "paper",
            Allocator::PaperAsProgrammed => "paper-as-programmed",
            Allocator::Repaired => "repaired",
            Allocator::Loose(habits) => habits.name(),
            Allocator::Offers => "offers",
            Allocator::MutualExclusion => "mutual-exclusion",
            Allocator::MutualExclusionWithSlip => "mutual-exclusion-with-slip",
            Allocator::Static => "static",
            Allocator::Mover => "mover",
            Allocator::Oracle => "oracle",
            Allocator::Alternative(kind) => kind.name(),
        }
    }

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Allocator::Paper => "SLOTS as published (text)",
            Allocator::PaperAsProgrammed => "SLOTS as published (program)",
            Allocator::Repaired => "SLOTS repaired",
            Allocator::Loose(habits) => habits.title(),
            Allocator::Offers => "SLOTS with offers",
            Allocator::MutualExclusion => "mutual exclusion, correct",
            Allocator::MutualExclusionWithSlip => "mutual exclusion with the slip",
            Allocator::Static => "static split",
            Allocator::Mover => "all-knowing mover",
            Allocator::Oracle => "one pool, no latency",
            Allocator::Alternative(kind) => kind.title(),
        }
    }

    /// Whether it is SLOTS, under any rules.
    pub fn is_slots(self) -> bool {
        matches!(
            self,
            Allocator::Paper
                | Allocator::PaperAsProgrammed
                | Allocator::Repaired
                | Allocator::Loose(_)
                | Allocator::Offers
        )
    }

    /// Whether its claims can wait for a slot.
    pub fn can_wait(self) -> bool {
        self.is_slots() && !matches!(self, Allocator::Loose(_))
    }

    /// Whether it can be run under the authors' timing: one without messages of members cannot.
    pub fn takes_turns(self) -> bool {
        !matches!(self, Allocator::Mover | Allocator::Oracle | Allocator::Alternative(_))
    }
}

/// Runs an allocator. The same seed gives the same claims to every allocator, and the same result
/// every time. `progress` is called now and then with the round.
pub fn run(
    settings: &Settings,
    allocator: Allocator,
    seed: u64,
    progress: &dyn Fn(u64),
) -> Measured {
    let (n, size) = (settings.nodes, settings.slots);
    match allocator {
        Allocator::Paper => serve(settings, seed, slots::group(settings, "paper"), progress),
        Allocator::PaperAsProgrammed => {
            serve(settings, seed, slots::as_programmed(settings), progress)
        }
        Allocator::Repaired => serve(settings, seed, slots::group(settings, "repaired"), progress),
        Allocator::Offers => serve(settings, seed, slots::group(settings, "offers"), progress),
        Allocator::Loose(habits) => serve(settings, seed, Loose::group(settings, habits), progress),
        Allocator::MutualExclusion => {
            serve(settings, seed, vec![MutualExclusion::new(size, false); n], progress)
        }
        Allocator::MutualExclusionWithSlip => {
            serve(settings, seed, vec![MutualExclusion::new(size, true); n], progress)
        }
        Allocator::Static => serve(settings, seed, StaticSplit::group(n, size), progress),
        Allocator::Mover => central(settings, seed, Kind::Mover, progress),
        Allocator::Oracle => central(settings, seed, Kind::Oracle, progress),
        Allocator::Alternative(kind) => {
            let group = Alternatives::new(settings, latency(settings), kind, seed);
            clean::run(settings, seed, group, progress)
        }
    }
}

fn serve<S: Policy>(
    settings: &Settings,
    seed: u64,
    services: Vec<S>,
    progress: &dyn Fn(u64),
) -> Measured {
    match settings.timing {
        Timing::Authors => turns::run(settings, seed, services, progress),
        Timing::Clean { latency } => {
            clean::run(settings, seed, Served::new(settings, latency, services), progress)
        }
    }
}

/// Allocators that see the whole pool take no turns: under the authors' timing they are run with a
/// latency of two rounds.
fn central(settings: &Settings, seed: u64, kind: Kind, progress: &dyn Fn(u64)) -> Measured {
    clean::run(settings, seed, Central::new(settings, latency(settings), kind), progress)
}

fn latency(settings: &Settings) -> u64 {
    match settings.timing {
        Timing::Authors => 2,
        Timing::Clean { latency } => latency,
    }
}
