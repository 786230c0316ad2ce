//! One run.

use crate::clean::{self, Served};
use crate::measure::Measured;
use crate::policy::Policy;
use crate::reference::{Central, Kind, MutualExclusion, StaticSplit};
use crate::settings::{Settings, Timing};
use crate::{slots, turns};
use serde::{Deserialize, Serialize};

/// Who gives slots to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocator {
    /// SLOTS, with the rules that were published.
    Paper,
    /// SLOTS, with the published donations and rules that hold.
    Repaired,
    /// SLOTS, with offers.
    Offers,
    /// The paper's baseline, as it is described.
    MutualExclusion,
    /// The same with the indexing slip of the authors' simulation.
    MutualExclusionWithSlip,
    /// The same share for everybody, for ever.
    Static,
    /// Sees everything, moves free slots every round.
    Mover,
    /// One pool without latency.
    Oracle,
}

/// Runs an allocator. The same seed gives the same claims to every allocator, and the same result every
/// time. `progress` is called now and then with the round.
pub fn run(
    settings: &Settings,
    allocator: Allocator,
    seed: u64,
    progress: &dyn Fn(u64),
) -> Measured {
    let (n, size) = (settings.nodes, settings.slots);
    match allocator {
        Allocator::Paper => serve(settings, seed, slots::group(settings, "paper"), progress),
        Allocator::Repaired => serve(settings, seed, slots::group(settings, "repaired"), progress),
        Allocator::Offers => serve(settings, seed, slots::group(settings, "offers"), progress),
        Allocator::MutualExclusion => {
            serve(settings, seed, vec![MutualExclusion::new(size, false); n], progress)
        }
        Allocator::MutualExclusionWithSlip => {
            serve(settings, seed, vec![MutualExclusion::new(size, true); n], progress)
        }
        Allocator::Static => serve(settings, seed, StaticSplit::group(n, size), progress),
        Allocator::Mover => central(settings, seed, Kind::Mover, progress),
        Allocator::Oracle => central(settings, seed, Kind::Oracle, progress),
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

/// Those that see everything know nothing of turns: under the authors' timing they are run with a
/// latency of two rounds.
fn central(settings: &Settings, seed: u64, kind: Kind, progress: &dyn Fn(u64)) -> Measured {
    let latency = match settings.timing {
        Timing::Authors => 2,
        Timing::Clean { latency } => latency,
    };
    clean::run(settings, seed, Central::new(settings, latency, kind), progress)
}
