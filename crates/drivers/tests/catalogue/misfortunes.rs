//! No fault makes an algorithm or a mutant panic, not even a fault that the algorithm does not
//! tolerate.

use synod_core::Card;
use synod_core::card::{Load, Order, Rounds};
use synod_protocols::{entries, which};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::{Options, Plan};

/// A run with all kinds of faults at once.
fn misfortune(seed: u64, n: usize) -> Options {
    let mut options = Options::new(Plan::new(n, Rounds::Times(4)), seed);
    options.plan.order = [Order::Any, Order::Fifo, Order::Causal][seed as usize % 3];
    options.plan.multicast = seed.is_multiple_of(5);
    options.network.loss = 0.2;
    options.network.duplication = 0.3;
    options.network.reordering = 0.2;
    options.network.latency = Delay::Exponential(5_000);
    options.load = [Load::Any, Load::Saturated, Load::Sequential][seed as usize % 7 % 3];
    options.tells = 0.5;
    options.faults = RandomFaults {
        crashes: 3,
        restart: [Restart::WithDisk, Restart::WithoutDisk, Restart::Never][seed as usize % 11 % 3],
        deaths: 0,
        pauses: 3,
        partitions: 2,
        one_way_cuts: 2,
        within_us: 200_000,
    };
    options.patience = 2_000;
    options.steps_at_most = 5_000;
    options
}

/// How often processes accuse each other in the runs with every other seed, from this one on.
fn accusations(card: &Card, first_seed: u64) -> u64 {
    let runs = (first_seed..300).step_by(2).map(|seed| {
        let n = card.smallest.max(2 + seed as usize % 4);
        let report =
            synod_drivers::simulate(which, card.name, misfortune(seed, n), None, &mut |_, _| {});
        let report = report.expect("it is in the catalogue").expect("the size fits");
        let report = report.expect("nothing is written");
        assert!(report.steps > 0, "{}, seed {seed}: nothing happened", card.name);
        report.meter.accusations
    });
    runs.sum()
}

#[test]
fn losses_copies_crashes_pauses_and_partitions_make_nothing_panic() {
    let all = |first_seed| {
        entries().iter().map(|entry| accusations(&entry.card, first_seed)).sum::<u64>()
    };
    // It takes long, so it uses two cores.
    let total = std::thread::scope(|scope| {
        let odd = scope.spawn(|| all(1));
        all(0) + odd.join().expect("nothing panics")
    });
    assert!(total > 1_000, "{total} accusations: the misfortunes did not reach the algorithms");
}
