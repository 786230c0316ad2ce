//! The options of a run: all but the algorithm.

use crate::faults::RandomFaults;
use crate::network::{Delay, Network};
use crate::workload::Workload;
use crate::world::Plan;
use synod_core::card::Load;

/// All options of a run but the algorithm. The same options give the same run, on every machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// The world.
    pub plan: Plan,
    /// The seed of all random choices.
    pub seed: u64,
    /// The effects of the network on messages.
    pub network: Network,
    /// How busy the applications are.
    pub load: Load,
    /// The time that an application waits before it asks (not used under a saturated load).
    pub think: Delay,
    /// The time that it holds a resource.
    pub hold: Delay,
    /// The probability that an application, when it asks, tells another one about it.
    pub tells: f64,
    /// The time that a disk takes to write.
    pub disk: Delay,
    /// The random faults.
    pub faults: RandomFaults,
    /// The shortest run of an algorithm that never falls silent, in microseconds. None: the default
    /// of its family.
    pub run_for_us: Option<u64>,
    /// The bound on the number of steps.
    pub steps_at_most: u64,
    /// The run ends after this many steps without a request or its fulfilment.
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
