//! Multi-Paxos.

use crate::storms;
use synod_core::Setup;
use synod_core::card::Rounds;
use synod_protocols::replication::MultiPaxos;
use synod_sim::{Judged, Options, Plan, Simulator};

#[test]
fn clients_are_answered_when_nothing_goes_wrong() {
    let plan = Plan { judged: Judged::All, ..Plan::new(3, Rounds::Times(20)) };
    let run =
        Simulator::<MultiPaxos>::new(Options::new(plan, 1), None).expect("the setup is valid");
    let report = run.run(|_, _| {}).expect("nothing is written");
    assert_eq!(storms::wrong(&report), None);
    assert_eq!(report.meter.operations, 60);
    assert_eq!(report.meter.accusations, 0);
}

/// The setup of the run with this seed: other sizes, reads, snapshots and batches each time.
fn setup(seed: u64) -> Setup {
    let one_of = |words: [&'static str; 2], by: u64| words[(seed / by % 2) as usize];
    Setup::new([3, 5, 4, 2, 7][seed as usize % 5])
        .with("reads", one_of(["log", "index"], 3))
        .with("snapshot", one_of(["0", "3"], 2))
        .with("ask", one_of(["yes", "no"], 5))
        .with("lines", one_of(["512", "1"], 7))
        .with("clients", one_of(["1", "3"], 13))
}

#[test]
fn promises_hold_in_three_thousand_storms() {
    storms::all_hold(3_000, |seed| {
        let setup = setup(seed);
        let report = storms::run::<MultiPaxos>(seed, setup.clone(), 6, |_, _| Vec::new());
        storms::wrong(&report).map(|what| format!("seed {seed} {:?}: {what}", setup.parameters))
    });
}
