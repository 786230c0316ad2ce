//! How fast the simulator and the explorer are, in CPU time, beside the figures of their peers.
//!
//! `cargo bench` prints a table. CPU time, not wall time, because machines are shared; the best of
//! several runs, because they are noisy; and, where valgrind is installed, instructions per step,
//! because those do not depend on what else the machine is doing.

#[path = "../tests/explore/actors.rs"]
mod actors;
mod measure;

use measure::{best, in_turn, memory_mib};
use stateright::{Checker, Model};
use std::process::Command;
use synod_check::{Question, explore};
use synod_core::card::{Rounds, Scope};
use synod_core::family::multicast::Payload;
use synod_core::family::mutex::{ME1, ME2};
use synod_protocols::group::GroupEngine;
use synod_protocols::mutex::{RicartAgrawala, TokenRing};
use synod_sim::trace::{Digest, Jsonl, Sink, Tracer};
use synod_sim::{Ended, Judged, Options, Plan, Report, Simulator};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The figures of peers on the same class of machine (2 shared cores, November 2026), in millions
/// of messages per CPU second; for checkers in thousands of different states per CPU second.
const PEERS: &[(&str, &str)] = &[
    ("madsim 0.2.34, UDP", "0.83 to 0.99 M messages/s"),
    ("turmoil 0.7.2, UDP", "0.25 to 1.57 M messages/s"),
    ("anysystem 0.3.0", "0.42 to 0.59 M messages/s"),
    ("SimPy 4", "0.08 to 0.11 M messages/s"),
    ("anysystem 0.3.0 checker, Ricart-Agrawala n = 3", "7 to 8 k states/s"),
    ("TLC, EWD998, several cores, as reported", "60 to 77 k states/s"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("once") => once(&arguments[1..]),
        _ => table(),
    }
}

/// One workload of a certain size, for callgrind and for measuring memory.
fn once(arguments: &[String]) {
    let size: u32 = arguments[1].parse().expect("a number");
    let steps = match arguments[0].as_str() {
        "simulate" => simulate(size, None).steps,
        "crowd" => crowd(size).steps,
        "explore" => explored(size as usize, Judged::All).states,
        other => panic!("no workload is called {other}"),
    };
    println!("{steps} {}", memory_mib("VmHWM:"));
}

/// Eight processes, Ricart and Agrawala, random latencies.
fn simulate(entries_each: u32, sink: Option<&mut dyn Sink>) -> Report {
    let options = Options::new(Plan::new(8, Rounds::Times(entries_each)), 42);
    let tracer = sink.map(|sink| Tracer::new(8, vec![sink]));
    let run = Simulator::of::<RicartAgrawala>(options, tracer).expect("the size fits");
    let report = run.run(|_, _| {}).expect("the trace can be written");
    assert!(report.violations.is_empty(), "{:?}", report.violations);
    report
}

/// Ten thousand processes, of which some want to enter once.
fn crowd(entries: u32) -> Report {
    let mut plan = Plan::new(10_000, Rounds::Times(0));
    plan.rounds = vec![Rounds::Times(1); entries as usize];
    plan.rounds.push(Rounds::Times(0));
    let run = Simulator::of::<RicartAgrawala>(Options::new(plan, 42), None);
    run.expect("the size fits").run(|_, _| {}).expect("nothing is written")
}

/// A token that goes round ten thousand processes until three of them were in.
fn large_ring() -> Report {
    let mut plan = Plan::new(10_000, Rounds::Times(0));
    plan.rounds = [Rounds::Times(0); 10_000].to_vec();
    for at in [9_999, 1, 5_000] {
        plan.rounds[at] = Rounds::Times(100);
    }
    let run = Simulator::of::<TokenRing>(Options::new(plan, 42), None);
    run.expect("the size fits").run(|_, _| {}).expect("nothing is written")
}

/// A group service of 128 members, who find each other and multicast ten messages each in a second.
fn large_group() -> Report {
    let options = Options::new(Plan::new(128, Rounds::Times(10)), 42);
    let run = Simulator::of::<GroupEngine<Payload>>(options, None).expect("the size fits");
    let report = run.run(|_, _| {}).expect("nothing is written");
    assert!(report.violations.is_empty(), "{:?}", report.violations);
    assert_eq!(report.ended, Ended::Quiet, "all are in one view, and have delivered everything");
    report
}

/// How far a checker came.
struct Explored {
    /// Different states.
    unique: usize,
    /// States reached, counting again those reached again.
    states: u64,
    /// Bytes of its table for each state, if it tells.
    bytes: f64,
}

/// Explores four processes on one thread, until it has found this number of states.
fn explored(states: usize, judged: Judged) -> Explored {
    let mut question = Question::new(Scope::of(4));
    question.judged = judged;
    question.limits.threads = 1;
    question.limits.states = states;
    let found = explore::<RicartAgrawala>(&question, |_| {}).expect("the size fits").progress;
    let bytes = found.table_bytes as f64 / found.unique as f64;
    Explored { unique: found.unique, states: found.states, bytes }
}

