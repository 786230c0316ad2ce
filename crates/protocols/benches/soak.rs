//! Pools in worlds that are too large for every run of the tests: `cargo xtask soak`.
//!
//! It explores each world to the end, for both rule sets, and judges every property of pools in
//! every state. Its exit code is 1 if a property is refuted, and 2 if memory did not suffice to
//! decide.

use std::io::{Write, stderr};
use std::process::ExitCode;
use synod_check::{Limits, Question, explore, explore_boxed, views};
use synod_core::card::{Order, Rounds, Scope};
use synod_core::{ProcessId, ProcessSet, Verdict};
use synod_protocols::algorithms;
use synod_protocols::slots::{Slots, SlotsAlgorithm};
use synod_sim::Judged;

/// The number of states between two lines of progress.
const SHOWN_EVERY: usize = 100_000;

/// A world of three members: how often each kind of fault may happen, and how many faults may
/// follow one another before all members have settled.
struct World {
    slots: u32,
    each: &'static str,
    burst: &'static str,
}

const FAULTS: [&str; 5] = ["partitions", "merges", "deaths", "node-crashes", "restarts"];

const WORLDS: [World; 2] =
    [World { slots: 2, each: "any", burst: "1" }, World { slots: 1, each: "any", burst: "2" }];

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
        let mut shown = 0;
        let exploration = explore::<SlotsAlgorithm>(&self.question(rules), |progress| {
            if progress.unique >= shown + SHOWN_EVERY {
                shown = progress.unique;
                let line = format!("  {shown} states, {} wait\r", progress.waiting);
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

/// Three members that share three slots, one view at a time, without any budget: the same answers.
fn explore_views_of(rules: &str, expected: (usize, usize)) -> u8 {
    println!("rules={rules} slots=3, any number of faults, view by view");
    let nodes: ProcessSet = (1..=3).map(ProcessId).collect();
    let mut setup = Question::new(Scope::of(3)).setup;
    let pool = [("rules", rules), ("slots", "3"), ("owned", "p1:3"), ("low", "1"), ("stock", "1")];
    for (name, value) in pool {
        setup = setup.with(name, value);
    }
    let member = |node| (node, Slots::from_setup(node, &nodes, &setup).expect("it fits"));
    let members: Vec<_> = nodes.iter().map(member).collect();
    let explored = views::explore_views(&members, &views::Settings::default(), |so_far| {
        let line = format!("  {} states, {} wait\r", so_far.states, so_far.waiting);
        // Nobody need see it.
        let _ = stderr().write_all(line.as_bytes());
    });
    let found = (explored.states, explored.moments);
    println!("  {} states between views, {} moments inside views", found.0, found.1);
    match explored.broken {
        Some((broken, history)) => println!("  REFUTED: {broken:?}\n{}", history.join("\n")),
        None if found == expected => println!("  everything holds in all of them"),
        None => println!("  everything holds, but there were {expected:?} before"),
    }
    u8::from(found != expected)
}

/// The larger worlds on the cards: the properties hold, in as many states as the card says.
fn explore_larger_worlds() -> u8 {
    let worlds = algorithms()
        .flat_map(|which| which.card().larger.iter().map(move |larger| (which, larger)));
    let mut worst = 0;
    for (which, larger) in worlds {
        println!("{}: {:?}", which.card().name, larger.scope);
        let mut question = Question::new(larger.scope);
        let holds = larger.holds.iter().map(|id| (*id).to_owned());
        question.judged = Judged::Only(holds.collect());
        let exploration = explore_boxed(&question.running(which), &mut |_| ());
        let exploration = exploration.expect("the parameters are right");
        let states = exploration.progress.unique as u64;
        let is_as_told = exploration.verdict() == Verdict::Holds && states == larger.states;
        println!("  {states} states; the card says {}", larger.states);
        worst = worst.max(u8::from(!is_as_told));
    }
    worst
}

fn main() -> ExitCode {
    let worlds = WORLDS.iter().flat_map(|world| [(world, "repaired"), (world, "offers")]);
    let mut ends = vec![
        explore_larger_worlds(),
        explore_views_of("repaired", (8_694, 500_172)),
        explore_views_of("offers", (20_096, 494_849)),
    ];
    ends.extend(worlds.map(|(world, rules)| world.explore(rules)));
    let worst = if ends.contains(&1) { 1 } else { ends.into_iter().max().unwrap_or(0) };
    ExitCode::from(worst)
}
