//! `synod run --on`: the same algorithms as separate processes on real sockets.

use crate::synod::{command, json, scratch, synod};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use synod_core::Card;
use synod_protocols::entries;

/// Whether every judged property holds.
fn everything_holds(run: &Value) -> bool {
    let verdicts = run["verdicts"].as_array().expect("there are verdicts");
    verdicts.iter().all(|verdict| verdict["holds"] == true)
}

fn verdict<'r>(run: &'r Value, property: &str) -> &'r Value {
    let verdicts = run["verdicts"].as_array().expect("there are verdicts");
    let found = verdicts.iter().find(|verdict| verdict["property"] == property);
    found.unwrap_or_else(|| panic!("{property} is not judged in {run}"))
}

/// The command lines for every algorithm of a family, but for the mutants. A busy machine is not
/// always quick: an algorithm that must know a bound on latency gets one that is never exceeded.
fn family(name: &str) -> Vec<String> {
    let entries = entries().into_iter();
    let sound = entries.filter(|entry| entry.family == name && entry.card.mutant.is_none());
    let line = |card: &Card| {
        let waits = card.parameters.iter().any(|parameter| parameter.name == "delay");
        let delay = if waits { " --param delay=400" } else { "" };
        format!("run {}{delay} -n 3 --requests 9 --think 1ms..5ms", card.name)
    };
    sound.map(|entry| line(&entry.card)).collect()
}

/// Runs every algorithm of a family over TCP.
fn all_hold_on_tcp(name: &str) {
    let lines = family(name);
    assert!(!lines.is_empty(), "there is no family {name}");
    for line in lines {
        let run = json(&format!("{line} --on tcp"));
        assert!(everything_holds(&run), "{line}: {run}");
        assert_ne!(run["ended"], "cut", "{line}: {run}");
        assert!(run["operations"].as_u64() > Some(0), "{line}: {run}");
    }
}

#[test]
fn a_real_run_is_told_as_a_simulated_one_and_with_its_speed() {
    let run = json("run ricart-agrawala -n 3 --requests 30 --think 1ms --on tcp");
    assert!(everything_holds(&run), "{run}");
    assert_eq!((&run["on"], &run["ended"]), (&"tcp".into(), &"quiet".into()));
    assert_eq!((&run["operations"], &run["messages"]["total"]), (&30.into(), &120.into()));
    let network = &run["network"];
    assert!(network["messages_per_second"].as_f64() > Some(0.0), "{run}");
    assert!(network["bytes_per_message"].as_f64() > Some(0.0), "{run}");
    assert!(network["latency_us"]["p99"].as_u64() >= network["latency_us"]["p50"].as_u64());
    assert!(network["latency_us"]["p50"].as_u64() > Some(0), "{run}");
}

#[test]
fn every_mutual_exclusion_holds_what_it_promises_on_tcp() {
    all_hold_on_tcp("mutual exclusion");
}

#[test]
fn every_election_holds_what_it_promises_on_tcp() {
    all_hold_on_tcp("election");
}

#[test]
fn every_multicast_holds_what_it_promises_on_tcp() {
    all_hold_on_tcp("multicast");
}

/// Three members claim two slots, so most claims wait for a release on the other side of a socket.
#[test]
fn claims_of_a_pool_wait_for_their_slots_on_tcp() {
    // The donors of `repaired` keep their last free slots, so claims of a small pool may time out.
    for (rules, wait_ms, served) in [("offers", 5_000, Some(12)), ("repaired", 200, None)] {
        let pool = format!("--param rules={rules} --param slots=2 --param wait={wait_ms}");
        let run = json(&format!("run slots -n 3 --requests 12 --think 1ms..5ms {pool} --on tcp"));
        assert!(everything_holds(&run), "{rules}: {run}");
        assert_eq!(run["ended"], "quiet", "{rules}: {run}");
        if let Some(served) = served {
            assert_eq!(run["operations"], served, "{rules}: {run}");
        }
    }
}

