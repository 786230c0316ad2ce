//! A token that is passed on request.

use crate::by_hand::Group;
use synod_core::{ProcessId, Protocol};
use synod_protocols::mutex::token_passing::choice::{Choice, Queue, Rotation};
use synod_protocols::mutex::token_passing::{Message, Token, TokenPassing};
use synod_protocols::mutex::{RicartAgrawalaToken, SuzukiKasami};

fn the_example_of_the_course<C: Choice>() {
    // Nodes 1, 2, 3 of the course are p0, p1, p2.
    let mut group = Group::<TokenPassing<C>>::of(3);
    group.enter(1);
    group.deliver_all();
    assert_eq!((group.entered.as_slice(), group.sent), ([1].as_slice(), 3));

    group.exit(1);
    assert_eq!(group.sent, 3, "nobody waits: the token stays");
    group.enter(1);
    assert_eq!((group.entered.as_slice(), group.sent), ([1, 1].as_slice(), 3));

    group.enter(2);
    group.deliver_all();
    assert_eq!(group.sent, 5);
    group.exit(1);
    assert_eq!(group.sent, 6);
    let (from, to, token) = group.in_flight[0].clone();
    assert_eq!((from.0, to.0), (1, 2));
    let expected = Token { granted: vec![0, 1, 0], choice: C::default() };
    assert_eq!(token, Message::Token(expected));
    group.deliver_all();
    assert_eq!(group.entered, [1, 1, 2]);
    assert!(group.invariants_hold());
}

#[test]
fn costs_nothing_while_the_token_is_here_and_n_messages_otherwise() {
    the_example_of_the_course::<Queue>();
    the_example_of_the_course::<Rotation>();
}

/// p1 is inside, and the others ask in this order.
fn order_of_entry<C: Choice>(asking: &[u32]) -> Vec<u32> {
    let mut group = Group::<TokenPassing<C>>::of(4);
    group.enter(1);
    group.deliver_all();
    for &p in asking {
        group.enter(p);
        group.deliver_all();
    }
    for entries in 1..=asking.len() {
        group.exit(group.entered[entries - 1]);
        group.deliver_all();
    }
    group.entered
}

#[test]
fn rotation_starts_after_the_process_that_leaves() {
    assert_eq!(order_of_entry::<Rotation>(&[0, 3, 2]), [1, 2, 3, 0]);
}

#[test]
fn the_queue_keeps_those_found_waiting_before_those_who_come_later() {
    let mut group = Group::<SuzukiKasami>::of(3);
    group.enter(0);
    group.enter(2);
    group.deliver_all();
    group.enter(1);
    group.deliver_all();
    // Both wait, and the queue is filled by name: p1, then p2.
    group.exit(0);
    group.deliver_all();
    assert_eq!(group.entered, [0, 1]);
    group.enter(0);
    group.deliver_all();
    group.exit(1);
    group.deliver_all();
    assert_eq!(group.entered, [0, 1, 2], "p0 asked later than p2");
}

#[test]
fn a_late_request_that_was_granted_long_ago_moves_nothing() {
    let mut group = Group::<RicartAgrawalaToken>::of(3);
    group.enter(1);
    group.deliver(1, 0, "Request");
    group.deliver(0, 1, "Token");
    group.exit(1);
    group.enter(2);
    group.deliver(2, 1, "Request");
    group.deliver(1, 2, "Token");
    group.exit(2);
    let sent = group.sent;
    group.deliver(1, 2, "Request");
    assert_eq!(group.sent, sent, "p1 is not waiting");
}

#[test]
fn what_does_not_come_from_the_algorithm_is_an_accusation_and_nothing_else() {
    let mut group = Group::<SuzukiKasami>::of(2);
    let token = |n| Message::Token(Token { granted: vec![0; n], choice: Queue::default() });
    group.forge(0, 1, token(2));
    group.forge(0, 1, Message::Request { process: ProcessId(1), number: 1 });
    group.enter(1);
    group.forge(0, 1, token(3));
    assert_eq!((group.accusations, group.entered.len()), (3, 0));
}

/// Numbers may be counted from the last one granted: both groups then do the same.
#[test]
fn a_normalised_group_does_what_the_group_itself_does() {
    let history = |group: &mut Group<SuzukiKasami>| {
        group.deliver_all();
        for p in [2, 0, 1] {
            group.exit(group.entered[group.entered.len() - 1]);
            group.enter(p);
            group.deliver_all();
        }
        group.entered.clone()
    };
    let prepare = || {
        let mut group = Group::<SuzukiKasami>::of(3);
        for p in [1, 2, 1] {
            group.enter(p);
            group.deliver(p, (p + 2) % 3, "Request");
            group.deliver(p, (p + 1) % 3, "Request");
            group.deliver_all();
            group.exit(p);
        }
        group.enter(2);
        group
    };
    let (mut plain, mut normalised) = (prepare(), prepare());
    let mut messages: Vec<_> = normalised.in_flight.iter_mut().map(|(_, _, m)| m).collect();
    let mut processes: Vec<_> = normalised.processes.iter_mut().collect();
    assert!(SuzukiKasami::REDUCTIONS.normalise(&mut processes, &mut messages));
    assert_ne!(plain.processes, normalised.processes);
    assert_eq!(history(&mut plain), history(&mut normalised));
    let mut processes: Vec<_> = plain.processes.iter_mut().collect();
    SuzukiKasami::REDUCTIONS.normalise(&mut processes, &mut []);
    let mut processes: Vec<_> = normalised.processes.iter_mut().collect();
    SuzukiKasami::REDUCTIONS.normalise(&mut processes, &mut []);
    assert_eq!(plain.processes, normalised.processes);
}
