//! Algorithms that survive crashes, told of them by hand.

use crate::by_hand::Group;
use synod_core::family::Mutex;
use synod_core::{Algorithm, ProcessId, ProcessSet, Setup};
use synod_protocols::detector::{Timer, perfect};
use synod_protocols::mutex::mutants::{CentralServerUnasked, TokenRingTwoTokens};
use synod_protocols::mutex::{
    CentralServerCrash, MaekawaSandersCrash, RicartAgrawalaCrash, TokenRingCrash, VotingSets,
};

fn group<A: Algorithm<Family = Mutex>>(n: usize) -> Group<A> {
    Group::set_up(&Setup::new(n).with("detector", "perfect"))
}

/// The detector of `p` takes `dead` for crashed.
fn notices<A>(group: &mut Group<A>, p: u32, dead: u32)
where
    A: Algorithm<Family = Mutex, Timer = Timer>,
{
    group.fire(p, Timer::TimeOut(perfect::Timer::Silence(ProcessId(dead))));
}

fn is_under_way<A>(group: &Group<A>, from: u32, to: u32, kind: &str) -> bool
where
    A: Algorithm<Family = Mutex>,
{
    group.under_way().contains(&(from, to, kind))
}

#[test]
fn a_client_takes_no_key_from_a_server_that_was_succeeded() {
    let mut group = group::<CentralServerCrash>(3);
    group.enter(2);
    group.deliver(2, 0, "Request");
    notices(&mut group, 1, 0);
    group.deliver(1, 2, "Ask");
    group.deliver(0, 2, "Grant");
    assert_eq!(group.entered, [], "p2 has answered that it waits");
    group.deliver(2, 1, "Answer");
    group.deliver(1, 2, "Grant");
    assert_eq!(group.entered, [2]);
    assert_eq!(group.accusations, 0);
}

#[test]
fn a_new_server_lends_the_key_only_when_the_holder_has_given_it_back() {
    let mut group = group::<CentralServerCrash>(3);
    group.enter(2);
    group.deliver(2, 0, "Request");
    group.deliver(0, 2, "Grant");
    notices(&mut group, 1, 0);
    group.enter(1);
    group.deliver(1, 2, "Ask");
    group.deliver(2, 1, "Answer");
    assert_eq!(group.inside, [2].into());
    group.exit(2);
    group.deliver(2, 1, "Release");
    assert_eq!(group.entered, [2, 1]);
}

#[test]
fn a_new_server_that_does_not_ask_lends_the_key_a_second_time() {
    let mut group = group::<CentralServerUnasked>(3);
    group.enter(2);
    group.deliver(2, 0, "Request");
    group.deliver(0, 2, "Grant");
    notices(&mut group, 1, 0);
    group.enter(1);
    assert_eq!(group.inside, [1, 2].into());
}

/// What an exploration found: the token overtakes the question, and its receiver must know whom to
/// leave out.
#[test]
fn a_token_tells_its_receiver_who_is_dead() {
    let mut group = group::<TokenRingCrash>(3);
    group.enter(1);
    group.deliver(0, 1, "Token");
    notices(&mut group, 1, 0);
    group.exit(1);
    group.deliver(1, 2, "Token");
    assert!(is_under_way(&group, 2, 1, "Token"), "not to p0, which is dead");
}

/// p2 is taken for crashed while the token is on its way from p1 to p0.
fn a_token_on_its_way_is_given_up<A>() -> Group<A>
where
    A: Algorithm<Family = Mutex, Timer = Timer>,
{
    let mut group = group::<A>(3);
    group.enter(1);
    group.deliver(0, 1, "Token");
    notices(&mut group, 1, 2);
    group.exit(1);
    notices(&mut group, 0, 2);
    group.deliver(0, 1, "Ask");
    group.enter(1);
    group.deliver(1, 0, "Answer");
    group.deliver(0, 1, "Token");
    assert_eq!(group.inside, [1].into(), "by the new token");
    group.enter(0);
    group.deliver(1, 0, "Token");
    group
}

#[test]
fn a_token_of_an_old_generation_is_thrown_away() {
    let right = a_token_on_its_way_is_given_up::<TokenRingCrash>();
    assert_eq!(right.inside, [1].into());
    assert!(right.invariants_hold());
    let wrong = a_token_on_its_way_is_given_up::<TokenRingTwoTokens>();
    assert_eq!(wrong.inside, [0, 1].into());
}

#[test]
fn the_permission_of_a_dead_process_counts_as_given_and_it_is_owed_none() {
    let mut group = group::<RicartAgrawalaCrash>(3);
    group.enter(0);
    group.deliver(0, 1, "Request");
    group.deliver(1, 0, "Reply");
    group.enter(2);
    group.deliver(2, 0, "Request");
    assert_eq!(group.entered, []);
    notices(&mut group, 0, 2);
    assert_eq!(group.entered, [0]);
    group.exit(0);
    assert!(!is_under_way(&group, 0, 2, "Reply"));
}

#[test]
fn a_candidate_with_a_dead_voter_takes_its_request_back_and_asks_another_set() {
    let mut group = group::<MaekawaSandersCrash>(3);
    group.enter(0);
    group.deliver(0, 1, "Request");
    notices(&mut group, 0, 1);
    assert!(is_under_way(&group, 0, 1, "Release"));
    group.deliver(1, 0, "Grant");
    assert_eq!(group.entered, [], "a vote for a request that is no longer made");
    group.deliver(0, 2, "Request");
    group.deliver(2, 0, "Grant");
    assert_eq!((group.entered.as_slice(), group.accusations), ([0].as_slice(), 0));
}

/// Why a candidate must not ask the living members of its own set alone.
#[test]
fn two_voting_sets_may_have_nothing_in_common_but_the_dead() {
    let sets = VotingSets::optimal(7);
    let dead = ProcessSet::from_iter([ProcessId(3)]);
    let left = |p: u32| -> ProcessSet {
        sets.of(ProcessId(p)).iter().filter(|voter| !dead.contains(*voter)).collect()
    };
    assert_eq!(sets.of(ProcessId(0)), [0, 1, 3].map(ProcessId).into_iter().collect());
    assert_eq!(sets.of(ProcessId(2)), [2, 3, 5].map(ProcessId).into_iter().collect());
    assert!(!left(0).intersects(&left(2)), "p0 and p2 could both enter");
}
