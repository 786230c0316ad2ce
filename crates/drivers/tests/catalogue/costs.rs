//! Every cost on every card is what the simulator counts.

use std::collections::BTreeSet;
use synod_core::Card;
use synod_core::card::{Load, Rounds};
use synod_protocols::{entries, which};
use synod_sim::count::Measured;
use synod_sim::network::Delay;
use synod_sim::{Ended, Options, Plan};

const HOP_US: u64 = 1_000;
const ENTRIES_OF_EACH: u32 = 20;
const SEEDS: [u64; 3] = [1, 2, 3];
const LARGEST_GROUP: usize = 7;

/// A run in which every message takes one millisecond, and nothing else takes any time.
struct Measure {
    n: usize,
    load: Load,
    /// How often each process asks.
    rounds: u32,
    seed: u64,
}

impl Measure {
    /// The measured costs; none if the algorithm refuses a group of this size.
    fn costs_of(self, card: &Card) -> Vec<Measured> {
        let multicast = card.multicast;
        let plan = Plan { multicast, ..Plan::new(self.n, Rounds::Times(self.rounds)) };
        let mut options = Options::new(plan, self.seed);
        options.network.latency = Delay::Constant(HOP_US);
        options.disk = Delay::Constant(0);
        options.load = self.load;
        let report = synod_drivers::simulate(which, card.name, options, None, &mut |_, _| {});
        let Ok(report) = report.expect("it is in the catalogue") else { return Vec::new() };
        let report = report.expect("nothing is written");
        assert_eq!(report.ended, Ended::Quiet, "{} of {}", card.name, self.n);
        report.costs
    }
}

#[test]
fn every_cost_on_every_card_is_what_the_simulator_counts() {
    for card in entries().iter().map(|entry| entry.card).filter(|card| !card.costs.is_empty()) {
        let mut measured = BTreeSet::new();
        for run in runs() {
            let group = format!("{} of {}, {:?}, seed {}", card.name, run.n, run.load, run.seed);
            for cost in run.costs_of(&card) {
                assert!(cost.agrees(), "{group}: {cost:?}");
                measured.insert(cost.cost.name);
            }
        }
        let stated: BTreeSet<_> = card.costs.iter().map(|cost| cost.name).collect();
        assert_eq!(measured, stated, "{}: every cost is measured", card.name);
    }
}

fn runs() -> impl Iterator<Item = Measure> {
    let many = [Load::Any, Load::Sequential, Load::Saturated].map(|load| (load, ENTRIES_OF_EACH));
    let kinds = many.into_iter().chain([(Load::Saturated, 1)]);
    let with_seeds = kinds.flat_map(|kind| SEEDS.map(|seed| (kind, seed)));
    with_seeds.flat_map(|((load, rounds), seed)| {
        (1..=LARGEST_GROUP).map(move |n| Measure { n, load, rounds, seed })
    })
}
