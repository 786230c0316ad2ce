//! Section 7: snapshots, also those that are larger than a message.

use super::*;
use synod_core::durable::encoded_len;
use synod_core::replication::Outgoing;

/// Parts have about this many bytes here.
const PART: usize = 64;

fn small_parts(n: usize) -> Settings {
    Settings { part_bytes: PART, ..settings(n) }
}

/// A state of some thousand bytes.
fn state() -> Map<u16, u8> {
    (0..1_000).map(|key| (key, 7)).collect()
}

/// A leader of three, with p1's help, that has taken a snapshot of this state after entry 2 and
/// written it.
fn leader_with(state: Map<u16, u8>) -> Watched {
    let mut leader = Watched::with(P0, small_parts(3), 0, &[]);
    leader.fires(Timer::Election);
    leader.hears(P1, vote(1, true));
    leader.asked(Ask::Append(1));
    leader.hears(P1, appended(1, Outcome::Agrees(2)));
    leader.asked(Ask::Append(2));
    leader.asked(Ask::Compact { index: 2, state });
    leader
}

fn write_all(server: &mut Watched) {
    while server.timers.iter().any(|(timer, _)| *timer == Timer::Snapshot) {
        server.fires(Timer::Snapshot);
    }
}

fn is_part(message: &Said) -> bool {
    matches!(message, Message::InstallPart { .. })
}

