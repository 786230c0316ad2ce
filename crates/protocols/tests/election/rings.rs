//! Rings, and elections in them that are counted.

use synod_core::card::{Load, Order, Rounds};
use synod_core::family::Election;
use synod_core::{Algorithm, Setup};
use synod_sim::network::{Delay, below, chance};
use synod_sim::{Ended, Judged, Options, Plan, Report, Simulator};

/// The delay of every message.
pub(crate) const HOP_US: u64 = 1_000;

/// Identifiers in the order of the ring.
pub(crate) fn ring(ids: &[u64]) -> Setup {
    let words: Vec<String> = ids.iter().map(u64::to_string).collect();
    Setup::new(ids.len()).with("ids", &words.join(" "))
}

/// 1, 2, … n.
pub(crate) fn ascending(n: usize) -> Vec<u64> {
    (1..=n as u64).collect()
}

/// n, … 2, 1.
pub(crate) fn descending(n: usize) -> Vec<u64> {
    (1..=n as u64).rev().collect()
}

/// 1, 2, … n in some order.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<u64> {
    let mut ids = ascending(n);
    let mut chance = chance(seed);
    for last in (1..n).rev() {
        ids.swap(last, below(&mut chance, last as u64 + 1) as usize);
    }
    ids
}

/// All orders of 1 … n in a ring: the first is always 1, because a ring has no beginning.
pub(crate) fn all_rings(n: usize) -> Vec<Vec<u64>> {
    let mut rings = vec![vec![1]];
    for id in 2..=n as u64 {
        let places = |ring: Vec<u64>| {
            (1..=ring.len()).map(move |place| {
                let mut longer = ring.clone();
                longer.insert(place, id);
                longer
            })
        };
        rings = rings.into_iter().flat_map(places).collect();
    }
    rings
}

/// All starters start at the same moment, once; all properties are judged.
pub(crate) fn elect<A: Algorithm<Family = Election>>(setup: Setup) -> Report {
    let plan =
        Plan { setup, order: Order::Fifo, judged: Judged::All, ..Plan::new(0, Rounds::Times(1)) };
    let mut options = Options::new(plan, 0);
    options.network.latency = Delay::Constant(HOP_US);
    options.load = Load::Saturated;
    let simulator = Simulator::of::<A>(options, None).expect("the setup is valid");
    let report = simulator.run(|_, _| {}).expect("nothing is written");
    assert_eq!((report.ended, &report.violations[..]), (Ended::Quiet, &[][..]));
    report
}

/// The number of messages of that kind.
pub(crate) fn sent(report: &Report, kind: &str) -> u64 {
    report.meter.by_kind().get(kind).copied().unwrap_or(0)
}

#[test]
fn there_are_as_many_rings_as_orders_of_all_but_one() {
    let rings: std::collections::BTreeSet<_> = all_rings(5).into_iter().collect();
    assert_eq!(rings.len(), 24);
    assert!(rings.contains(&vec![1, 4, 2, 5, 3]));
}