#[test]
fn a_multicast_that_loses_nothing_on_udp_holds_what_it_promises() {
    for line in family("multicast") {
        let run = json(&format!("{line} --on udp"));
        assert!(everything_holds(&run) || run["lost"].as_u64() > Some(0), "{line}: {run}");
        assert!(run["operations"].as_u64() > Some(0), "{line}: {run}");
    }
}

#[test]
fn a_benchmark_tells_speed_latency_and_bytes_of_each_layer() {
    let rows = json("bench --only basic-multicast -n 3 --requests 60 --runs 1 --payload 64");
    let rows = rows.as_array().expect("it is a list");
    assert_eq!(rows.iter().map(|row| &row["on"]).collect::<Vec<_>>(), ["tcp", "udp"]);
    for row in rows {
        assert!(row["multicasts_per_second"].as_f64() > Some(0.0), "{row}");
        assert!(row["p99_us"].as_u64() >= row["p50_us"].as_u64(), "{row}");
        assert!(row["bytes_per_multicast"].as_f64() > Some(64.0), "{row}");
    }
    assert_eq!(rows[0]["messages_per_multicast"], 2.0);
}

#[test]
fn a_benchmark_of_a_store_tells_speed_and_latency_beside_what_the_machine_needs() {
    let rows = json("bench --only raft --clients 1,7 --requests 60 --runs 1");
    let rows = rows.as_array().expect("it is a list");
    let told = |row: &Value| (row["fsync"].as_bool(), row["clients"].as_u64());
    let cases = [true, false].map(|fsync| [1, 6].map(|clients| (Some(fsync), Some(clients))));
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), cases.concat());
    for row in rows {
        assert_eq!((&row["holds"], &row["processes"]), (&true.into(), &3.into()), "{row}");
        assert!(row["commands_per_second"].as_f64() > Some(0.0), "{row}");
        assert!(row["p99_us"].as_u64() >= row["p50_us"].as_u64(), "{row}");
        assert!(row["floor_us"].as_u64() > Some(0), "{row}");
    }
}

#[test]
fn a_server_with_a_damaged_disk_is_refused_and_the_store_goes_on() {
    let line = "run raft -n 3 --requests 300 --think 5ms --on tcp --kill p2@300ms..500ms,flipped";
    let run = json(line);
    assert!(everything_holds(&run), "{run}");
    let notes = run["network"]["notes"].to_string();
    for part in ["at p2: ", "p2.disk", ".wal is damaged at byte", "let the member join again"] {
        assert!(notes.contains(part), "{notes}");
    }
}

#[test]
fn a_multicast_on_udp_is_one_datagram_for_all() {
    let run = json("run ricart-agrawala -n 4 --requests 12 --think 1ms..5ms --on udp");
    assert_eq!(run["on"], "udp");
    assert!(everything_holds(&run) || run["lost"].as_u64() > Some(0), "{run}");
    if run["network"]["ip_multicast"] == true {
        assert_eq!(run["messages"]["by_type"]["Request"], run["operations"], "{run}");
    } else {
        let notes = run["network"]["notes"].to_string();
        assert!(notes.contains("IP multicast does not work here"), "{notes}");
    }
}

#[test]
fn a_server_that_is_killed_leaves_the_others_waiting_and_a_report_that_says_so() {
    let line = "run central-server -n 3 --requests 3000 --think 1ms --hold 1ms --on tcp";
    let run = json(&format!("{line} --kill p0@100ms"));
    let crashes = run["network"]["crashes"].as_array().expect("it is a list");
    assert_eq!((crashes.len(), &crashes[0]["process"]), (1, &"p0".into()));
    assert_eq!(verdict(&run, "ME1")["holds"], true);
    let liveness = verdict(&run, "ME2");
    assert_eq!(liveness["holds"], false);
    let because = liveness["because"].as_str().expect("it says why");
    assert!(because.ends_with("waits, and nothing can happen any more"), "{because}");
    assert!(run["lost"].as_u64() > Some(0), "what was sent to the dead is lost: {run}");
}

