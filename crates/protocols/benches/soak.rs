//! Pools in worlds that are too large for every run of the tests: `cargo xtask soak`.
//!
//! It explores each world to the end, for both rule sets, and judges every property of pools in
//! every state. Its exit code is 1 if a property is refuted, and 2 if memory did not suffice to
//! decide.

use std::io::{Write, stderr};
use std::process::ExitCode;
use synod_check::{Limits, Question, explore};
use synod_core::card::{Order, Rounds, Scope};
use synod_protocols::slots::SlotsAlgorithm;

/// The number of states between two lines of progress.
const TELL_EVERY: usize = 100_000;

/// A world of three members: how often each kind of fault may happen, and how many faults may
/// follow one another before all members have settled.
struct World {
    slots: u32,
    each: &'static str,
    burst: &'static str,
}

const FAULTS: [&str; 5] = ["partitions", "merges", "deaths", "node-crashes", "restarts"];

const WORLDS: [World; 3] = [
    World { slots: 2, each: "any", burst: "1" },
    World { slots: 1, each: "any", burst: "2" },
    World { slots: 2, each: "2", burst: "any" },
];

impl World {
    fn question(&self, rules: &str) -> Question {
        let scope = Scope { rounds: Rounds::Times(0), order: Order::Fifo, ..Scope::of(4) };
        let mut question = Question::new(scope);
        let (slots, owned) = (self.slots.to_string(), format!("p1:{}", self.slots));
        let lazy = [("engine", "abstract"), ("passing", "lazy"), ("across", "no")];
        let pool = [("rules", rules), ("slots", &slots), ("owned", &owned)];
        let stocks = [("low", "1"), ("stock", "1")];
        let faults = FAULTS.map(|fault| (fault, self.each));
        let burst = [("burst", self.burst)];
        for (name, value) in lazy.iter().chain(&pool).chain(&stocks).chain(&faults).chain(&burst) {
            question.setup = question.setup.with(name, value);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        question.limits = Limits { threads, memory_mib: 20_000, ..question.limits };
        question
    }

    /// 0 if all properties hold, 1 if one is refuted, 2 if that is not decided.
    fn explore(&self, rules: &str) -> u8 {
        let World { slots, each, burst } = self;
        println!("rules={rules} slots={slots}, each fault: {each}, burst={burst}");
        let mut told = 0;
        let exploration = explore::<SlotsAlgorithm>(&self.question(rules), |progress| {
            if progress.unique >= told + TELL_EVERY {
                told = progress.unique;
                let line = format!("  {told} states, {} wait\r", progress.waiting);
                // Progress is a courtesy: without a terminal the exploration goes on.
                let _ = stderr().write_all(line.as_bytes());
            }
        });
        let exploration = exploration.expect("the parameters are right");
        let states = exploration.progress.unique;
        println!("  {states} states                    ");
        let mut refuted = exploration.verdicts.iter().filter(|verdict| verdict.refuted.is_some());
        match refuted.next() {
            Some(verdict) => println!("  REFUTED: {}", verdict.property),
            None if exploration.exhausted() => println!("  everything holds in all of them"),
            None => println!("  not decided: memory did not suffice; nothing is refuted so far"),
        }
        match exploration.verdicts.iter().any(|verdict| verdict.refuted.is_some()) {
            true => 1,
            false if exploration.exhausted() => 0,
            false => 2,
        }
    }
}

fn main() -> ExitCode {
    let worlds = WORLDS.iter().flat_map(|world| [(world, "repaired"), (world, "offers")]);
    let ends: Vec<u8> = worlds.map(|(world, rules)| world.explore(rules)).collect();
    let worst = if ends.contains(&1) { 1 } else { ends.into_iter().max().unwrap_or(0) };
    ExitCode::from(worst)
}
