//! Voting without deadlock, and the version that does not tell a displaced candidate.

use crate::by_hand::Group;
use synod_core::family::Mutex;
use synod_core::{Algorithm, ProcessId, Timestamp};
use synod_protocols::mutex::mutants::SandersUntold;
use synod_protocols::mutex::{MaekawaSanders, sanders};

/// Three requests of the same time, each with its own vote: the deadlock of Maekawa's algorithm.
fn everybody_has_its_own_vote() -> Group<MaekawaSanders> {
    let mut group = Group::of(3);
    for process in 0..3 {
        group.enter(process);
    }
    for process in 0..3 {
        group.deliver(process, (process + 1) % 3, "Request");
    }
    group
}

#[test]
fn the_request_that_learns_of_its_defeat_yields_and_the_deadlock_is_gone() {
    let mut group = everybody_has_its_own_vote();
    // p1 and p2 asked themselves whether they give their own vote up: not yet.
    assert_eq!(group.under_way(), [(0, 2, "Failed")]);
    group.deliver(0, 2, "Failed");
    assert_eq!(group.under_way(), [(2, 1, "Grant")]);
    group.deliver(2, 1, "Grant");
    assert_eq!(group.entered, [1]);
    group.let_everybody_in();
    assert_eq!(group.entered, [1, 0, 2]);
    assert_eq!(group.sent, 3 * 3 + 1, "three messages for each entry, and one FAILED");
}

/// An inquiry that arrives before the vote that it asks back must wait: a vote given up before it
/// arrived would count when it does arrive.
#[test]
fn an_inquiry_that_overtakes_its_vote_waits_for_it() {
    let mut group = Group::<MaekawaSanders>::of(4);
    group.enter(2);
    group.deliver(2, 3, "Request");
    group.enter(0);
    group.enter(1);
    group.deliver(2, 0, "Request");
    group.deliver(0, 2, "Failed");
    // The vote of p3 for p2 is still on its way, and p2 knows that it failed with p0.
    group.deliver(1, 3, "Request");
    assert!(group.under_way().contains(&(3, 2, "Inquire")));
    let before = group.sent;
    group.deliver(3, 2, "Inquire");
    assert_eq!(group.sent, before, "the vote is not there yet, so it cannot be given up");
    group.deliver(3, 2, "Grant");
    assert_eq!(group.under_way().last(), Some(&(2, 3, "Yield")));
    group.deliver(2, 3, "Yield");
    assert_eq!(group.under_way().last(), Some(&(3, 1, "Grant")));
}

fn about(time: u64, process: u32, what: sanders::What) -> sanders::Message {
    sanders::Message { what, request: Timestamp::new(time, ProcessId(process)), clock: 1 }
}

#[test]
fn what_comes_too_late_about_an_old_request_is_ignored() {
    let mut group = everybody_has_its_own_vote();
    let before = group.processes[0].clone();
    group.forge(1, 0, about(0, 0, sanders::What::Failed));
    group.forge(1, 0, about(0, 0, sanders::What::Inquire));
    assert_eq!((&group.processes[0], group.accusations), (&before, 0));
}

#[test]
fn votes_that_nobody_asked_for_and_words_for_another_are_accusations() {
    let mut group = everybody_has_its_own_vote();
    let before = group.processes[0].clone();
    let forged = [
        about(0, 0, sanders::What::Grant),
        about(1, 2, sanders::What::Request),
        about(1, 1, sanders::What::Release),
        about(1, 1, sanders::What::Yield),
        about(1, 1, sanders::What::Grant),
    ];
    for message in forged {
        group.forge(1, 0, message);
    }
    // p2 may vote for p1, but it is not in the set of p0.
    group.forge(2, 0, about(1, 0, sanders::What::Grant));
    assert_eq!((&group.processes[0], group.accusations), (&before, 6));
}

#[test]
fn a_process_inside_does_not_give_its_votes_up() {
    let mut group = Group::<MaekawaSanders>::of(3);
    group.enter(1);
    group.deliver(1, 2, "Request");
    group.deliver(2, 1, "Grant");
    assert_eq!(group.entered, [1]);
    group.enter(0);
    group.deliver(0, 1, "Request");
    assert!(group.in_flight.is_empty(), "p1 asked itself, and is inside");
    assert!(group.processes[1].lock().is_some_and(|lock| lock.inquired));
    group.let_everybody_in();
    assert_eq!(group.entered, [1, 0]);
}

/// All four ask at once, and at p2 the request of p0 displaces that of p1.
fn displace_p1_at_p2<A: Algorithm<Family = Mutex>>() -> Group<A> {
    let mut group = Group::of(4);
    for process in 0..4 {
        group.enter(process);
    }
    for (from, to) in [(0, 1), (1, 2), (0, 2), (2, 0)] {
        group.deliver(from, to, "Request");
    }
    group
}

#[test]
fn a_displaced_request_that_is_told_gives_its_votes_up() {
    let mut group = displace_p1_at_p2::<MaekawaSanders>();
    assert!(group.under_way().contains(&(2, 1, "Failed")));
    group.let_everybody_in();
    assert_eq!(group.entered, [0, 1, 2, 3]);
}

#[test]
fn a_displaced_request_that_is_not_told_keeps_its_votes_for_ever() {
    let mut group = displace_p1_at_p2::<SandersUntold>();
    assert!(!group.under_way().contains(&(2, 1, "Failed")));
    group.let_everybody_in();
    assert!(group.entered.is_empty());
    let votes = |voter: usize| group.processes[voter].lock().map(|lock| lock.request.process.0);
    assert_eq!((votes(1), votes(2)), (Some(1), Some(0)), "p0 and p1 wait for each other");
}