#[test]
fn what_must_come_true_after_a_crash_is_judged_only_when_there_was_time_for_it() {
    let kill = "-n 4 --on tcp --param delay=300 --param period=20 --kill p3@300ms";
    for (name, property) in [
        ("perfect", "FD1"),
        ("eventually-perfect --param step=20", "FD1"),
        ("luis", "E1"),
        ("bully --param detector=perfect --param startup=election", "E1"),
    ] {
        let run = json(&format!("run {name} {kill}"));
        assert_eq!(run["network"]["crashes"][0]["process"], "p3", "{run}");
        assert_eq!(verdict(&run, property)["holds"], true, "{name}: {run}");
    }
}

#[test]
fn a_run_that_is_cut_off_before_a_crash_can_be_noticed_decides_nothing_about_it() {
    let line = "run eventually-perfect -n 3 --on tcp --param delay=20000 --kill p2@100ms";
    let ran = synod(&format!("{line} --timeout 600ms -o json"));
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let run = ran.json();
    assert!(verdict(&run, "FD1")["holds"].is_null(), "{run}");
    let because = verdict(&run, "FD1")["because"].to_string();
    assert!(because.contains("the run was cut off"), "{because}");
}

/// A run that is much longer than a test, with its files in this directory.
fn endless_in(directory: &Path, on: &str) -> Child {
    let line = format!("run central-server -n 4 --requests 1000000 --on {on} -o json");
    let mut command = command();
    command.args(line.split(' ')).stdout(Stdio::piped()).env("TMPDIR", directory);
    command.spawn().expect("the command can be run")
}

fn endless(on: &str) -> Child {
    endless_in(&std::env::temp_dir(), on)
}

/// The processes that a process has started.
fn children(of: &Child) -> Vec<u32> {
    let listed = Command::new("ps").args(["-o", "pid=", "--ppid", &of.id().to_string()]).output();
    let listed = String::from_utf8(listed.expect("ps can be run").stdout).expect("numbers");
    listed.split_whitespace().map(|pid| pid.parse().expect("a number")).collect()
}

fn kill(pid: u32) {
    signal("-KILL", pid);
}

fn signal(which: &str, pid: u32) {
    let killed = Command::new("kill").args([which, &pid.to_string()]).status();
    assert!(killed.expect("kill can be run").success());
}

