//! Raft: its costs, and runs with chosen faults.

use crate::runs::{
    self, Input, around_the_hub, between_the_ends, cut, hub_with_an_old_log, links, told,
};
use crate::storms;
use synod_core::card::Load;
use synod_core::family::replication::ANSWERED;
use synod_core::replication::Invoke;
use synod_core::{ProcessId, ProcessSet, Setup};
use synod_protocols::replication::Raft;
use synod_sim::faults::Fault;
use synod_sim::trace::{Event, What};
use synod_sim::world::LinkChange;
use synod_sim::{Action, Report};

const P0: ProcessId = ProcessId(0);
const P2: ProcessId = ProcessId(2);

fn watched(
    setup: Setup,
    rounds: u32,
    faults: Vec<Fault<Input>>,
    seed: u64,
) -> (Report, Vec<Event>) {
    runs::watched::<Raft>(setup, rounds, Load::Any, faults, seed)
}

/// An operator asks every process at this time: the one that leads then obeys.
fn ask_the_leader(n: usize, at_us: u64, input: &Input) -> Vec<Fault<Input>> {
    let ask = |at| Fault::at(at_us, Action::Input { at, input: input.clone() });
    ProcessId::all(n).map(ask).collect()
}

fn change(at_us: u64, change: LinkChange) -> Fault<Input> {
    Fault::at(at_us, Action::Links(change))
}

/// Which messages of a kind were sent.
fn sent<'a>(events: &'a [Event], kind: &'a str) -> impl Iterator<Item = &'a Event> {
    events.iter().filter(move |event| event.what == What::Send && event.kind == kind)
}

/// Whether a message shows only that the leader is there.
fn is_heartbeat(event: &&Event) -> bool {
    event.text.contains("entries: []")
}

#[test]
fn in_the_steady_state_a_command_takes_an_append_to_each_of_the_others_and_its_answer() {
    for n in [1, 2, 3, 5, 7] {
        let setup = Setup::new(n).with("standing", "p0").with("askers", "p0");
        let (report, events) = runs::watched::<Raft>(setup, 20, Load::Sequential, Vec::new(), 1);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20));
        let others = n - 1;
        let heartbeats = sent(&events, "Append").filter(is_heartbeat).count();
        // A leader begins with an entry of its own.
        let appends = sent(&events, "Append").count() - heartbeats;
        assert_eq!(appends, (1 + 20) * others, "of {n}");
        assert!(n == 1 || heartbeats > 20 * others, "{heartbeats} of {n}");
        // The run ends with the last answer, and then some are still on their way.
        let received = |kind: &'static str| {
            events.iter().filter(|event| event.what == What::Receive && event.kind == kind).count()
        };
        assert_eq!(sent(&events, "Appended").count(), received("Append"), "of {n}");
    }
}

#[test]
fn an_election_takes_a_question_to_each_of_the_others_and_its_answer() {
    for n in [1, 2, 3, 5, 7] {
        for (prevote, times) in [("no", 1), ("yes", 2)] {
            // Without heartbeats: only entries show that p0 leads.
            let setup = Setup::new(n).with("standing", "p0").with("askers", "p0");
            let setup = setup.with("beats", "0").with("prevote", prevote);
            let report = runs::run::<Raft>(setup, 20, Load::Sequential, Vec::new(), 1);
            assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20));
            let others = n as u64 - 1;
            for kind in ["RequestVote", "Vote"] {
                assert_eq!(runs::sent(&report, kind), times * others, "{kind} of {n}");
            }
            assert_eq!(runs::sent(&report, "Append"), (1 + 20) * others, "of {n}");
        }
    }
}

/// When p0 was asked to read and when it answered, if it did, in microseconds.
fn reads(events: &[Event]) -> Vec<(u64, Option<u64>)> {
    let (mut reads, mut is_open) = (Vec::new(), false);
    for event in events.iter().filter(|event| event.process == Some(P0)) {
        match event.what {
            What::Input if event.text.starts_with("gets") => {
                reads.push((event.time_us, None));
                is_open = true;
            }
            What::Output if is_open && event.text.starts_with("is answered") => {
                reads.last_mut().expect("one is open").1 = Some(event.time_us);
                is_open = false;
            }
            _ => {}
        }
    }
    reads
}

/// p0 and p1 put and get the same key.
fn readers(lease: &str) -> Setup {
    let setup = Setup::new(3).with("reads", "index").with("lease", lease);
    setup.with("askers", "p0 p1").with("operations", "put-get").with("keys", "1")
}

#[test]
fn a_read_by_index_takes_a_round_of_heartbeats_and_no_place_in_the_log() {
    for n in [1, 3, 5] {
        let setup = Setup::new(n).with("standing", "p0").with("askers", "p0").with("beats", "0");
        let setup = setup.with("reads", "index").with("operations", "put-get");
        let (report, events) = runs::watched::<Raft>(setup, 20, Load::Sequential, Vec::new(), 1);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20));
        assert_eq!(sent(&events, "Append").filter(is_heartbeat).count(), 10 * (n - 1), "of {n}");
        assert_eq!(sent(&events, "Append").count(), (1 + 20) * (n - 1), "of {n}");
        let last = told(&events, "applies").last().map(|(_, _, text)| text.to_owned());
        let last = last.expect("something is applied");
        assert!(last.starts_with("applies 11:"), "{last}");
    }
}

