//! Maekawa's voting, and the version without the own vote.

use crate::by_hand::Group;
use synod_core::{Algorithm, ProcessId, ProcessSet};
use synod_protocols::mutex::mutants::Maekawa000;
use synod_protocols::mutex::{Maekawa, MaekawaSanders, VotingSets, maekawa};

#[test]
fn an_entry_alone_costs_three_messages_for_each_other_member_of_the_set() {
    for n in [1, 2, 3, 4, 7, 13, 50, 1_000] {
        let mut maekawa = Group::<Maekawa>::of(n);
        let mut sanders = Group::<MaekawaSanders>::of(n);
        let k = Maekawa::size(&maekawa.processes).k;
        assert_eq!(k, VotingSets::optimal(n).k());
        let last = n as u32 - 1;
        maekawa.enter(last);
        sanders.enter(last);
        maekawa.let_everybody_in();
        sanders.let_everybody_in();
        assert_eq!((maekawa.sent, maekawa.entered), (3 * (k - 1), vec![last]), "N = {n}");
        assert_eq!((sanders.sent, sanders.entered), (3 * (k - 1), vec![last]), "N = {n}");
    }
}

/// "p1 holds off p3, p2 holds off p1, p3 holds off p2", counted from 1. Each asks its successor,
/// so the notes that let p1 hold off p2 cannot be right: p2 never asks p1.
#[test]
fn three_processes_that_have_their_own_vote_hold_off_each_other_for_ever() {
    let mut group = Group::<Maekawa>::of(3);
    for process in 0..3 {
        group.enter(process);
    }
    assert_eq!(group.under_way(), [(0, 1, "Request"), (1, 2, "Request"), (2, 0, "Request")]);
    for process in 0..3 {
        group.deliver(process, (process + 1) % 3, "Request");
    }
    assert!(group.in_flight.is_empty() && group.entered.is_empty());
    assert!(group.invariants_hold());
    for (me, process) in ProcessId::all(3).zip(&group.processes) {
        let (successor, predecessor) = (me.successor(3), me.successor(3).successor(3));
        let missing = ProcessSet::from_iter([successor]);
        assert_eq!(process.state(), &maekawa::State::Wanted { missing });
        assert_eq!(process.voted(), Some(me));
        assert_eq!(process.queue().collect::<Vec<_>>(), [predecessor], "whom {me} holds off");
    }
}

#[test]
fn a_vote_that_comes_back_goes_to_the_first_in_the_queue() {
    let mut group = Group::<Maekawa>::of(4);
    group.enter(0);
    group.deliver(0, 1, "Request");
    group.deliver(0, 2, "Request");
    group.enter(3);
    group.deliver(3, 1, "Request");
    group.deliver(3, 0, "Request");
    assert_eq!(group.processes[1].queue().collect::<Vec<_>>(), [ProcessId(3)]);
    group.deliver(1, 0, "Reply");
    group.deliver(2, 0, "Reply");
    assert_eq!(group.entered, [0]);
    group.exit(0);
    assert_eq!(group.under_way(), [(0, 3, "Reply"), (0, 1, "Release"), (0, 2, "Release")]);
    group.deliver(0, 1, "Release");
    assert_eq!(group.processes[1].voted(), Some(ProcessId(3)));
    assert_eq!(group.under_way().last(), Some(&(1, 3, "Reply")));
}

#[test]
fn a_vote_that_nobody_asked_for_is_an_accusation_and_changes_nothing() {
    let mut group = Group::<Maekawa>::of(3);
    let before = group.processes[0].clone();
    for message in [maekawa::Message::Reply, maekawa::Message::Release] {
        group.forge(1, 0, message);
    }
    assert_eq!((group.accusations, group.sent), (2, 0));
    assert_eq!(group.processes[0], before);
}

#[test]
fn without_its_own_vote_a_process_enters_although_it_voted_for_another() {
    let mut group = Group::<Maekawa000>::of(3);
    group.enter(0);
    group.deliver(0, 1, "Request");
    group.deliver(1, 0, "Reply");
    group.enter(1);
    group.deliver(1, 2, "Request");
    group.deliver(2, 1, "Reply");
    assert_eq!((group.entered, group.sent), (vec![0, 1], 4));
}

#[test]
fn without_its_own_vote_a_process_never_serves_what_it_queued_inside() {
    let mut group = Group::<Maekawa000>::of(3);
    group.enter(0);
    group.deliver(0, 1, "Request");
    group.deliver(1, 0, "Reply");
    group.enter(2);
    group.deliver(2, 0, "Request");
    group.exit(0);
    group.deliver(0, 1, "Release");
    assert!(group.in_flight.is_empty());
    assert_eq!(group.processes[0].queue().collect::<Vec<_>>(), [ProcessId(2)]);
    assert_eq!(group.entered, [0]);
}
