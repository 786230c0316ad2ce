//! Rules that all rule sets share, and the rules that hold, step by step.

use crate::hand::Group;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output, Refusal, SlotId, Token};
use synod_core::group::Cause;

const REPAIRED: (&str, &str) = ("rules", "repaired");

#[test]
fn the_first_of_a_group_that_is_whole_owns_everything_and_new_members_get_some() {
    let group = Group::settled(3, &[REPAIRED, ("slots", "12"), ("low", "2"), ("min", "2")]);
    assert!(group.agree(&[1, 2, 3]));
    let owned: Vec<_> = (1..=3).map(|at| group.owned(at)).collect();
    assert_eq!(owned.iter().sum::<u32>(), 12);
    assert!(owned.iter().all(|count| *count >= 1), "{owned:?}");
}

#[test]
fn a_lone_first_member_owns_nothing_unless_an_operator_says_that_it_is_alone() {
    let mut group = Group::new(3, &[REPAIRED, ("slots", "6")]);
    group.view(&[2]);
    assert_eq!((group.owned(2), group.absent(2)), (0, 6));
    assert_eq!(group.ask(2, Input::Claim), [Output::Refused(Refusal::Starved)]);
    group.ask(2, Input::Bootstrap);
    group.deliver_all();
    assert_eq!((group.owned(2), group.absent(2)), (6, 0));
}

#[test]
fn as_published_a_lone_first_member_owns_everything_and_so_does_another() {
    let mut group = Group::new(2, &[("rules", "paper"), ("slots", "6")]);
    group.view(&[1]);
    group.view(&[2]);
    assert_eq!((group.owned(1), group.owned(2)), (6, 6));
    assert_eq!(group.claim(1).0, group.claim(2).0);
}

#[test]
fn what_cannot_be_reached_is_absent_until_all_are_together_again() {
    let settings = [REPAIRED, ("slots", "9"), ("low", "0"), ("owned", "p1:3 p2:3 p3:3")];
    let mut group = Group::settled(3, &settings);
    group.view(&[1, 2]);
    group.view(&[3]);
    assert_eq!((group.absent(1), group.absent(3)), (3, 6));
    group.view(&[1, 2, 3]);
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)), [3, 3, 3]);
}

#[test]
fn a_dead_member_leaves_its_slots_to_the_primary_if_everybody_else_is_there() {
    let settings = [REPAIRED, ("slots", "9"), ("low", "0"), ("owned", "p1:3 p2:3 p3:3")];
    let mut group = Group::settled(3, &settings);
    group.view_without(&[1, 2], &[3], Cause::Disconnect);
    assert_eq!([1, 2].map(|at| group.owned(at)), [6, 3]);
    assert_eq!(group.absent(1), 0);
    let settings = [REPAIRED, ("slots", "8"), ("low", "0"), ("owned", "p1:2 p2:2 p3:2 p4:2")];
    let mut group = Group::settled(4, &settings);
    group.view_without(&[1, 2], &[3], Cause::Disconnect);
    assert_eq!((group.owned(1), group.absent(1)), (2, 4), "p4 may have what p3 had");
}

#[test]
fn an_operator_may_certify_a_death() {
    let settings = [REPAIRED, ("slots", "9"), ("low", "0"), ("owned", "p1:3 p2:3 p3:3")];
    let mut group = Group::settled(3, &settings);
    group.view(&[1, 2]);
    group.deliver_all();
    assert_eq!(group.absent(1), 3);
    group.ask(2, Input::CertifyDead(ProcessId(3)));
    group.deliver_all();
    assert!(group.agree(&[1, 2]));
    assert_eq!([1, 2].map(|at| group.owned(at)), [6, 3]);
    // A node that was certified dead and starts again is new.
    group.restart(3);
    group.view(&[1, 2, 3]);
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    assert!(group.told(3).contains(&Output::Asks(2)), "{:?}", group.told(3));
}