#[test]
fn a_group_of_one_need_not_ask_again() {
    for reads in ["log", "index"] {
        let setup = Setup::new(1).with("reads", reads).with("tries", "0");
        let report = runs::run::<Raft>(setup, 20, Load::Any, Vec::new(), 1);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 20), "{reads}");
    }
}

#[test]
fn a_leader_that_is_cut_off_answers_no_read_by_index() {
    let mut waited = 0;
    for seed in 0..20 {
        let (report, events) = watched(readers("no"), 40, p0_is_cut_off(), seed);
        assert_eq!(storms::wrong(&report), None, "seed {seed}");
        for (asked, answered) in reads(&events) {
            if (CUT_US..HEALED_US).contains(&asked) {
                assert!(answered.is_none_or(|at| at > HEALED_US), "seed {seed}: asked at {asked}");
                waited += 1;
            }
        }
    }
    assert!(waited > 0);
}

const CUT_US: u64 = 2_000_000;
const HEALED_US: u64 = 4_000_000;

/// p0 leads from the end of the first second on; then it is cut off for a while.
fn p0_is_cut_off() -> Vec<Fault<Input>> {
    let alone = LinkChange::Partition(vec![vec![P0], vec![ProcessId(1), P2]]);
    let mut faults = ask_the_leader(3, 1_000_000, &Invoke::Transfer(P0));
    faults.extend([change(CUT_US, alone), change(HEALED_US, LinkChange::Heal)]);
    faults
}

#[test]
fn a_leader_with_a_lease_answers_at_once_and_without_it_no_more() {
    let (mut at_once, mut waited) = (0, 0);
    for seed in 0..20 {
        let (report, events) = watched(readers("yes"), 40, p0_is_cut_off(), seed);
        assert_eq!(storms::wrong(&report), None, "seed {seed}");
        for (asked, answered) in reads(&events) {
            match asked {
                1_200_000..CUT_US => {
                    assert_eq!(answered, Some(asked), "seed {seed}");
                    at_once += 1;
                }
                // Nine tenths of the shortest time before an election later.
                2_270_000..HEALED_US => {
                    let is_late = answered.is_none_or(|at| at > HEALED_US);
                    assert!(is_late, "seed {seed}: asked at {asked}, answered at {answered:?}");
                    waited += 1;
                }
                _ => {}
            }
        }
    }
    assert!(at_once > 0 && waited > 0, "{at_once} at once, {waited} later");
}

#[test]
fn a_leader_that_has_called_another_trusts_no_lease() {
    for seed in 0..50 {
        let mut faults = p0_is_cut_off();
        // It calls p2, and hears nothing of what comes of it; the others hear it all the time.
        faults.retain(|fault| !matches!(fault.action, Action::Links(LinkChange::Partition(_))));
        faults.extend(ask_the_leader(3, CUT_US, &Invoke::Transfer(P2)));
        let to_p0 = links(3).filter(|(_, to)| *to == P0);
        faults.extend(to_p0.map(|(from, to)| change(CUT_US + 1, LinkChange::Cut { from, to })));
        let (report, _) = watched(readers("yes"), 40, faults, seed);
        assert_eq!(storms::wrong(&report), None, "seed {seed}");
    }
}

/// Some servers crash for good after three seconds.
fn crash(those: impl Iterator<Item = u32>) -> Vec<Fault<Input>> {
    those.map(|at| Fault::at(3_000_000, Action::Crash(ProcessId(at)))).collect()
}

/// Whether every client is answered, if nothing else is wrong.
fn is_answered(report: &Report) -> bool {
    let others = report.violations.iter().find(|(found, _)| found.property != ANSWERED);
    assert_eq!(others, None);
    report.violations.is_empty()
}

#[test]
fn servers_that_come_to_vote_carry_on_when_some_who_voted_before_are_gone() {
    let setup = || Setup::new(5).with("voters", "p0 p1 p2").with("askers", "p3 p4");
    let all = Invoke::Reconfigure(ProcessSet::all(5));
    for seed in 0..20 {
        let mut faults = ask_the_leader(5, 1_500_000, &all);
        faults.extend(crash(0..2));
        let (report, _) = watched(setup(), 30, faults, seed);
        assert!(is_answered(&report), "seed {seed}: {:?}", report.violations);
        let (report, _) = watched(setup(), 30, crash(0..2), seed);
        assert!(!is_answered(&report), "seed {seed}: one of three is no majority");
    }
}

