//! Permission from all others, by tickets: answers to the questions with which the course ends.

use crate::by_hand::Group;
use synod_core::{ProcessId, ProcessSet, Setup};
use synod_protocols::mutex::{RicartAgrawalaTickets, tickets};

fn set(names: &[u32]) -> ProcessSet {
    names.iter().copied().map(ProcessId).collect()
}

/// Nodes 1, 2, 3 of the course are p0, p1, p2; they hold tickets 10, 20, 15.
fn tickets_10_20_15() -> Group<RicartAgrawalaTickets> {
    let setup = Setup::new(3).with("highest", "9 19 14");
    let mut group = Group::set_up(&setup);
    for p in 0..3 {
        group.enter(p);
    }
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        group.deliver(from, to, "Request");
    }
    group
}

#[test]
fn with_tickets_10_20_15_the_first_defers_both_others_and_the_third_defers_the_second() {
    let group = tickets_10_20_15();
    let deferred: Vec<_> = group.processes.iter().map(|p| p.deferred().clone()).collect();
    assert_eq!(deferred, [set(&[1, 2]), set(&[]), set(&[1])]);
}

#[test]
fn with_tickets_10_20_15_they_enter_in_the_order_of_the_tickets() {
    let mut group = tickets_10_20_15();
    for next in [0, 2, 1] {
        group.deliver_all();
        assert_eq!(group.inside, [next].into());
        group.exit(next);
    }
    assert_eq!(group.sent, 2 * 3 * 2);
}

#[test]
fn a_history_in_which_all_enter_once_has_2n_times_n_minus_1_messages() {
    for n in 1..7 {
        let mut group = Group::<RicartAgrawalaTickets>::of(n);
        for p in 0..n as u32 {
            group.enter(p);
        }
        for entered in 1..=n {
            group.deliver_all();
            assert_eq!(group.entered.len(), entered);
            assert!(group.invariants_hold());
            group.exit(group.entered[entered - 1]);
        }
        assert_eq!(group.sent, 2 * n * (n - 1));
    }
}

#[test]
fn tickets_of_outstanding_requests_can_differ_by_n_minus_1_and_no_more() {
    let n = 5;
    let mut group = Group::<RicartAgrawalaTickets>::of(n);
    for p in 0..n as u32 {
        group.enter(p);
        if p + 1 < n as u32 {
            group.deliver(p, p + 1, "Request");
        }
    }
    let largest = group.in_flight.iter().filter_map(|(_, _, message)| match message {
        tickets::Message::Request { number } => Some(*number),
        tickets::Message::Reply => None,
    });
    assert_eq!(largest.max(), Some(1 + (n as u64 - 1)));
    assert!(group.invariants_hold());
}

#[test]
fn all_deferred_together_can_be_half_of_n_times_n_minus_1() {
    for n in 2..7 {
        let mut group = Group::<RicartAgrawalaTickets>::of(n);
        for p in 0..n as u32 {
            group.enter(p);
        }
        let requests: Vec<_> = group.in_flight.iter().map(|(f, t, _)| (f.0, t.0)).collect();
        for (from, to) in requests {
            group.deliver(from, to, "Request");
        }
        let deferred: Vec<_> = group.processes.iter().map(|p| p.deferred().len()).collect();
        assert_eq!(deferred.iter().sum::<usize>(), n * (n - 1) / 2);
        assert_eq!(deferred[0], n - 1, "the largest that one can be");
        assert_eq!(deferred[n - 1], 0, "they are never all non-empty");
    }
}

#[test]
fn a_lone_process_enters_again_with_the_same_number() {
    let mut group = Group::<RicartAgrawalaTickets>::of(2);
    for _ in 0..3 {
        group.enter(0);
        assert_eq!(group.in_flight[0].2, tickets::Message::Request { number: 1 });
        group.deliver_all();
        group.exit(0);
    }
}

#[test]
fn numbers_grow_while_there_is_contention() {
    let mut group = Group::<RicartAgrawalaTickets>::of(2);
    group.enter(0);
    let mut numbers = Vec::new();
    for round in 0..6 {
        let (holder, other) = (round % 2, (round + 1) % 2);
        group.deliver_all();
        assert_eq!(group.inside, [holder].into());
        group.enter(other);
        if let tickets::Message::Request { number } = group.in_flight[0].2 {
            numbers.push(number);
        }
        group.deliver_all();
        group.exit(holder);
    }
    assert_eq!(numbers, [2, 3, 4, 5, 6, 7]);
}
