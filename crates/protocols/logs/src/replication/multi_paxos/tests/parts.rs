//! States that are larger than a message.

use super::*;
use std::collections::VecDeque;
use synod_core::durable::encoded_len;

/// Parts have about this many bytes here.
const PART: usize = 64;

fn small_parts() -> Settings {
    Settings { part_bytes: PART, ..settings() }
}

fn large() -> State {
    (0..1_000).map(|key| (key, 7)).collect()
}

fn is_writing(effects: &Effects) -> bool {
    let is_timer = |effect: &_| matches!(effect, Effect::SetTimer { timer: Timer::Snapshot, .. });
    effects.iter().any(is_timer)
}

/// A process that knows places 1 to 3 to be chosen, has a vote at place 4, and takes a snapshot
/// after place 2.
fn with_snapshot() -> (Watched, bool) {
    let mut p0 = Watched::with(0, small_parts());
    p0.hears(1, accept(SECOND, 0, &[1, 2, 3, 4], 0));
    p0.hears(1, Message::Heartbeat { ballot: SECOND, commit: 3, round: 1 });
    let ask = Ask::Compact { index: 2, state: large() };
    let effects = p0.step(|process, cx| process.on_input(ask, cx));
    (p0, is_writing(&effects))
}

fn write_all(watched: &mut Watched) {
    while is_writing(&watched.step(|process, cx| process.on_timer(Timer::Snapshot, cx))) {}
}

#[test]
fn a_large_state_is_written_in_small_records_and_what_comes_meanwhile_is_kept() {
    let (mut p0, goes_on) = with_snapshot();
    assert!(goes_on);
    p0.hears(1, accept(SECOND, 4, &[5], 3));
    let again = p0.replayed();
    assert_eq!((again.log.first_kept(), again.log.votes().len()), (0, 2), "the old log is there");
    write_all(&mut p0);
    assert!(p0.process.writing.is_none());
    assert!(p0.disk.len() > 30 && p0.disk.iter().all(|record| record.0.len() < 2 * PART));
    let again = p0.replayed();
    assert_eq!((&again.log, again.promised), (&p0.process.log, Some(SECOND)));
    assert_eq!((again.log.first_kept(), again.log.commit()), (2, 3));
}

/// Lets p0 bring p2 up to date; how many parts were sent, and the largest.
fn bring_up(p0: &mut Watched, p2: &mut Watched, lost: &[usize]) -> (usize, usize) {
    let (mut parts, mut largest, mut mail) = (0, 0, VecDeque::new());
    for round in 2..200 {
        // p1 leads, and p2 takes what it lacks from p0.
        let beat = Message::Heartbeat { ballot: SECOND, commit: 3, round };
        let asked = sent(p2.hears(1, beat)).into_iter();
        mail.extend(
            asked.filter(|(_, m)| !matches!(m, Message::Alive { .. })).map(|(_, m)| (0, m)),
        );
        while let Some((to, message)) = mail.pop_front() {
            if let Message::InstallPart { .. } = message {
                parts += 1;
                largest = largest.max(encoded_len(&message));
                if lost.contains(&parts) {
                    continue;
                }
            }
            match to {
                0 => mail.extend(sent(p0.hears(2, message))),
                _ => mail.extend(sent(p2.hears(0, message))),
            }
        }
    }
    (parts, largest)
}

#[test]
fn a_learner_that_is_behind_gets_a_large_state_in_parts_and_then_what_is_chosen_after_it() {
    for lost in [&[][..], &[1], &[7, 9], &[40, 41]] {
        let (mut p0, _) = with_snapshot();
        let mut p2 = Watched::with(2, small_parts());
        let (parts, largest) = bring_up(&mut p0, &mut p2, lost);
        assert!(parts > 30 && largest < 2 * PART, "{parts} parts, the largest of {largest} bytes");
        let Snapshot { index, state } = p2.process.log.snapshot();
        assert_eq!((*index, state.as_ref()), (2, Some(&large())), "{lost:?}");
        assert_eq!((p2.commit(), p2.process.applied), (3, 3), "{lost:?}");
        assert!(p2.disk.iter().all(|record| record.0.len() < 2 * PART));
    }
}
