//! Real processes of a durable algorithm that are killed and come back.
//!
//! This program is its own member: started with the word `member` it is a process of the group,
//! else it runs the tests, those whose names contain a word that is given.

mod keeper;
mod store;

use keeper::Keeper;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Duration;
use synod_core::card::{Load, Rounds};
use synod_core::{Algorithm, ProcessId};
use synod_net::{Control, Fate, Kill, Launch, Medium, NetError, Real, serve};
use synod_protocols::replication::{MultiPaxos, Pbft, Raft};
use synod_sim::network::Delay;
use synod_sim::{Ended, Options, Plan};

const TESTS: &[(&str, fn())] = &[
    ("who_writes_and_is_not_killed_just_runs", who_writes_and_is_not_killed_just_runs),
    (
        "a_keeper_that_is_killed_comes_back_with_its_disk",
        a_keeper_that_is_killed_comes_back_with_its_disk,
    ),
    ("everybody_may_be_killed_at_any_time", everybody_may_be_killed_at_any_time),
    (
        "without_fsync_the_death_of_a_process_loses_nothing",
        without_fsync_the_death_of_a_process_loses_nothing,
    ),
    ("on_udp_nobody_comes_back", on_udp_nobody_comes_back),
    (
        "a_store_on_raft_survives_the_death_of_anybody_and_is_linearizable",
        store::a_store_on_raft_survives_the_death_of_anybody_and_is_linearizable,
    ),
    (
        "a_store_on_multi_paxos_survives_the_death_of_anybody_and_is_linearizable",
        store::a_store_on_multi_paxos_survives_the_death_of_anybody_and_is_linearizable,
    ),
    (
        "a_store_on_pbft_survives_the_death_of_anybody_and_is_linearizable",
        store::a_store_on_pbft_survives_the_death_of_anybody_and_is_linearizable,
    ),
    (
        "a_torn_record_is_cut_off_and_what_is_missing_comes_from_the_others",
        store::a_torn_record_is_cut_off_and_what_is_missing_comes_from_the_others,
    ),
    (
        "a_disk_with_a_flipped_bit_is_refused_and_the_others_go_on",
        store::a_disk_with_a_flipped_bit_is_refused_and_the_others_go_on,
    ),
    ("who_has_lost_its_disk_does_not_vote", store::who_has_lost_its_disk_does_not_vote),
];

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if words == ["member"] {
        return member();
    }
    let wanted = |name: &str| words.iter().all(|word| name.contains(word));
    let mut failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
        let passed = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    ExitCode::from(u8::from(failed > 0))
}

fn member() -> ExitCode {
    let served = Control::of_member().and_then(|mut control| {
        let config = control.configuration()?;
        match config.algorithm.as_str() {
            "keeper" => serve::<Keeper>(&config, control),
            "raft" => serve::<Raft>(&config, control),
            "pbft" => serve::<Pbft>(&config, control),
            _ => serve::<MultiPaxos>(&config, control),
        }
    });
    ExitCode::from(u8::from(served.is_err()))
}

fn kill(who: u32, at_ms: u64, back_ms: u64) -> Kill {
    let (at_us, back_us) = (at_ms * 1_000, Some(back_ms * 1_000));
    Kill { who: ProcessId(who), at_us, back_us, disk: Fate::Kept }
}

/// A run of the keeper and two clients, each with this many requests.
fn launch(rounds: u32, kills: Vec<Kill>) -> Launch {
    let mut options = Options::new(Plan::new(3, Rounds::Times(rounds)), 7);
    options.load = Load::Saturated;
    options.hold = Delay::Constant(1_000);
    options.network.latency = Delay::Constant(0);
    Launch {
        program: std::env::current_exe().expect("this program is somewhere"),
        arguments: vec!["member".to_owned()],
        algorithm: "keeper".to_owned(),
        options,
        medium: Medium::Tcp,
        timeout: Duration::from_secs(60),
        kills,
        fsync: true,
    }
}

fn run<A: Algorithm>(launch: &Launch) -> Result<Real, NetError> {
    launch.run::<A>(None, &mut |_| {})
}

/// Makes the run and asserts that it ended by itself without a violation.
fn passes<A: Algorithm>(launch: &Launch) -> Real {
    let real = run::<A>(launch).expect("the run can be judged");
    assert_eq!(real.report.violations, []);
    assert_eq!(real.report.ended, Ended::Quiet, "{:?}", real.facts.notes);
    // On a busy machine a process may be killed before it has begun to live again.
    let killed = launch.kills.len();
    assert!((1..=killed).contains(&real.facts.crashes.len()) || killed == 0);
    assert_eq!(real.facts.restarts.len(), killed);
    real
}

fn who_writes_and_is_not_killed_just_runs() {
    let real = passes::<Keeper>(&launch(20, Vec::new()));
    assert_eq!(real.report.meter.operations, 40);
    assert_eq!(real.facts.notes, [""; 0]);
}

fn a_keeper_that_is_killed_comes_back_with_its_disk() {
    let kills = vec![kill(0, 60, 100), kill(0, 200, 220), kill(0, 300, 300)];
    let real = passes::<Keeper>(&launch(40, kills));
    // The clients were not killed, so every request was answered.
    assert_eq!(real.report.meter.operations, 80);
}

fn everybody_may_be_killed_at_any_time() {
    let kills = (0..12).map(|number: u64| {
        let at_ms = 40 + 45 * number;
        kill((number % 3) as u32, at_ms, at_ms + number * 7 % 40)
    });
    let real = passes::<Keeper>(&launch(60, kills.collect()));
    // An application does not repeat the request that a crash cut off. Eight of the twelve crashes
    // are those of clients.
    let entries = real.report.meter.operations;
    assert!((112..=120).contains(&entries), "{entries} entries");
}

fn without_fsync_the_death_of_a_process_loses_nothing() {
    let kills = vec![kill(0, 60, 80), kill(0, 120, 130)];
    let launch = Launch { fsync: false, ..launch(40, kills) };
    assert_eq!(passes::<Keeper>(&launch).report.meter.operations, 80);
}

fn on_udp_nobody_comes_back() {
    let launch = Launch { medium: Medium::Udp, ..launch(1, vec![kill(0, 1, 2)]) };
    let error = run::<Keeper>(&launch).expect_err("its address would be another").to_string();
    assert!(error.contains("use tcp"), "{error}");
}