#[test]
fn somebody_here_is_not_dead_whatever_an_operator_says() {
    let settings = [REPAIRED, ("slots", "6"), ("low", "0"), ("owned", "p1:3 p2:3")];
    let mut group = Group::settled(2, &settings);
    group.ask(1, Input::CertifyDead(ProcessId(2)));
    group.deliver_all();
    assert_eq!([1, 2].map(|at| group.owned(at)), [3, 3]);
}

#[test]
fn whoever_leaves_hands_its_slots_over() {
    let settings = [REPAIRED, ("slots", "9"), ("low", "0"), ("owned", "p1:3 p2:3 p3:3")];
    let mut group = Group::settled(3, &settings);
    group.claim(1);
    assert!(group.ask(1, Input::Leave).contains(&Output::Lost));
    assert_eq!(group.ask(1, Input::Claim), [Output::Refused(Refusal::Outside)]);
    group.deliver_all();
    assert_eq!([1, 2, 3].map(|at| group.owned_as_seen_by(2, at)), [0, 6, 3]);
}

#[test]
fn failures_are_told_apart() {
    let settings = [REPAIRED, ("slots", "4"), ("low", "0"), ("cap", "2"), ("owned", "p1:3 p2:1")];
    let mut group = Group::settled(2, &settings);
    let (slot, token) = group.claim(1);
    group.claim(1);
    assert_eq!(group.ask(1, Input::Claim), [Output::Refused(Refusal::Denied)]);
    let told = group.ask(1, Input::ClaimSlot(SlotId(3)));
    assert_eq!(told, [Output::Refused(Refusal::Denied)]);
    assert_eq!(group.ask(1, Input::Release(slot, token)), [Output::Released(slot)]);
    assert_eq!(group.ask(1, Input::Release(slot, token)), [Output::Stale(slot)]);
    let told = group.ask(1, Input::ClaimSlot(SlotId(3)));
    assert_eq!(told, [Output::Refused(Refusal::Elsewhere)]);
    group.claim(2);
    let told = group.ask(2, Input::Claim);
    assert_eq!(told, [Output::Refused(Refusal::Starved)], "p1 has a free slot");
    group.view(&[2]);
    assert_eq!(group.ask(2, Input::Claim), [Output::Refused(Refusal::Starved)]);
    let mut alone = Group::settled(1, &[REPAIRED, ("slots", "1"), ("owned", "p1:1")]);
    alone.claim(1);
    assert_eq!(alone.ask(1, Input::Claim), [Output::Refused(Refusal::Exhausted)]);
    let mut outside = Group::new(1, &[REPAIRED]);
    assert_eq!(outside.ask(1, Input::Claim), [Output::Refused(Refusal::Outside)]);
}

#[test]
fn a_release_with_an_old_token_does_nothing() {
    let settings = [REPAIRED, ("slots", "1"), ("low", "0"), ("owned", "p1:1")];
    let mut group = Group::settled(1, &settings);
    let (slot, old) = group.claim(1);
    group.ask(1, Input::Release(slot, old));
    let (again, new) = group.claim(1);
    assert!(again == slot && new > old);
    assert_eq!(group.ask(1, Input::Release(slot, old)), [Output::Stale(slot)]);
    let forged = Token { epoch: 9, count: 9 };
    assert_eq!(group.ask(1, Input::Release(SlotId(77), forged)), [Output::Stale(SlotId(77))]);
    assert_eq!(group.ask(1, Input::Release(slot, new)), [Output::Released(slot)]);
}

