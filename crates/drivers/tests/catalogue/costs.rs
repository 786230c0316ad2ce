//! Every cost on every card is what the simulator counts.

use std::collections::BTreeSet;
use synod_core::Card;
use synod_core::card::{Load, Rounds, Settings};
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
    /// Whether the network carries a multicast once for all receivers.
    multicast: bool,
    set: Settings,
}

impl Measure {
    /// The measured costs; none if the algorithm refuses a group of this size.
    fn costs_of(self, card: &Card) -> Vec<Measured> {
        let mut plan = Plan::new(self.n, Rounds::Times(self.rounds));
        plan.multicast = card.multicast || self.multicast;
        plan.setup =
            self.set.iter().fold(plan.setup, |setup, (name, value)| setup.with(name, value));
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
    for card in entries().iter().map(|entry| entry.card) {
        let mut measured = BTreeSet::new();
        for run in settings(&card).into_iter().flat_map(|(set, multicast)| runs(set, multicast)) {
            let Measure { n, load, seed, multicast, set, .. } = run;
            for cost in run.costs_of(&card) {
                let group = format!("{} of {n}, {load:?}, seed {seed}", card.name);
                assert!(cost.agrees(), "{group}, multicast {multicast}, {set:?}: {cost:?}");
                measured.insert((cost.cost.name, cost.cost.formula));
            }
        }
        let others = card.other_costs.iter().flat_map(|other| other.costs);
        let stated = card.costs.iter().chain(others).map(|cost| (cost.name, cost.formula));
        assert_eq!(measured, stated.collect(), "{}: every cost is measured", card.name);
    }
}

/// The settings that the card has formulas for, each over both kinds of network.
fn settings(card: &Card) -> Vec<(Settings, bool)> {
    let has_none = card.costs.is_empty() && card.other_costs.is_empty();
    let sets = if has_none { Vec::new() } else { card.cost_settings() };
    sets.into_iter().flat_map(|set| [(set, false), (set, true)]).collect()
}

fn runs(set: Settings, multicast: bool) -> impl Iterator<Item = Measure> {
    let many = [Load::Any, Load::Sequential, Load::Saturated].map(|load| (load, ENTRIES_OF_EACH));
    let kinds = many.into_iter().chain([(Load::Saturated, 1)]);
    let with_seeds = kinds.flat_map(|kind| SEEDS.map(|seed| (kind, seed)));
    with_seeds.flat_map(move |((load, rounds), seed)| {
        (1..=LARGEST_GROUP).map(move |n| Measure { n, load, rounds, seed, multicast, set })
    })
}
