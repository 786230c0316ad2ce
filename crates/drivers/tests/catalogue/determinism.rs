//! The same options and seed give the same run, byte for byte, on every machine.

use synod_core::card::{Load, Order, Rounds};
use synod_protocols::which;
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::Delay;
use synod_sim::trace::{Digest, Tracer};
use synod_sim::{Options, Plan};

/// The digest of the trace, and how many events it has.
fn digest(name: &str, options: Options) -> (u64, u64) {
    let mut digest = Digest::default();
    let tracer = Tracer::new(options.plan.setup.n, vec![&mut digest]);
    let report = synod_drivers::simulate(which, name, options, Some(tracer), &mut |_, _| {});
    let report = report.expect("it is in the catalogue").expect("the plan fits");
    let events = report.expect("a digest never fails").meter.events;
    (digest.value(), events)
}

fn plain(n: usize, seed: u64) -> Options {
    let mut options = Options::new(Plan::new(n, Rounds::Times(20)), seed);
    options.patience = 10_000;
    options
}

fn ordered(n: usize, order: Order, latency: Delay) -> Options {
    let mut options = plain(n, 3);
    options.plan.order = order;
    options.network.latency = latency;
    options.tells = 0.5;
    options
}

fn faulty(n: usize, restart: Restart) -> Options {
    let mut options = plain(n, 4);
    options.network.latency = Delay::HeavyTailed(3_000);
    options.network.loss = 0.01;
    options.network.duplication = 0.1;
    options.network.reordering = 0.1;
    options.faults = RandomFaults {
        crashes: 2,
        restart,
        deaths: 0,
        pauses: 3,
        partitions: 2,
        one_way_cuts: 2,
        within_us: 400_000,
    };
    options
}

fn runs() -> Vec<(&'static str, Options, (u64, u64))> {
    let mut saturated = plain(7, 2);
    saturated.load = Load::Saturated;
    saturated.plan.multicast = true;
    vec![
        ("ricart-agrawala", plain(3, 1), (10320856565819723786, 663)),
        ("ricart-agrawala", saturated, (16211055998846547746, 3787)),
        (
            "maekawa-sanders",
            ordered(7, Order::Fifo, Delay::Exponential(5_000)),
            (9986781273409160457, 2773),
        ),
        (
            "vector-clock",
            ordered(4, Order::Causal, Delay::Uniform(1_000, 50_000)),
            (17841119389440722903, 347),
        ),
        ("suzuki-kasami", faulty(5, Restart::WithDisk), (10375495330970314301, 155)),
        ("lamport-clock", faulty(3, Restart::Never), (3777674929355387352, 160)),
        ("token-ring", faulty(4, Restart::WithoutDisk), (7377726442241575550, 54)),
    ]
}

/// A change that alters one of these numbers alters every recorded run.
#[test]
fn runs_that_were_recorded_come_out_the_same() {
    let found: Vec<_> =
        runs().into_iter().map(|(name, options, _)| (name, digest(name, options))).collect();
    let recorded: Vec<_> = runs().into_iter().map(|(name, _, digest)| (name, digest)).collect();
    assert_eq!(found, recorded);
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    for (name, options, _) in runs() {
        let with = |seed| digest(name, Options { seed, ..options.clone() });
        assert_eq!(with(100), with(100), "{name}");
        assert_ne!(with(100), with(101), "{name}");
    }
}
