//! Raft: what holds in storms, and in small worlds.
//!
//! Larger worlds were explored once, with the settings of [`SMALL`] and `synod check raft -n 3 --order fifo
//! --param NAME=VALUE …`, and every state is safe. To the end: 192,150 states of two terms in which only
//! p0 stands, two commands come, and somebody crashes and starts again; 268,866 of one term in which all
//! stand, one command comes, and somebody crashes. The first 1,025,293 states, all up to 13 steps, of two
//! terms in which all stand, two commands come, and somebody crashes: these grow too fast to be explored to
//! the end.

use crate::storms;
use synod_check::{Question, explore};
use synod_core::card::{Order, Rounds, Scope, Settings};
use synod_core::family::replication::{LINEARIZABLE, ONCE, ONE_LEADER, SAME_LOG};
use synod_core::{Algorithm, ProcessId, Setup};
use synod_protocols::replication::Raft;
use synod_protocols::replication::mutants::RaftBlindVote;
use synod_sim::faults::Fault;
use synod_sim::network::below;
use synod_sim::{Action, Judged, Options, Plan, Simulator};

#[test]
fn clients_are_answered_when_nothing_goes_wrong() {
    let plan = Plan { judged: Judged::All, ..Plan::new(3, Rounds::Times(20)) };
    let run = Simulator::<Raft>::new(Options::new(plan, 1), None).expect("the setup is valid");
    let report = run.run(|_, _| {}).expect("nothing is written");
    assert_eq!(storms::wrong(&report), None);
    assert_eq!(report.meter.operations, 60);
}

/// The setup of the run with this seed: other sizes, reads, snapshots and batches each time.
fn setup(seed: u64) -> Setup {
    let one_of = |words: [&'static str; 2], by: u64| words[(seed / by % 2) as usize];
    Setup::new([3, 5, 4, 2, 7][seed as usize % 5])
        .with("reads", one_of(["log", "index"], 3))
        .with("snapshot", one_of(["0", "3"], 2))
        .with("prevote", one_of(["yes", "no"], 5))
        .with("lines", one_of(["512", "1"], 7))
        .with("clients", one_of(["1", "3"], 13))
}

#[test]
fn promises_hold_in_three_thousand_storms() {
    storms::all_hold(3_000, |seed| {
        let setup = setup(seed);
        let report = storms::run::<Raft>(seed, setup.clone(), 6, |_, _| Vec::new());
        storms::wrong(&report).map(|what| format!("seed {seed} {:?}: {what}", setup.parameters))
    });
}

#[test]
fn a_server_without_its_disk_breaks_no_promise() {
    storms::all_hold(500, |seed| {
        let report = storms::run::<Raft>(seed, setup(seed).with("clients", "1"), 6, |_, chance| {
            let at = ProcessId(0);
            let at_us = below(chance, 2_000_000);
            let crash = Fault::at(at_us, Action::Crash(at));
            vec![crash, Fault::at(at_us + 1, Action::Restart { at, disk: false })]
        });
        // Somebody who votes no more may be missing later: only safety is judged.
        let safe = |property: &str| property != "answered";
        let broken = report.violations.iter().find(|(found, _)| safe(found.property));
        broken.map(|violation| format!("seed {seed}: {violation:?}"))
    });
}

#[test]
fn votes_for_any_log_break_in_the_same_storms() {
    let broken = storms::broken(200, |seed| {
        let setup = Setup::new(3).with("prevote", "no");
        storms::wrong(&storms::run::<RaftBlindVote>(seed, setup, 6, |_, _| Vec::new()))
    });
    assert!(broken.len() > 20, "only {} of 200", broken.len());
}

/// What every small world has in common.
const SMALL: Settings = &[
    ("beats", "0"),
    ("prevote", "no"),
    ("spread", "1"),
    ("batch", "no"),
    ("tries", "0"),
    ("records", "whole"),
    ("operations", "put"),
    ("askers", "p0"),
];

/// How many states there are, if all of them are safe.
fn safe_states(scope: Scope, set: Settings) -> usize {
    let safety = [ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE, "log-matching", "leader-completeness"];
    let judged = Judged::Only(safety.map(str::to_owned).into());
    let scope = Scope { order: Order::Fifo, ..scope };
    let question = Question { judged, ..Question::new(scope) };
    let setup = Setup::new(scope.n).with_all(SMALL).with_all(set);
    let exploration =
        explore::<Raft>(&Question { setup, ..question }, |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        let violation = verdict.refuted.as_ref().map(|refuted| &refuted.violation);
        assert_eq!(violation, None, "{scope:?}");
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

#[test]
fn every_state_is_safe_in_which_all_stand_for_election_and_two_commands_come() {
    let scope = Scope { rounds: Rounds::Times(2), ..Scope::of(3) };
    assert_eq!(safe_states(scope, &[("terms", "1")]), 103_504);
}

#[test]
fn every_state_is_safe_in_which_there_are_two_terms_and_somebody_crashes() {
    let scope = Scope { rounds: Rounds::Times(2), crashes: 1, ..Scope::of(3) };
    assert_eq!(safe_states(scope, &[("terms", "2"), ("standing", "p0")]), 39_242);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (name, value) in [("voters", ""), ("spread", "0"), ("lines", "0"), ("logs", "p0:x")] {
        let setup = Setup::new(3).with(name, value);
        assert!(Raft::processes(&setup).is_err(), "{name} = {value}");
    }
}
