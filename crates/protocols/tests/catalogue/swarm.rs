//! What an algorithm promises holds in ten thousand random schedules, for several sizes.

use synod_core::Algorithm;
use synod_core::card::{Load, Rounds};
use synod_protocols::{Visit, entries, visit};
use synod_sim::network::Delay;
use synod_sim::world::Judged;
use synod_sim::{Options, Plan, Simulator};

const SEEDS: u64 = 10_000;

/// One run for each seed, of another size, delay and load each time.
struct Swarm {
    judged: Judged,
}

fn options(seed: u64, smallest: usize, judged: Judged) -> Options {
    let n = [3, 2, 4, 5, 7][seed as usize % 5].max(smallest);
    let plan = Plan { judged, ..Plan::new(n, Rounds::Times(3)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = [
        Delay::Uniform(1_000, 10_000),
        Delay::Exponential(5_000),
        Delay::HeavyTailed(2_000),
        Delay::Constant(3_000),
    ][seed as usize % 4];
    options.network.reordering = if seed.is_multiple_of(3) { 0.2 } else { 0.0 };
    options.load = if seed.is_multiple_of(2) { Load::Any } else { Load::Saturated };
    options.tells = 0.3;
    options
}

impl Visit for Swarm {
    type Answer = Vec<String>;

    fn visit<A: Algorithm>(self) -> Vec<String> {
        let mut broken = Vec::new();
        for seed in 0..SEEDS {
            let options = options(seed, A::CARD.smallest, self.judged.clone());
            let run = Simulator::<A>::new(options, None).expect("the size fits the card");
            let report = run.run(|_, _| {}).expect("nothing is written");
            if let Some((violation, _)) = report.violations.first() {
                broken.push(format!("{}, seed {seed}: {violation:?}", A::CARD.name));
            }
        }
        broken
    }
}

#[test]
fn what_an_algorithm_promises_holds_in_ten_thousand_random_schedules() {
    let mut broken = Vec::new();
    for entry in entries().iter().filter(|entry| entry.card.mutant.is_none()) {
        let promises = entry.card.promises.iter().map(|id| (*id).to_owned()).collect();
        let swarm = Swarm { judged: Judged::Only(promises) };
        broken.extend(visit(entry.card.name, swarm).expect("it is in the catalogue"));
    }
    assert!(
        broken.is_empty(),
        "{} broken:\n{}",
        broken.len(),
        broken[..broken.len().min(10)].join("\n")
    );
}

/// The same schedules do find what is wrong: a swarm that finds nothing proves nothing.
#[test]
fn the_same_schedules_break_a_mutant() {
    let judged = Judged::Only(vec!["ME1".to_owned()]);
    let broken = visit("ra-no-tie-break", Swarm { judged }).expect("it is in the catalogue");
    assert!(broken.len() > 100, "only {} of {SEEDS}", broken.len());
}
