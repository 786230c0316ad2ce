//! Groups that overlap.

use synod_core::card::{Load, Rounds};
use synod_core::{Algorithm, Setup};
use synod_protocols::multicast::{BasicMulticast, ReliableMulticast};
use synod_sim::world::Judged;
use synod_sim::{Options, Plan, Report, Simulator};

/// Five processes in three groups: p2 is in all of them, p4 is alone in one.
fn run<A: Algorithm>(seed: u64) -> Report {
    let mut plan = Plan::new(5, Rounds::Times(4));
    plan.setup = Setup::new(5).with("groups", "p0 p1 p2; p2 p3 p4; p2; p4");
    plan.judged = Judged::Only(A::CARD.promises.iter().map(|id| (*id).to_owned()).collect());
    let mut options = Options::new(plan, seed);
    options.load = if seed.is_multiple_of(2) { Load::Any } else { Load::Saturated };
    let simulator = Simulator::of::<A>(options, None).expect("the groups are right");
    simulator.run(|_, _| ()).expect("nothing is written")
}

#[test]
fn every_group_is_a_world_of_its_own() {
    for seed in 0..100 {
        for report in [run::<BasicMulticast>(seed), run::<ReliableMulticast>(seed)] {
            assert_eq!(report.violations, [], "seed {seed}");
            assert_eq!(report.meter.operations, 20);
            assert_eq!(report.meter.accusations, 0);
        }
    }
}

#[test]
fn what_is_wrong_with_the_groups_is_said_before_anything_starts() {
    let setup = Setup::new(2).with("groups", "p0 p2");
    let error = BasicMulticast::processes(&setup).expect_err("there is no p2").to_string();
    assert_eq!(error, "parameter groups = p0 p2: 'p2' is no process of p0..p1");
    for (name, value) in [("senders", "p9"), ("payload", "70000"), ("acks", "maybe")] {
        let setup = Setup::new(2).with(name, value);
        assert!(BasicMulticast::processes(&setup).is_err(), "{name}");
    }
}

#[test]
fn formulas_are_compared_only_where_they_are_about_this_group() {
    use synod_core::Setup;
    use synod_core::card::Rounds;
    use synod_protocols::multicast::FifoMulticast;
    use synod_sim::{Options, Plan, Simulator};
    let compared = |setup: Setup| {
        let plan = Plan { setup, ..Plan::new(3, Rounds::Times(1)) };
        let run = Simulator::of::<FifoMulticast>(Options::new(plan, 1), None);
        let report = run.expect("it fits").run(|_, _| {}).expect("nothing is written");
        assert!(report.costs.iter().all(synod_sim::count::Measured::agrees));
        !report.costs.is_empty()
    };
    assert!(compared(Setup::new(3)) && compared(Setup::new(3).with("over", "basic")));
    for (name, value) in [("over", "reliable"), ("groups", "p0 p1; p1 p2")] {
        assert!(!compared(Setup::new(3).with(name, value)), "{name}");
    }
}