#[test]
fn reserved_slots_go_to_their_member_and_to_nobody_else() {
    let settings = [REPAIRED, ("slots", "8"), ("low", "2"), ("min", "2"), ("reserved", "p2:0-1")];
    let mut group = Group::settled(3, &settings);
    assert!(group.told(2).contains(&Output::Asks(2)));
    let owned: Vec<u32> = (1..=3).map(|at| group.owned(at)).collect();
    assert_eq!(owned.iter().sum::<u32>(), 8);
    // p2 takes its own first.
    assert_eq!([group.claim(2).0, group.claim(2).0], [SlotId(0), SlotId(1)]);
    for at in [1, 3] {
        while let [Output::Claimed(slot, _), ..] = group.ask(at, Input::Claim)[..] {
            assert!(slot.0 > 1, "p{at} uses {slot}");
        }
        let told = group.ask(at, Input::ClaimSlot(SlotId(0)));
        assert!(told.contains(&Output::Refused(Refusal::Elsewhere)));
    }
}

#[test]
fn what_there_is_no_room_for_is_said_later() {
    let settings = [
        REPAIRED,
        ("slots", "6"),
        ("low", "1"),
        ("o2", "off"),
        ("o3", "off"),
        ("owned", "p1:1 p2:1 p3:4"),
    ];
    let mut group = Group::settled(3, &settings).with_room(1);
    group.claim(1);
    group.claim(2);
    // p3 has to answer both, and has room for one answer at a time.
    group.deliver(1);
    group.deliver(2);
    assert_eq!(group.pending(3).len(), 1);
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    for at in [1, 2] {
        assert!(group.told(at).iter().any(|output| matches!(output, Output::Got(1..))));
    }
}

#[test]
fn a_donation_delivered_between_two_views_counts_for_those_who_go_together() {
    let settings =
        [REPAIRED, ("slots", "5"), ("low", "1"), ("owned", "p1:1 p2:3 p3:1"), ("o3", "off")];
    let mut start = Group::settled(3, &settings);
    start.claim(1);
    start.deliver(1);
    // The requester comes along.
    let mut group = start.clone();
    group.transitional(&[1, 2]);
    group.deliver_to(2, &[1, 2]);
    group.view(&[1, 2]);
    assert!(group.agree(&[1, 2]));
    assert_eq!([1, 2].map(|at| group.owned(at)), [2, 2]);
    // The requester parted: it may have delivered the donation.
    let mut group = start.clone();
    group.transitional(&[2, 3]);
    group.deliver_to(2, &[2, 3]);
    group.view(&[2, 3]);
    assert_eq!([2, 3].map(|at| group.owned(at)), [2, 1]);
    assert_eq!(group.absent(2), 2);
    // The donation is never delivered: the donor has its slots again.
    let mut group = start;
    group.lose(2);
    group.view(&[2, 3]);
    assert_eq!((group.owned_and_free(2), group.absent(2)), ((3, 3), 1));
}

#[test]
fn whoever_waits_for_a_status_may_be_spoken_for_twice() {
    let settings = [REPAIRED, ("slots", "9"), ("low", "0"), ("owned", "p1:3 p2:3 p3:3")];
    let mut group = Group::new(4, &settings);
    group.view(&[1, 2]);
    group.view(&[3]);
    group.restart(4);
    group.view(&[3, 4]);
    group.lose(3);
    // p3 knows that p4 waits, but p4 does not know that p3 counts it in.
    group.view(&[1, 2, 3, 4]);
    assert_eq!(group.speakers(), [1, 3, 4]);
    group.deliver(4);
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3, 4]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)).iter().sum::<u32>() + group.owned(4), 9);
}

#[test]
fn each_member_may_have_a_low_mark_of_its_own() {
    let shares = |low| {
        let pool =
            [("rules", "repaired"), ("slots", "8"), ("owned", "p1:6 p2:2"), ("used", "p2:2")];
        let group = Group::settled(2, &[&pool[..], &[("low", low)]].concat());
        [1, 2].map(|at| group.owned(at))
    };
    assert_eq!(shares("1"), [4, 4], "p2 asks for two, its even share");
    assert_eq!(shares("p1:5 p2:1"), [5, 3], "p1 keeps five free slots");
}