#[test]
fn a_small_state_is_one_record_and_one_message() {
    let small: Map<u16, u8> = (0..3).map(|key| (key, 7)).collect();
    let mut leader = leader_with(small.clone());
    assert_eq!(leader.disk.len(), 1);
    assert_eq!(leader.crashed().log, leader.server.log);
    let sent = leader.hears(P2, appended(1, Outcome::Differs(0)));
    let [(P2, Message::Install { snapshot, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(snapshot.state, Some(small));
}

#[test]
fn no_record_of_a_large_state_is_large_and_the_log_goes_on_between_them() {
    let mut leader = leader_with(state());
    leader.fires(Timer::Snapshot);
    let sent = leader.asked(Ask::Append(3));
    assert_eq!(sent.len(), 2, "entries are sent while the snapshot is written");
    leader.hears(P1, appended(1, Outcome::Agrees(4)));
    assert_eq!(leader.applied(), [1, 2, 3, 4]);
    write_all(&mut leader);
    assert!(leader.disk.len() > 30, "{} records", leader.disk.len());
    assert!(leader.disk.iter().all(|record| record.0.len() < 2 * PART));
    let again = leader.crashed();
    assert_eq!(again.log, leader.server.log, "what was written meanwhile is there, too");
    assert_eq!((again.term, again.vote), (1, Some(P0)));
}

#[test]
fn a_crash_before_the_last_part_leaves_the_old_log() {
    let mut leader = leader_with(state());
    while leader.timers.iter().any(|(timer, _)| *timer == Timer::Snapshot) {
        let again = leader.crashed();
        assert_eq!((again.log.first_kept(), again.log.last()), (0, at(1, 3)));
        leader.fires(Timer::Snapshot);
    }
    assert_eq!(leader.crashed().log.first_kept(), 2);
}

#[test]
fn a_snapshot_that_is_written_after_another_takes_its_place() {
    let mut leader = leader_with(state());
    leader.asked(Ask::Compact { index: 2, state: Map::default() });
    write_all(&mut leader);
    leader.hears(P1, appended(1, Outcome::Agrees(3)));
    leader.asked(Ask::Compact { index: 3, state: state() });
    write_all(&mut leader);
    let again = leader.crashed();
    assert_eq!((again.log.first_kept(), again.log.snapshot().state.as_ref()), (3, Some(&state())));
    assert_eq!(again.log, leader.server.log);
}

/// Lets a leader bring a follower up to date. Some messages may be lost on the way. How many parts
/// were sent, and the largest.
fn bring_up(
    leader: &mut Watched,
    follower: &mut Watched,
    mut is_lost: impl FnMut(&Said) -> bool,
) -> (usize, usize) {
    let (mut parts, mut largest) = (0, 0);
    let mut mail: VecDeque<_> = leader.hears(P2, appended(1, Outcome::Differs(0))).into();
    for _ in 0..500 {
        while let Some((to, message)) = mail.pop_front() {
            if is_part(&message) {
                parts += 1;
                largest = largest.max(encoded_len(&message));
            }
            match to {
                _ if is_lost(&message) => {}
                P0 => mail.extend(leader.hears(P2, message)),
                P2 => mail.extend(follower.hears(P0, message)),
                _ => {}
            }
        }
        // p1 answers, so that the leader goes on leading.
        mail.extend(leader.fires(Timer::Heartbeat));
        let Role::Leader(leadership) = &leader.server.role else { panic!("it leads") };
        let round = leadership.round;
        let outcome = Outcome::Agrees(leader.server.log.last_index());
        mail.extend(leader.hears(P1, Message::Appended { term: 1, outcome, round }));
    }
    (parts, largest)
}

#[test]
fn a_follower_that_is_behind_gets_a_large_state_in_parts_and_then_the_entries_after_it() {
    let mut leader = leader_with(state());
    write_all(&mut leader);
    let mut follower = Watched::with(P2, small_parts(3), 1, &[]);
    let (parts, largest) = bring_up(&mut leader, &mut follower, |_| false);
    assert!(parts > 30 && largest < 2 * PART, "{parts} parts, the largest of {largest} bytes");
    let restored = Event::Restored { index: 2, state: state() };
    assert!(follower.outputs.contains(&restored));
    assert_eq!(follower.server.log, leader.server.log);
    assert_eq!(follower.crashed().log, follower.server.log);
    assert!(follower.disk.iter().all(|record| record.0.len() < 2 * PART));
    assert!(follower.accused.is_empty() && leader.accused.is_empty());
}

#[test]
fn heartbeats_go_on_between_parts_and_are_answered() {
    let mut leader = leader_with(state());
    leader.hears(P2, appended(1, Outcome::Differs(0)));
    let beats = leader.fires(Timer::Heartbeat);
    let (_, beat) = beats.iter().find(|(to, _)| *to == P2).expect("p2 gets one").clone();
    let mut follower = Watched::with(P2, small_parts(3), 1, &[]);
    let answers = follower.hears(P0, beat);
    assert_eq!(
        answers,
        [(P0, Message::Appended { term: 1, outcome: Outcome::Agrees(0), round: 1 })]
    );
    assert_eq!(follower.follows(), Some(Some(P0)));
    assert!(leader.hears(P2, answers[0].1.clone()).is_empty(), "no part is sent because of it");
}

#[test]
fn lost_parts_are_sent_again_and_a_follower_that_crashed_begins_again() {
    let mut leader = leader_with(state());
    write_all(&mut leader);
    let mut follower = Watched::with(P2, small_parts(3), 1, &[]);
    let mut number = 0;
    bring_up(&mut leader, &mut follower, |message| {
        number += usize::from(is_part(message));
        is_part(message) && number % 5 == 0
    });
    assert_eq!(follower.server.log, leader.server.log);

    let mut leader = leader_with(state());
    let mut follower = Watched::with(P2, small_parts(3), 1, &[]);
    let first = leader.hears(P2, appended(1, Outcome::Differs(0))).remove(0).1;
    let taken = follower.hears(P0, first).remove(0).1;
    let second = leader.hears(P2, taken).remove(0).1;
    follower.hears(P0, second);
    follower.server = follower.crashed();
    follower.does(|server, cx| server.on_start(cx));
    bring_up(&mut leader, &mut follower, |_| false);
    assert_eq!(follower.server.log, leader.server.log);
}

#[test]
fn a_follower_that_gets_the_entries_after_all_gives_up_the_parts_and_forgets_nothing() {
    let mut leader = leader_with(state());
    let mut follower = Watched::with(P2, small_parts(3), 1, &[]);
    let first = leader.hears(P2, appended(1, Outcome::Differs(0))).remove(0).1;
    follower.hears(P0, first);
    follower.hears(P1, append(2, at(0, 0), &[1, 1, 2], 2));
    assert_eq!((follower.terms(), follower.applied()), (vec![1, 1, 2], vec![1, 2]));
    assert_eq!(follower.crashed().log, follower.server.log);
}

/// Section 7: if the snapshot describes a prefix of the follower's log, the entries following it
/// are retained; otherwise the entire log is superseded. So it is in memory, and so it is on the
/// disk, where the records before the snapshot are forgotten.
#[test]
fn parts_leave_the_entries_that_follow_the_snapshot_also_on_the_disk() {
    for (last, kept) in [(at(1, 2), vec![2]), (at(2, 2), vec![]), (at(2, 9), vec![])] {
        let mut follower = Watched::with(P2, small_parts(3), 3, &[1, 1, 2]);
        let mut parts = Outgoing::new(state());
        let mut has_more = true;
        while has_more {
            let (voters, part) = (ProcessSet::all(3), parts.part(PART));
            let message = Message::InstallPart { term: 3, last, voters, part, round: 0 };
            follower.hears(P0, message);
            has_more = parts.advance(PART);
        }
        assert!(follower.outputs.contains(&Event::Restored { index: last.index, state: state() }));
        assert_eq!((follower.server.log.first_kept(), follower.terms()), (last.index, kept));
        assert_eq!(follower.crashed().log, follower.server.log);
    }
}
