//! Everything about a run but the algorithm.

use crate::faults::RandomFaults;
use crate::network::{Delay, Network};
use crate::workload::Workload;
use crate::world::Plan;
use synod_core::card::Load;

/// Everything about a run but the algorithm. The same options give the same run, everywhere.
#[derive(Clone, Debug)]
pub struct Options {
    /// The world.
    pub plan: Plan,
    /// Where all chance comes from.
    pub seed: u64,
    /// What the network does.
    pub network: Network,
    /// How busy the applications are.
    pub load: Load,
    /// How long an application waits before it asks (not used under a saturated load).
    pub think: Delay,
    /// How long it holds what it got.
    pub hold: Delay,
    /// How likely an application, when it asks, tells another one of it.
    pub tells: f64,
    /// How long a disk takes to write.
    pub disk: Delay,
    /// What goes wrong by chance.
    pub faults: RandomFaults,
    /// The run goes on for so long at least, if the algorithm never falls silent, in microseconds.
    /// None: as long as its family usually does.
    pub run_for_us: Option<u64>,
    /// The run ends after so many steps, finished or not.
    pub steps_at_most: u64,
    /// The run ends when nothing was asked or fulfilled for so many steps.
    pub patience: u64,
}

impl Options {
    /// How busy the applications are.
    pub fn workload(&self) -> Workload {
        Workload { load: self.load, think: self.think, hold: self.hold }
    }

    /// A run of this world with nothing unusual.
    pub fn new(plan: Plan, seed: u64) -> Self {
        Options {
            plan,
            seed,
            network: Network::default(),
            load: Load::Any,
            think: Delay::Exponential(20_000),
            hold: Delay::Uniform(1_000, 5_000),
            tells: 0.0,
            disk: Delay::Uniform(100, 1_000),
            faults: RandomFaults::default(),
            run_for_us: None,
            steps_at_most: 1_000_000_000,
            patience: 1_000_000,
        }
    }
}
