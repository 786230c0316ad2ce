//! Chang and Roberts: the number of messages of an election.

use crate::rings::{HOP_US, all_rings, ascending, descending, elect, ring, sent, shuffled};
use synod_core::{Algorithm, Effect, ProcessId, Protocol, Setup, SetupError, step};
use synod_protocols::election::ChangRoberts;
use synod_protocols::election::chang_roberts::Message;

/// The number of messages if only the process d hops before the greatest starts.
fn one_starts(n: usize, d: usize) -> (u64, u64) {
    let starter = (2 * n - 1 - d) % n;
    let setup = ring(&ascending(n)).with("starters", &format!("p{starter}"));
    let report = elect::<ChangRoberts>(setup);
    (report.meter.messages, report.time_us / HOP_US)
}

#[test]
fn one_that_starts_d_hops_before_the_greatest_causes_2n_plus_d_messages_one_after_the_other() {
    for n in 2..=12 {
        for d in 0..n {
            let count = (2 * n + d) as u64;
            assert_eq!(one_starts(n, d), (count, count), "n = {n}, d = {d}");
        }
    }
}

#[test]
fn the_worst_start_is_just_behind_the_greatest_and_takes_3n_minus_1_messages() {
    let worst = |n| (0..n).map(|d| one_starts(n, d).0).max();
    for n in 2..=12 {
        assert_eq!(worst(n), Some(3 * n as u64 - 1));
    }
}

#[test]
fn if_all_start_ascending_rings_are_the_best_and_descending_rings_the_worst() {
    for n in 2..=7 {
        let counts: Vec<u64> = all_rings(n)
            .iter()
            .map(|ids| elect::<ChangRoberts>(ring(ids)).meter.messages)
            .collect();
        let count = |ids: Vec<u64>| elect::<ChangRoberts>(ring(&ids)).meter.messages;
        let n64 = n as u64;
        assert_eq!(counts.iter().min(), Some(&(3 * n64 - 1)));
        assert_eq!(count(ascending(n)), 3 * n64 - 1);
        assert_eq!(counts.iter().max(), Some(&(n64 * (n64 + 1) / 2 + n64)));
        assert_eq!(count(descending(n)), n64 * (n64 + 1) / 2 + n64);
    }
}

/// N·H(N) + N.
fn mean_formula(n: usize) -> f64 {
    let harmonic: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
    n as f64 * harmonic + n as f64
}

#[test]
fn over_all_rings_the_mean_is_n_times_the_harmonic_number_plus_n_exactly() {
    for n in 2..=7 {
        let rings = all_rings(n);
        let counts = rings.iter().map(|ids| elect::<ChangRoberts>(ring(ids)).meter.messages);
        let mean = counts.sum::<u64>() as f64 / rings.len() as f64;
        assert!((mean - mean_formula(n)).abs() < 1e-9, "n = {n}: {mean}");
    }
}

#[test]
fn over_a_thousand_random_rings_the_mean_is_within_two_percent_of_the_formula() {
    for n in [16, 50, 100] {
        let count = |seed| elect::<ChangRoberts>(ring(&shuffled(n, seed))).meter.messages;
        let mean = (0..1_000).map(count).sum::<u64>() as f64 / 1_000.0;
        let ratio = mean / mean_formula(n);
        assert!((0.98..1.02).contains(&ratio), "n = {n}: {mean}, {ratio}");
    }
}

#[test]
fn if_all_start_everything_is_over_after_2n_hops() {
    for n in 2..=7 {
        for ids in all_rings(n) {
            let report = elect::<ChangRoberts>(ring(&ids));
            assert!(report.time_us <= 2 * n as u64 * HOP_US, "{ids:?}");
        }
    }
}

#[test]
fn however_many_start_there_is_one_round_of_news() {
    for ids in all_rings(6) {
        assert_eq!(sent(&elect::<ChangRoberts>(ring(&ids)), "Elected"), 6);
    }
}

#[test]
fn the_order_of_the_ring_need_not_be_that_of_the_names() {
    let setup = ring(&[2, 1, 3]).with("ring", "p1 p0 p2");
    assert_eq!(elect::<ChangRoberts>(setup).meter.messages, 3 * 3 - 1);
}

#[test]
fn alone_one_is_elected_without_a_message() {
    let report = elect::<ChangRoberts>(Setup::new(1));
    assert_eq!((report.meter.messages, report.meter.operations), (0, 1));
}

#[test]
fn accuses_who_sends_against_the_direction_of_the_ring() {
    let mut group = ChangRoberts::processes(&Setup::new(3)).expect("a ring");
    let said = step(ProcessId(0), 3, |cx| {
        group[0].on_message(ProcessId(1), Message::Election(9), cx);
    });
    let why = "sent against the direction of the ring";
    assert_eq!(said, [Effect::Accuse { who: ProcessId(1), why }]);
}

#[test]
fn refuses_an_order_that_is_not_a_ring_and_identifiers_that_are_not_one_for_each() {
    for (name, value) in
        [("ring", "p0 p1"), ("ring", "p0 p1 p1"), ("ids", "1 2"), ("starters", "p3")]
    {
        let refused = ChangRoberts::processes(&Setup::new(3).with(name, value));
        assert!(matches!(refused, Err(SetupError::BadParameter { .. })), "{name}: {value}");
    }
}
