//! The central server.

use crate::by_hand::Group;
use synod_core::{Algorithm, ProcessId, Setup, SetupError};
use synod_protocols::mutex::{CentralServer, central};

#[test]
fn queues_who_asks_while_another_has_the_key_and_serves_the_head_of_the_queue_on_release() {
    let mut group = Group::<CentralServer>::of(5);
    for client in [3, 4, 2] {
        group.enter(client);
        group.deliver(client, 0, "Request");
    }
    group.deliver(0, 3, "Grant");
    let server = |holder, queue: &[u32]| CentralServer::Server {
        holder: Some(ProcessId(holder)),
        queue: queue.iter().copied().map(ProcessId).collect(),
    };
    assert_eq!(group.processes[0], server(3, &[4, 2]));

    group.exit(3);
    group.deliver(3, 0, "Release");
    assert_eq!(group.processes[0], server(4, &[2]));
    group.deliver(0, 4, "Grant");
    assert_eq!(group.entered, [3, 4]);
}

#[test]
fn costs_three_messages_per_entry_whatever_the_group() {
    for n in 2..6 {
        let mut group = Group::<CentralServer>::of(n);
        for client in 1..n as u32 {
            group.enter(client);
            group.deliver_all();
            group.exit(client);
            group.deliver_all();
        }
        assert_eq!(group.sent, 3 * (n - 1));
    }
}

#[test]
fn grants_the_request_that_arrives_first_even_if_another_happened_before_it() {
    let mut group = Group::<CentralServer>::of(3);
    group.enter(1);
    // p1 tells p2 now, and p2 asks because of it.
    group.enter(2);
    group.deliver(2, 0, "Request");
    group.deliver(1, 0, "Request");
    group.deliver_all();
    assert_eq!(group.entered, [2]);
}

#[test]
fn waits_for_the_release_when_the_next_request_of_the_holder_overtakes_it() {
    let mut group = Group::<CentralServer>::of(2);
    group.enter(1);
    group.deliver_all();
    group.exit(1);
    group.enter(1);
    group.deliver(1, 0, "Request");
    assert!(group.in_flight.iter().all(|(from, ..)| from.0 == 1), "no grant yet");
    group.deliver_all();
    assert_eq!(group.entered, [1, 1]);
    assert_eq!(group.accusations, 0);
}

#[test]
fn accuses_who_breaks_the_rules_and_goes_on() {
    use central::Message::{Grant, Release, Request};
    let mut group = Group::<CentralServer>::of(3);
    group.enter(1);
    group.deliver_all();
    group.enter(2);
    group.deliver_all();
    let before = group.processes.clone();
    let forged = [(2, 0, Request), (2, 0, Release), (0, 1, Grant), (1, 2, Grant), (1, 2, Request)];
    for (from, to, message) in forged {
        group.forge(from, to, message);
    }
    assert_eq!(group.accusations, 5);
    assert_eq!(group.processes, before);
}

#[test]
fn needs_somebody_to_serve() {
    assert!(matches!(
        CentralServer::processes(&Setup::new(1)),
        Err(SetupError::GroupSize { n: 1, .. })
    ));
}