/// Waits until the condition is true, within a bound.
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_true() {
        assert!(Instant::now() < until, "it never came true that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_process_that_is_killed_from_outside_has_crashed() {
    let run = endless("tcp");
    wait_until("there are four processes", || children(&run).len() == 4);
    std::thread::sleep(Duration::from_millis(500));
    // The first is the server: without it the run comes to its end.
    kill(children(&run)[0]);
    let told = run.wait_with_output().expect("it ends").stdout;
    let run: Value = serde_json::from_slice(&told).expect("it tells what it can");
    assert_eq!(run["network"]["crashes"][0]["process"], "p0", "{run}");
    assert_eq!(verdict(&run, "ME1")["holds"], true);
}

#[test]
fn no_member_outlives_its_coordinator() {
    let mut run = endless("udp");
    wait_until("there are four processes", || children(&run).len() == 4);
    let members = children(&run);
    kill(run.id());
    run.wait().expect("it was killed");
    let is_gone = |pid: &u32| !std::path::Path::new(&format!("/proc/{pid}")).exists();
    wait_until("the members are gone", || members.iter().all(is_gone));
}

#[test]
fn a_run_that_is_interrupted_leaves_no_file() {
    let directory = scratch("real-interrupted");
    let files = || std::fs::read_dir(&directory).expect("it is there").count();
    for which in ["-INT", "-KILL"] {
        let mut run = endless_in(&directory, "tcp");
        wait_until("there are four processes", || children(&run).len() == 4 && files() == 1);
        std::thread::sleep(Duration::from_millis(300));
        signal(which, run.id());
        run.wait().expect("it was ended");
        wait_until("the files are gone", || files() == 0);
    }
}

#[test]
fn a_run_that_does_not_end_is_cut_off_at_its_limit() {
    let ran = synod("run token-ring -n 3 --requests 100000 --on tcp --timeout 300ms -o json");
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let run = ran.json();
    assert_eq!(run["ended"], "cut");
    assert_eq!(verdict(&run, "ME1")["holds"], true);
    assert!(verdict(&run, "ME2")["holds"].is_null(), "{run}");
    assert!(run["network"]["notes"].to_string().contains("the limit"), "{run}");
}

#[test]
fn what_the_shim_loses_is_lost_and_what_it_delays_is_late() {
    let run = json("run ricart-agrawala -n 3 --requests 3 --think 1ms --on tcp --loss 1");
    assert_eq!((&run["operations"], &run["lost"]), (&0.into(), &run["messages"]["total"]));
    assert_eq!(verdict(&run, "ME2")["holds"], false);
    let run = json("run central-server -n 3 --requests 4 --think 1ms --on tcp --latency 20ms");
    assert!(everything_holds(&run), "{run}");
    assert!(run["entry_us"]["min"].as_u64() >= Some(40_000), "{run}");
}

#[test]
fn a_message_that_the_shim_doubles_arrives_twice() {
    let line = "run ricart-agrawala -n 3 --requests 6 --think 1ms --on tcp --duplicate 1";
    let file = scratch("real-trace").join("run.jsonl");
    let run = json(&format!("{line} --trace {}", file.display()));
    let trace = std::fs::read_to_string(file).expect("it was written");
    assert_eq!(trace.lines().count() as u64, run["events"].as_u64().expect("a number"));
    let count = |what: &str| trace.matches(&format!("\"event\":\"{what}\"")).count();
    assert!(count("send") > 0);
    assert_eq!((count("duplicate"), count("receive")), (count("send"), 2 * count("send")));
}

#[test]
fn a_sequential_load_costs_what_the_formula_says() {
    let run = json("run central-server -n 4 --requests 9 --load sequential --think 1ms --on tcp");
    let cost = &run["costs"][0];
    assert_eq!((&cost["measured"], &cost["agrees"]), (&3.0.into(), &true.into()), "{run}");
}

#[test]
fn what_makes_no_sense_on_a_real_network_is_refused() {
    let refused = [
        ("--on pigeons", "possible values: tcp, udp"),
        ("--on tcp --crashes 1", "cannot be used with"),
        ("--on udp --order fifo", "cannot be used with"),
        ("--on tcp --seeds 3", "cannot be used with"),
        ("--on tcp --kill p9@1ms", "there is no p9; the processes are p0..p4"),
        ("--on tcp --kill 300ms", "is written 'p2@300ms'"),
        ("--on tcp --kill p2@1ms..2ms,burnt", "if it has lost its disk"),
        ("--kill p1@1ms", "--on"),
        ("--on tcp -n 65", "at most 64 processes"),
    ];
    for (flags, hint) in refused {
        let ran = synod(&format!("run ricart-agrawala {flags}"));
        assert_eq!(ran.code, Some(2), "{flags}: {}", ran.error);
        assert!(ran.error.contains(hint), "{flags}: {}", ran.error);
    }
}

#[test]
fn a_member_that_is_called_by_hand_says_who_calls_it() {
    let ran = command().arg("run-member").stdin(Stdio::null()).output().expect("it can be run");
    let said = String::from_utf8(ran.stderr).expect("it speaks UTF-8");
    assert_eq!(ran.status.code(), Some(2));
    assert!(said.contains("synod run NAME --on tcp"), "{said}");
}
