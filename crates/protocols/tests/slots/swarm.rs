//! SLOTS on the embedded engine, in a thousand storms, ten thousand in a soak: no slot has two
//! owners, no slot is lost when all members come together again, every side serves, and tokens
//! grow.

#[path = "../group/storms.rs"]
mod storms;

use std::collections::BTreeMap;
use std::io;
use synod_core::family::slots::Input;
use synod_core::{ProcessId, Setup};
use synod_protocols::slots::SlotsAlgorithm;
use synod_sim::Action;
use synod_sim::faults::Fault;
use synod_sim::network::{Chance, below};
use synod_sim::storm::schedules;
use synod_sim::trace::{Event, Sink, Tracer, What};

const SEEDS: u64 = 1_000;
const SEEDS_OF_PAPER: u64 = 20;
/// The number of claims of each process.
const ROUNDS: u32 = 10;
/// The time after the last fault by which every side must serve, in microseconds.
const CALM_US: u64 = 2_000_000;

/// The last answer of each process to a claim. The last claims come long after the last fault,
/// while the parts are still apart.
#[derive(Default)]
struct Answers(BTreeMap<ProcessId, String>);

impl Sink for Answers {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        match (event.what, event.process) {
            (What::Output, Some(at)) if event.text.starts_with("gets ") => {
                self.0.insert(at, event.text.clone());
            }
            (What::Input, Some(at)) if event.text == "claims" => {
                self.0.insert(at, "is not answered".to_owned());
            }
            (What::Crash, Some(at)) => drop(self.0.remove(&at)),
            _ => {}
        }
        Ok(())
    }
}

impl Answers {
    /// A member that was not served in the end.
    fn unserved(&self) -> Option<String> {
        let unserved = |text: &str| text.contains("outside") || text.contains("not answered");
        let (at, text) = self.0.iter().find(|(_, text)| unserved(text))?;
        Some(format!("{at} {text} in the end"))
    }
}

/// The fault of the run with this seed, if it has one.
fn broken(seed: u64, rules: &str) -> Option<String> {
    let n = storms::size(seed);
    let slots = ["8", "12", "32"][(seed / 5 % 3) as usize];
    let setup = Setup::new(n).with("rules", rules).with("slots", slots);
    let mut answers = Answers::default();
    // Tracing every answer takes long, so only some storms do it, which leave the parts apart.
    let looks = seed % 16 == 5;
    let tracer = looks.then(|| Tracer::new(n, vec![&mut answers]));
    let more = |over_us: u64, chance: &mut Chance| {
        let claim = |at| Action::Input { at, input: Input::Claim };
        let claims = ProcessId::all(n).map(|at| Fault::at(over_us + CALM_US, claim(at)));
        // A leaving member dies for certain, in its present view.
        let mut leave = || {
            let at = ProcessId(below(chance, n as u64) as u32);
            Fault::at(below(chance, over_us + 1), Action::Input { at, input: Input::Leave })
        };
        let leaves = if seed % 8 == 3 { vec![leave(), leave()] } else { Vec::new() };
        if looks { claims.collect() } else { leaves }
    };
    let report = storms::run::<SlotsAlgorithm>(seed, setup, ROUNDS, tracer, more);
    let what = storms::wrong(&report).or_else(|| answers.unserved())?;
    Some(format!("seed {seed} (n = {n}, {rules}): {what}"))
}

#[test]
fn offers_hold_in_storms() {
    storms::all_hold(schedules(SEEDS), |seed| broken(seed, "offers"));
}

#[test]
fn repaired_donations_hold_in_storms() {
    storms::all_hold(schedules(SEEDS), |seed| broken(seed, "repaired"));
}

/// The fault of the run with this seed in which claims wait and are cancelled, if it has one.
fn broken_while_waiting(seed: u64, rules: &str) -> Option<String> {
    let n = storms::size(seed);
    let wait = ["1", "30", "500"][(seed / 3 % 3) as usize];
    let setup = Setup::new(n).with("rules", rules).with("slots", "8").with("queue", "3");
    let setup = setup.with("wait", wait).with("cancels", "yes");
    let report = storms::run::<SlotsAlgorithm>(seed, setup, ROUNDS, None, |_: u64, _| Vec::new());
    let what = storms::wrong(&report)?;
    Some(format!("seed {seed} (n = {n}, {rules}, wait {wait}): {what}"))
}

#[test]
fn claims_that_wait_are_answered_in_storms() {
    for rules in ["offers", "repaired"] {
        storms::all_hold(schedules(SEEDS / 4), |seed| broken_while_waiting(seed, rules));
    }
}

/// The same storms refute the published rules: a swarm that never finds a fault proves nothing.
#[test]
fn the_published_rules_break_in_the_same_storms() {
    let broken = (0..SEEDS_OF_PAPER).filter(|seed| broken(*seed, "paper").is_some()).count();
    assert!(broken > SEEDS_OF_PAPER as usize / 2, "only {broken} of {SEEDS_OF_PAPER}");
}
