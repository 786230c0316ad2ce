//! What an algorithm promises holds in a thousand random schedules, ten thousand in a soak, for
//! several sizes, while all goes wrong that it tolerates.

use synod_core::card::{Load, Rounds, Tolerance};
use synod_core::{Card, Setup};
use synod_protocols::{entries, find, which};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::storm::schedules;
use synod_sim::world::Judged;
use synod_sim::{Options, Plan};

const SEEDS: u64 = 1_000;
/// Enough for another setting of the parameters of the same algorithm.
const SEEDS_OF_A_VARIANT: u64 = 250;

/// One run for each seed, of another size, delay and load each time.
struct Swarm {
    setup: Setup,
    seeds: u64,
    judged: Judged,
}

fn options(seed: u64, setup: &Setup, tolerates: &Tolerance, judged: Judged) -> Options {
    let setup = setup.clone();
    let n = setup.n;
    let plan = Plan { judged, order: tolerates.order, setup, ..Plan::new(n, Rounds::Times(3)) };
    let mut options = Options::new(plan, seed);
    options.network.latency = match tolerates.delay_ms {
        Some(bound) => Delay::Uniform(0, bound * 1_000),
        None => [
            Delay::Uniform(1_000, 10_000),
            Delay::Exponential(5_000),
            Delay::HeavyTailed(2_000),
            Delay::Constant(3_000),
        ][seed as usize % 4],
    };
    let reorders = seed.is_multiple_of(3) && tolerates.delay_ms.is_none();
    options.network.reordering = if reorders { 0.2 } else { 0.0 };
    options.network.loss = if tolerates.loss { 0.05 * (seed % 4) as f64 } else { 0.0 };
    options.network.duplication =
        if tolerates.duplication { 0.05 * (seed % 3) as f64 } else { 0.0 };
    options.load = if seed.is_multiple_of(2) { Load::Any } else { Load::Saturated };
    options.tells = 0.3;
    options.faults = faults(seed, n, tolerates);
    options
}

/// Some processes stay down, others restart. An algorithm that tolerates restarts and loss also
/// gets partitions and one-way cuts.
fn faults(seed: u64, n: usize, tolerates: &Tolerance) -> RandomFaults {
    let up_to = |most: usize| (seed / 7 % (most as u64 + 1)) as u32;
    let out_of_reach =
        if tolerates.recovery && tolerates.loss { (seed / 11 % 3) as u32 } else { 0 };
    RandomFaults {
        crashes: if tolerates.recovery { up_to(2 * n) } else { 0 },
        restart: Restart::WithDisk,
        deaths: up_to(tolerates.crashes.among(n)),
        partitions: out_of_reach,
        one_way_cuts: out_of_reach,
        within_us: 100_000,
        ..RandomFaults::default()
    }
}

impl Swarm {
    /// The broken promises of an algorithm. No other test of this program takes as long, so it uses
    /// two cores.
    fn broken(&self, card: &Card) -> Vec<String> {
        std::thread::scope(|scope| {
            let odd = scope.spawn(|| self.broken_from(1, card));
            let mut broken = self.broken_from(0, card);
            broken.extend(odd.join().expect("a violation is no panic"));
            broken
        })
    }

    /// The same with every other seed, from this one on.
    fn broken_from(&self, first: u64, card: &Card) -> Vec<String> {
        let mut broken = Vec::new();
        for seed in (first..schedules(self.seeds)).step_by(2) {
            let n = [3, 2, 4, 5, 7][seed as usize % 5].max(card.smallest);
            let setup = Setup { n, ..self.setup.clone() };
            let tolerates = card.tolerates_with(&setup);
            let options = options(seed, &setup, &tolerates, self.judged.clone());
            let report = synod_drivers::simulate(which, card.name, options, None, &mut |_, _| {});
            let report = report.expect("it is in the catalogue").expect("the size fits the card");
            let report = report.expect("nothing is written");
            if let Some((violation, _)) = report.violations.first() {
                let set = &setup.parameters;
                broken.push(format!("{} {set:?}, seed {seed}: {violation:?}", card.name));
            }
        }
        broken
    }
}

/// The judged properties are those that are promised, essential or not.
fn promised(promises: &[&str]) -> Judged {
    Judged::Only(promises.iter().map(|id| (*id).to_owned()).collect())
}

#[test]
fn what_an_algorithm_promises_holds_in_random_schedules() {
    let mut broken = Vec::new();
    for entry in entries().iter().filter(|entry| entry.card.mutant.is_none()) {
        let card = &entry.card;
        let usual = (Setup::new(0), SEEDS, card.promises);
        let variants = card.variants.iter().map(|variant| {
            (Setup::new(0).with_all(variant.set), SEEDS_OF_A_VARIANT, variant.promises)
        });
        for (setup, seeds, promises) in [usual].into_iter().chain(variants) {
            let swarm = Swarm { setup, seeds, judged: promised(promises) };
            broken.extend(swarm.broken(card));
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken:\n{}",
        broken.len(),
        broken[..broken.len().min(10)].join("\n")
    );
}

/// The same schedules find the fault of a mutant: a swarm that finds nothing proves nothing.
#[test]
fn the_same_schedules_break_a_mutant() {
    let swarm = Swarm { setup: Setup::new(0), seeds: SEEDS, judged: promised(&["ME1"]) };
    let mutant = find("ra-no-tie-break").expect("it is in the catalogue");
    let broken = swarm.broken(&mutant.card);
    assert!(broken.len() > 100, "only {} of {SEEDS}", broken.len());
}
