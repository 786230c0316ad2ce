//! PBFT.

use crate::storms;
use synod_core::card::{Load, Rounds};
use synod_core::{Algorithm, Setup};
use synod_protocols::replication::Pbft;
use synod_sim::{Judged, Options, Plan, Report, Simulator};

fn calm(setup: Setup, rounds: u32, load: Load) -> Report {
    let plan = Plan { judged: Judged::All, setup, ..Plan::new(0, Rounds::Times(rounds)) };
    let mut options = Options::new(plan, 1);
    options.load = load;
    let run = Simulator::of::<Pbft>(options, None).expect("the setup is valid");
    let report = run.run(|_, _| {}).expect("nothing is written");
    assert_eq!(storms::wrong(&report), None);
    report
}

#[test]
fn a_request_of_a_client_outside_takes_29_messages_among_four_replicas() {
    for seal in ["ideal", "ed25519"] {
        let setup = Setup::new(5).with("replicas", "4").with("seal", seal);
        let report = calm(setup, 1, Load::Sequential);
        assert_eq!((report.meter.operations, report.meter.messages), (1, 29));
    }
}

#[test]
fn requests_that_come_together_share_a_number() {
    let of = |batch: &str| {
        let setup = Setup::new(5).with("replicas", "4").with("clients", "50").with("ahead", "1");
        let setup = setup.with("checkpoint", "1000").with("batch", batch);
        let report = calm(setup, 100, Load::Saturated);
        assert_eq!(report.meter.operations, 100);
        report.meter.messages
    };
    let (alone, together) = (of("1"), of("64"));
    assert!(together * 2 < alone, "{together} instead of {alone}");
}

/// The setup of the run with this seed: other sizes, batches and checkpoints each time.
pub(crate) fn setup(seed: u64) -> Setup {
    let one_of = |words: [&'static str; 2], by: u64| words[(seed / by % 2) as usize];
    let (n, replicas) = [(4, "4"), (5, "4"), (6, "4"), (7, "7"), (3, "3")][seed as usize % 5];
    Setup::new(n)
        .with("replicas", replicas)
        .with("checkpoint", one_of(["64", "2"], 3))
        .with("batch", one_of(["64", "1"], 2))
        .with("ahead", one_of(["8", "1"], 7))
        .with("clients", one_of(["1", "3"], 13))
}

/// One of four replicas is a traitor.
pub(crate) fn betrayed(seed: u64) -> Setup {
    let adversary = ["silent", "equivocating", "odd-liar", "replaying", "random"];
    Setup::new(6)
        .with("replicas", "4")
        .with("checkpoint", ["64", "2"][(seed / 3 % 2) as usize])
        .with("traitors", ["p0", "p1", "p3"][(seed / 5 % 3) as usize])
        .with("adversary", adversary[(seed % 5) as usize])
}

pub(crate) fn storm(seed: u64, setup: Setup) -> Option<String> {
    let report = storms::run::<Pbft>(seed, setup.clone(), 6, |_, _| Vec::new());
    storms::wrong(&report).map(|what| format!("seed {seed} {:?}: {what}", setup.parameters))
}

// Ten thousand of each were run once, and all held.
#[test]
fn promises_hold_in_five_hundred_storms() {
    storms::all_hold(500, |seed| storm(seed, setup(seed)));
}

#[test]
fn a_traitor_among_four_breaks_no_promise_in_five_hundred_storms() {
    storms::all_hold(500, |seed| storm(seed, betrayed(seed)));
}

#[test]
fn signatures_that_are_checked_break_no_promise_either() {
    storms::all_hold(10, |seed| storm(seed, betrayed(seed).with("seal", "ed25519")));
}

#[test]
fn a_replica_without_its_disk_breaks_no_promise() {
    storms::all_hold(200, |seed| storms::lose_disk::<Pbft>(seed, setup(seed)));
}

#[test]
fn a_lying_primary_of_three_breaks_the_log_in_many_storms() {
    let broken = storms::broken(100, |seed| {
        let setup = Setup::new(5).with("replicas", "3").with("faulty", "1").with("unsafe", "yes");
        storm(seed, setup.with("traitors", "p0").with("adversary", "odd-liar"))
    });
    assert!(broken.len() > 20, "only {} of 100", broken.len());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let of_four = [("replicas", "0"), ("replicas", "5"), ("faulty", "2"), ("checkpoint", "0")];
    let more = [("batch", "0"), ("batch", "2000"), ("ahead", "0"), ("suspect", "0"), ("seal", "x")];
    for (name, value) in of_four.into_iter().chain(more) {
        assert!(Pbft::processes(&Setup::new(4).with(name, value)).is_err(), "{name} = {value}");
    }
    let three = Setup::new(3).with("faulty", "1");
    assert!(Pbft::processes(&three).is_err());
    assert!(Pbft::processes(&three.with("unsafe", "yes")).is_ok());
}
