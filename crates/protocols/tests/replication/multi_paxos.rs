//! Multi-Paxos.
//!
//! Larger worlds were explored to the end once, with the settings of [`SMALL`] and `synod check
//! multi-paxos -n 3 --order fifo --param NAME=VALUE …`, and every state is safe: 16,279 states in
//! which p0 and p1 want to lead and two commands come; 67,647 in which p0 and p1 want to lead, and
//! one process crashes and starts again; 154,379 in which all want to lead. No promise broke in ten
//! thousand storms, nor in three thousand in which p0 loses its disk.

use crate::runs::{
    self, Input, around_the_hub, between_the_ends, cut, hub_with_an_old_log, links, sent,
};
use crate::storms;
use synod_core::card::{Load, Scope, Settings};
use synod_core::{Algorithm, ProcessId, Setup};
use synod_protocols::replication::MultiPaxos;
use synod_sim::Report;
use synod_sim::faults::Fault;

fn run(setup: Setup, rounds: u32, load: Load) -> Report {
    runs::run::<MultiPaxos>(setup, rounds, load, Vec::new(), 1)
}

#[test]
fn in_the_steady_state_a_command_takes_an_accept_to_each_of_the_others_and_its_answer() {
    for n in [1, 2, 3, 5, 7] {
        let setup = Setup::new(n).with("standing", "p0").with("askers", "p0");
        let report = run(setup, 20, Load::Sequential);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20));
        let others = n as u64 - 1;
        for (kind, count) in [("Ask", 1), ("Granted", 1), ("Prepare", 1), ("Promise", 1)] {
            assert_eq!(sent(&report, kind), count * others, "{kind} of {n}");
        }
        for kind in ["Accept", "Accepted"] {
            assert_eq!(sent(&report, kind), 20 * others, "{kind} of {n}");
        }
        // The rest is what shows that the leader is there.
        let beats = sent(&report, "Heartbeat") + sent(&report, "Alive");
        assert_eq!(report.meter.messages, 2 * others * (2 + 20) + beats, "of {n}");
    }
}

#[test]
fn commands_that_come_together_travel_together() {
    let setup = || Setup::new(3).with("askers", "p0").with("clients", "16");
    let accepts = |setup| sent(&run(setup, 320, Load::Saturated), "Accept");
    assert!(accepts(setup().with("batch", "no")) >= 2 * 320);
    assert!(accepts(setup()) <= 2 * 320 / 8);
}

#[test]
fn a_group_of_one_need_not_ask_again() {
    for reads in ["log", "index"] {
        let setup = Setup::new(1).with("reads", reads).with("tries", "0");
        let report = run(setup, 20, Load::Any);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20), "{reads}");
    }
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
fn promises_hold_in_a_thousand_storms() {
    storms::all_hold(1_000, |seed| {
        let setup = setup(seed);
        let report = storms::run::<MultiPaxos>(seed, setup.clone(), 6, |_, _| Vec::new());
        storms::wrong(&report).map(|what| format!("seed {seed} {:?}: {what}", setup.parameters))
    });
}

#[test]
fn a_process_without_its_disk_breaks_no_promise() {
    storms::all_hold(200, |seed| storms::lose_disk::<MultiPaxos>(seed, setup(seed)));
}

#[test]
fn the_same_storms_break_a_leader_that_does_not_take_what_it_is_told_and_acceptors_that_forget() {
    for (name, value) in [("adopt", "nothing"), ("acceptors", "forgetful")] {
        let broken = storms::broken(100, |seed| {
            let setup = Setup::new(3).with("ask", "no").with(name, value);
            storms::wrong(&storms::run::<MultiPaxos>(seed, setup, 6, |_, _| Vec::new()))
        });
        assert!(broken.len() > 5, "{name} = {value}: only {} of 100", broken.len());
    }
}

/// Every client is answered; returns how many ballots were begun.
fn all_are_answered(setup: &Setup, faults: impl Fn() -> Vec<Fault<Input>>) -> u64 {
    runs::all_are_answered::<MultiPaxos>(setup, "Prepare", faults)
}

#[test]
fn the_only_process_that_hears_a_majority_comes_to_lead_although_it_hears_the_old_leader() {
    all_are_answered(&Setup::new(5), || cut(around_the_hub(5)));
}

#[test]
fn the_only_process_that_hears_a_majority_comes_to_lead_although_its_log_is_old() {
    for snapshot in ["0", "3"] {
        let setup = Setup::new(5).with("snapshot", snapshot);
        all_are_answered(&setup, || hub_with_an_old_log(500_000));
    }
}

#[test]
fn a_leader_that_a_majority_hears_stays_though_one_process_does_not_hear_it() {
    let setup = Setup::new(3).with("askers", "p1");
    let chain = || cut(between_the_ends());
    let undisturbed = all_are_answered(&setup, Vec::new);
    assert_eq!(all_are_answered(&setup, chain), undisturbed);
    // Without asking first, both ends take the leadership from each other for ever.
    assert!(all_are_answered(&setup.with("ask", "no"), chain) > 3 * undisturbed);
}

#[test]
fn a_leader_that_hears_no_other_gives_way() {
    let setup = Setup::new(3).with("askers", "p1 p2");
    all_are_answered(&setup, || cut(links(3).filter(|(_, to)| *to == ProcessId(0))));
}

/// The settings of every small world.
const SMALL: Settings = &[
    ("beats", "0"),
    ("ask", "no"),
    ("spread", "1"),
    ("batch", "no"),
    ("tries", "0"),
    ("records", "whole"),
    ("operations", "put"),
    ("askers", "p0"),
];

fn safe_states(scope: Scope, set: Settings) -> usize {
    runs::safe_states::<MultiPaxos>(scope, Setup::new(scope.n).with_all(SMALL).with_all(set))
}

#[test]
fn every_state_is_safe_in_which_two_want_to_lead_and_a_message_is_lost() {
    let scope = Scope { drops: 1, ..Scope::of(3) };
    assert_eq!(safe_states(scope, &[("ballots", "1"), ("standing", "p0 p1")]), 13_460);
}

#[test]
fn every_state_is_safe_in_which_a_process_crashes_and_starts_again() {
    let scope = Scope { crashes: 1, restarts: 1, ..Scope::of(3) };
    assert_eq!(safe_states(scope, &[("ballots", "2"), ("standing", "p0")]), 6_424);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (name, value) in [("ballots", "0"), ("spread", "0"), ("lines", "513"), ("adopt", "mine")] {
        let setup = Setup::new(3).with(name, value);
        assert!(MultiPaxos::processes(&setup).is_err(), "{name} = {value}");
    }
}