#[test]
fn servers_that_vote_no_more_are_not_missed() {
    let setup = || Setup::new(5).with("askers", "p0 p1");
    let two = Invoke::Reconfigure(ProcessSet::all(2));
    let mut new_leaders = 0;
    for seed in 0..20 {
        let mut faults = ask_the_leader(5, 1_500_000, &two);
        faults.extend(crash(2..5));
        let (report, events) = watched(setup(), 30, faults, seed);
        assert!(is_answered(&report), "seed {seed}: {:?}", report.violations);
        // A leader that loses its vote leads until the change is committed.
        new_leaders += told(&events, "leads").filter(|(_, at_us, _)| *at_us > 1_500_000).count();
        let (report, _) = watched(setup(), 30, crash(2..5), seed);
        assert!(!is_answered(&report), "seed {seed}: two of five are no majority");
    }
    assert!(new_leaders > 0);
}

#[test]
fn a_leader_hands_over_and_no_server_waits_for_an_election() {
    // Only p0 would stand by itself.
    let setup = Setup::new(5).with("standing", "p0");
    let faults = ask_the_leader(5, 1_500_000, &Invoke::Transfer(P2));
    let (report, events) = watched(setup, 20, faults, 1);
    assert_eq!((storms::wrong(&report), report.meter.operations), (None, 100));
    let leaders: Vec<_> = told(&events, "leads").collect();
    let [(P0, _, "leads in term 1"), (P2, at_us, "leads in term 2")] = leaders[..] else {
        panic!("{leaders:?}");
    };
    // The log may have to get there first, and back; then the call, the question and the vote.
    assert!((1_503_000..=1_505_000).contains(&at_us), "at {at_us}");
}

#[test]
fn a_server_that_was_away_gets_the_state_in_the_place_of_entries_that_no_server_has() {
    for disk in [true, false] {
        let setup = Setup::new(3).with("standing", "p0").with("askers", "p0").with("snapshot", "3");
        let faults = vec![
            Fault::at(1_000_000, Action::Crash(P2)),
            Fault::at(4_000_000, Action::Restart { at: P2, disk }),
        ];
        let (report, events) = watched(setup, 40, faults, 1);
        assert_eq!((storms::wrong(&report), report.meter.operations), (None, 40));
        let installs: Vec<_> = sent(&events, "Install").map(|event| event.peer).collect();
        assert_eq!(installs, [Some(P2)]);
        let at_p2 = |words: &'static str| {
            let told = told(&events, words);
            told.filter(|(at, at_us, _)| *at == P2 && *at_us > 4_000_000)
        };
        let restored = at_p2("has the state after").last().expect("it gets the state").2;
        let (_, index) = restored.rsplit_once(' ').expect("it says which");
        let next = index.parse::<u64>().expect("that is a number") + 1;
        let applied = at_p2("applies").next().expect("it goes on").2;
        assert!(applied.starts_with(&format!("applies {next}:")), "{restored}, then {applied}");
    }
}

fn all_are_answered(setup: &Setup, faults: impl Fn() -> Vec<Fault<Input>>) {
    runs::all_are_answered::<Raft>(setup, "Append", faults);
}

#[test]
fn the_only_server_that_hears_a_majority_comes_to_lead_although_it_hears_the_old_leader() {
    all_are_answered(&Setup::new(5), || cut(around_the_hub(5)));
}

#[test]
fn a_leader_that_hears_no_other_gives_way() {
    let setup = Setup::new(3).with("askers", "p1 p2");
    all_are_answered(&setup, || cut(links(3).filter(|(_, to)| *to == P0)));
}

#[test]
fn the_only_server_that_hears_a_majority_does_not_lead_while_its_log_is_old() {
    for seed in 0..20 {
        // p0 leads when it crashes: otherwise the leader would first tell the hub what it lacks.
        let mut faults = ask_the_leader(5, 900_000, &Invoke::Transfer(P0));
        faults.extend(hub_with_an_old_log(0));
        let (report, events) = watched(Setup::new(5), 20, faults.clone(), seed);
        assert!(!is_answered(&report), "seed {seed}");
        let later = told(&events, "leads").filter(|(_, at_us, _)| *at_us > 1_000_000);
        assert_eq!(later.count(), 0, "seed {seed}");
        faults.push(change(3_000_000, LinkChange::Heal));
        let (report, _) = watched(Setup::new(5), 20, faults, seed);
        assert_eq!(storms::wrong(&report), None, "seed {seed}");
    }
}

#[test]
fn a_leader_that_a_majority_hears_stays_though_one_process_does_not_hear_it() {
    let leaders = |prevote: &str, chain: bool| {
        let runs = (0..20).map(|seed| {
            let setup = Setup::new(3).with("askers", "p1").with("prevote", prevote);
            let faults = if chain { cut(between_the_ends()) } else { Vec::new() };
            let (report, events) = watched(setup, 20, faults, seed);
            assert_eq!(storms::wrong(&report), None, "seed {seed}");
            told(&events, "leads").count()
        });
        runs.sum::<usize>()
    };
    assert_eq!(leaders("yes", true), leaders("yes", false));
    // Without asking first, one end overthrows the other, until the one leads whom both hear.
    let (disturbed, quiet) = (leaders("no", true), leaders("no", false));
    assert!(disturbed > quiet, "{disturbed} and {quiet}");
}
