//! The cost of a turn.

use synod_core::Algorithm;
use synod_core::card::{Load, Rounds};
use synod_core::family::Lockstep;
use synod_protocols::lockstep::TurnLock;
use synod_protocols::lockstep::mutants::TurnLockNoEcho;
use synod_sim::network::Delay;
use synod_sim::{Ended, Options, Plan, Simulator};

const HOP_US: u64 = 1_000;
const TURNS: u32 = 20;

/// Messages per turn, and hops.
fn cost<A: Algorithm<Family = Lockstep>>(n: usize) -> (usize, u64) {
    let mut options = Options::new(Plan::new(n, Rounds::Times(TURNS)), 1);
    options.network.latency = Delay::Constant(HOP_US);
    options.load = Load::Saturated;
    let run = Simulator::of::<A>(options, None).expect("the setup is valid");
    let report = run.run(|_, _| {}).expect("nothing is written");
    assert_eq!((report.ended, report.violations), (Ended::Quiet, vec![]));
    assert!(report.costs.iter().all(|cost| cost.agrees()), "{:?}", report.costs);
    assert_eq!(report.meter.entry_us.min, report.meter.entry_us.max);
    (report.meter.messages as usize / TURNS as usize, report.meter.entry_us.max / HOP_US)
}

#[test]
fn commitments_and_reveals_take_2n_n_minus_1_messages_and_2_hops_and_comparing_as_much_again() {
    for n in 2..=7 {
        assert_eq!(cost::<TurnLockNoEcho>(n), (2 * n * (n - 1), 2));
        assert_eq!(cost::<TurnLock>(n), (4 * n * (n - 1), 4));
    }
}
