//! Runs of the simulator in synchronous networks.

use synod_core::card::{Load, Rounds};
use synod_core::family::Consensus;
use synod_core::{Algorithm, ProcessId, Setup};
use synod_sim::faults::Fault;
use synod_sim::network::Delay;
use synod_sim::{Action, Ended, Judged, Options, Plan, Report, Simulator};

/// The longest delay of a message by default; a round is a millisecond longer.
const DELAY_US: u64 = 1_000;
pub(crate) const ROUND_US: u64 = DELAY_US + 1_000;

/// A run that is judged by all promises of the algorithm.
pub(crate) fn options(setup: Setup, seed: u64) -> Options {
    let plan = Plan { judged: Judged::Promised, ..Plan::new(setup.n, Rounds::Times(1)) };
    let mut options = Options::new(Plan { setup, ..plan }, seed);
    options.network.latency = Delay::Uniform(0, DELAY_US);
    options.load = Load::Saturated;
    options
}

pub(crate) fn run<A: Algorithm<Family = Consensus>>(options: Options) -> Report {
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!(report.ended, Ended::Quiet);
    report
}

/// The properties that runs with these seeds violate.
pub(crate) fn violated<A: Algorithm<Family = Consensus>>(
    setup: &Setup,
    seeds: std::ops::Range<u64>,
) -> Vec<String> {
    let broken = seeds.flat_map(|seed| {
        let report = run::<A>(options(setup.clone(), seed));
        let first = report.violations.into_iter().next();
        first.map(|(violation, _)| format!("seed {seed}: {violation:?}"))
    });
    broken.collect()
}

/// The same while `crashes` processes crash, each in the middle of its multicast in some round.
pub(crate) fn violated_by_crashes<A: Algorithm<Family = Consensus>>(
    setup: &Setup,
    crashes: u32,
    seeds: std::ops::Range<u64>,
) -> Vec<String> {
    let broken = seeds.flat_map(|seed| {
        let options = options(setup.clone(), seed);
        let mut simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
        let mut dice = Dice(seed);
        for _ in 0..crashes {
            let at = ProcessId(dice.below(setup.n as u64) as u32);
            // A moment before a round begins: by then all messages of the last have arrived.
            let at_us = (dice.below(u64::from(crashes) + 1) * ROUND_US).saturating_sub(1);
            let in_step_after = Some(dice.below(setup.n as u64) as u32);
            simulator.at(Fault { at_us, action: Action::Crash(at), in_step_after });
        }
        let report = simulator.run(|_, _| {}).expect("nothing is written");
        let first = report.violations.into_iter().next();
        first.map(|(violation, _)| format!("seed {seed}: {violation:?}"))
    });
    broken.collect()
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, among: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % among
    }
}

/// The messages of one decision in which all are loyal and none crashes, and the rounds from the
/// proposal to the decision.
pub(crate) fn cost<A: Algorithm<Family = Consensus>>(setup: Setup) -> (u64, u64) {
    let report = run::<A>(options(setup, 1));
    assert_eq!(report.violations, []);
    assert_eq!(report.meter.accusations, 0);
    assert_eq!(report.meter.entry_us.min, report.meter.entry_us.max);
    assert_eq!(report.meter.entry_us.max % ROUND_US, 0);
    (report.meter.messages, report.meter.entry_us.max / ROUND_US)
}