/// Explores the same processes under Stateright, which judges ME1 and ME2, until it has reached
/// this number of states.
fn explored_by_stateright(states: u64) -> Explored {
    let model = actors::model::<RicartAgrawala>(4);
    let checker = model.checker().target_state_count(states as usize).spawn_bfs().join();
    let (unique, states) = (checker.unique_state_count(), checker.state_count() as u64);
    Explored { unique, states, bytes: 0.0 }
}

fn explorers() {
    const STATES: usize = 1_000_000;
    let same = || Judged::Only([ME1, ME2].map(str::to_owned).to_vec());
    println!("\nExplorers: Ricart-Agrawala, 4 processes, breadth first, one thread, in turn");
    let states = explored(STATES, same()).states;
    let [all, ours, theirs] =
        in_turn([&|| explored(STATES, Judged::All), &|| explored(STATES, same()), &|| {
            explored_by_stateright(states)
        }]);
    let rate = |(seconds, explored): &(f64, Explored)| explored.unique as f64 / seconds / 1e3;
    let names = ["synod, everything judged", "synod, ME1 and ME2", "stateright 0.31, ME1 and ME2"];
    for (name, run) in names.iter().zip([&all, &ours, &theirs]) {
        let reached = run.1.states as f64 / run.0 / 1e3;
        println!("  {name:<34} {:>6.0} k new states/s {reached:>6.0} k states/s", rate(run));
    }
    let promise = |kept: bool| if kept { "kept" } else { "NOT KEPT" };
    println!("  promise 300 k new states/s: {}", promise(rate(&all) >= 300.0));
    println!("  promise as fast as stateright: {}", promise(rate(&ours) >= rate(&theirs)));
    println!("  {:.1} bytes a state in the table", all.1.bytes);
}

fn table() {
    println!("\nSimulator: Ricart-Agrawala, 8 processes, random latencies, all properties judged");
    let report = |name: &str, promise: f64, run: &dyn Fn() -> Report| {
        let (seconds, report) = best(run);
        let (steps, events) = (report.steps as f64 / seconds, report.meter.events as f64 / seconds);
        let kept = if events >= promise { "kept" } else { "NOT KEPT" };
        println!(
            "  {name:<34} {:>6.2} M steps/s {:>6.2} M events/s   promise {} M events/s: {kept}",
            steps / 1e6,
            events / 1e6,
            promise / 1e6,
        );
    };
    report("untraced", 6.5e6, &|| simulate(10_000, None));
    report("traced, hashed", 2e6, &|| simulate(5_000, Some(&mut Digest::default())));
    report("traced, to a file", 2e6, &|| traced_to_file(5_000));
    report("10,000 processes, 40 entries", 1e6, &|| crowd(40));
    report("10,000 processes in a ring", 1e6, &large_ring);
    report("128 members of a group service", 0.5e6, &large_group);

    explorers();
    costs_of_a_step();

    println!("\nPeers, on the same class of machine");
    for (name, figure) in PEERS {
        println!("  {name:<54} {figure}");
    }
}

fn traced_to_file(entries_each: u32) -> Report {
    let path = std::env::temp_dir().join(format!("synod-bench-{}.jsonl", std::process::id()));
    let file = std::fs::File::create(&path).expect("the temporary directory can be written");
    let mut sink = Jsonl::new(std::io::BufWriter::with_capacity(1 << 20, file));
    let report = simulate(entries_each, Some(&mut sink));
    std::fs::remove_file(&path).expect("it was just written");
    report
}

/// Instructions by callgrind, and memory, each in a process of its own.
fn costs_of_a_step() {
    let myself = std::env::current_exe().expect("this program runs");
    let crowd = Command::new(&myself).args(["once", "crowd", "40"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&crowd.stdout).into_owned();
    let peak: u64 = text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    let kept = if peak <= 300 { "kept" } else { "NOT KEPT" };
    println!("\nMemory: 10,000 processes {peak} MiB at most; promise 300 MiB: {kept}");
    for (name, small, large) in [("simulate", 200, 1_200), ("explore", 2_000, 60_000)] {
        // The difference of two sizes: what it costs to start is not counted.
        match (instructions(&myself, name, small), instructions(&myself, name, large)) {
            (Some((few, a)), Some((many, b))) => {
                println!("Instructions a step, {name}: {}", (b - a) / (many - few));
            }
            _ => println!("Instructions a step, {name}: install valgrind to have them counted"),
        }
    }
}

fn instructions(program: &std::path::Path, workload: &str, size: u32) -> Option<(u64, u64)> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["once", workload, &size.to_string()])
        .output()
        .ok()?;
    let steps = String::from_utf8_lossy(&output.stdout).split_whitespace().next()?.parse().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = errors.lines().find(|line| line.contains("Collected"))?;
    Some((steps, line.rsplit(' ').next()?.parse().ok()?))
}
