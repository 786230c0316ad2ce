//! A replicated store of real processes, with their disks.

use crate::{kill, passes, run};
use synod_core::card::{Crashes, Rounds};
use synod_core::family::replication::ANSWERED;
use synod_core::{Algorithm, Setup};
use synod_net::{Fate, Kill, Launch};
use synod_protocols::replication::{MultiPaxos, Pbft, Raft};
use synod_sim::network::Delay;
use synod_sim::{Ended, Options, Plan};

/// The two clients of each process make this many requests together. The pause before each makes
/// the run last at least a second, so that the kills hit it.
const REQUESTS: u32 = 200;
const PAUSE: Delay = Delay::Constant(5_000);

/// The smallest group that survives the death of one process.
fn size<A: Algorithm>() -> usize {
    if A::CARD.tolerates.crashes == Crashes::Third { 4 } else { 3 }
}

/// A run of the smallest group with these kills.
fn launch<A: Algorithm>(kills: Vec<Kill>) -> Launch {
    let n = size::<A>();
    let quick = [("clients", "2"), ("patience", "300"), ("election", "100"), ("heartbeat", "20")];
    let known = |name: &str| A::CARD.parameters.iter().any(|parameter| parameter.name == name);
    let quick = quick.into_iter().filter(|(name, _)| known(name));
    let setup = quick.fold(Setup::new(n), |setup, (name, value)| setup.with(name, value));
    let plan = Plan { setup, ..Plan::new(n, Rounds::Times(REQUESTS)) };
    let mut options = Options::new(plan, 7);
    options.think = PAUSE;
    options.network.latency = Delay::Constant(0);
    Launch { algorithm: A::CARD.name.to_owned(), options, ..crate::launch(1, kills) }
}

fn spoilt(who: u32, at_ms: u64, back_ms: u64, disk: Fate) -> Kill {
    Kill { disk, ..kill(who, at_ms, back_ms) }
}

/// A kill without a restart.
fn dies(who: u32, at_ms: u64) -> Kill {
    Kill { back_us: None, ..kill(who, at_ms, at_ms) }
}

pub(crate) fn a_store_on_raft_survives_the_death_of_anybody_and_is_linearizable() {
    survives_the_death_of_anybody::<Raft>();
}

pub(crate) fn a_store_on_multi_paxos_survives_the_death_of_anybody_and_is_linearizable() {
    survives_the_death_of_anybody::<MultiPaxos>();
}

pub(crate) fn a_store_on_pbft_survives_the_death_of_anybody_and_is_linearizable() {
    survives_the_death_of_anybody::<Pbft>();
}

fn survives_the_death_of_anybody<A: Algorithm>() {
    // One process after the other, so that the leader is killed, too.
    let kills = vec![kill(0, 300, 400), kill(1, 600, 700), kill(2, 900, 900)];
    let real = passes::<A>(&launch::<A>(kills));
    // The open requests of a killed process are not answered.
    let (answered, all) = (real.report.meter.operations, size::<A>() as u64 * 200);
    assert!((all - 6..=all).contains(&answered), "{answered} of {all} were answered");
}

pub(crate) fn a_torn_record_is_cut_off_and_what_is_missing_comes_from_the_others() {
    // After the second death a majority needs p2, whose record was torn.
    let kills = vec![spoilt(2, 300, 500, Fate::Torn), dies(1, 800)];
    let real = run::<Raft>(&launch::<Raft>(kills)).expect("the run can be judged");
    assert_eq!(real.report.violations, []);
    assert_eq!(real.report.ended, Ended::Quiet, "{:?}", real.facts.notes);
    let notes = real.facts.notes.join("; ");
    assert!(notes.contains("at p2: ") && notes.contains("bytes that were never safe"), "{notes}");
}

pub(crate) fn a_disk_with_a_flipped_bit_is_refused_and_the_others_go_on() {
    let kills = vec![spoilt(2, 300, 500, Fate::Flipped)];
    let real = run::<Raft>(&launch::<Raft>(kills)).expect("the run can be judged");
    assert_eq!(real.report.violations, []);
    assert_eq!(real.report.ended, Ended::Quiet, "{:?}", real.facts.notes);
    let notes = real.facts.notes.join("; ");
    for part in
        ["at p2: ", "p2.disk", ".wal is damaged at byte", "or remove it, and let the member"]
    {
        assert!(notes.contains(part), "{notes}");
    }
}

pub(crate) fn who_has_lost_its_disk_does_not_vote() {
    for (disk, expected) in [(Fate::Kept, vec![]), (Fate::Lost, vec![ANSWERED])] {
        // p0 is dead in the end, so a leader needs the votes of both p1 and p2.
        let kills = vec![spoilt(2, 300, 350, disk), dies(0, 450), kill(1, 500, 550)];
        let real = run::<Raft>(&launch::<Raft>(kills)).expect("the run can be judged");
        let violations = real.report.violations.iter();
        let violated: Vec<&str> = violations.map(|(violation, _)| violation.property).collect();
        assert_eq!(violated, expected, "{disk:?}: {:?}", real.facts.notes);
    }
}
