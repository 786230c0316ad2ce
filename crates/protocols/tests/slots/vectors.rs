//! The vectors and figures of the source, and the hazards in its rules, step by step.

use crate::hand::Group;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output, Refusal, SlotId};
use synod_core::group::Cause;
use synod_protocols::slots::message::Body;
use synod_protocols::slots::table::Owner;

const REPAIRED: (&str, &str) = ("rules", "repaired");

/// VS2.
#[test]
fn one_cycle_brings_what_each_donor_can_spare() {
    for o3 in ["off", "on"] {
        let group = Group::settled(
            4,
            &[
                REPAIRED,
                ("slots", "40"),
                ("low", "2"),
                ("o3", o3),
                ("owned", "p1:22 p2:6 p3:6 p4:6"),
                ("used", "p1:10 p2:5 p3:4 p4:3"),
            ],
        );
        // p2 has one free slot and is short from the beginning; so it has asked already.
        assert!(
            group.told(2).contains(&Output::Asks(4)) && group.told(2).contains(&Output::Got(3))
        );
        let states: Vec<_> = (1..=4).map(|at| group.owned_and_free(at)).collect();
        assert_eq!(states, [(20, 10), (9, 4), (6, 2), (5, 2)], "o3 {o3}");
        assert!(group.agree(&[1, 2, 3, 4]));
        assert_eq!(group.delivered(), 4, "a request and three answers");
    }
}

/// H1.
#[test]
fn a_donation_that_comes_too_late_counts_only_for_the_published_rules() {
    for (rules, doubled) in [("paper", true), ("repaired", false)] {
        let settings = [("rules", rules), ("slots", "4"), ("low", "1"), ("owned", "p1:1 p2:3")];
        let mut group = Group::settled(2, &settings);
        group.claim(1);
        group.deliver(1);
        assert!(matches!(group.pending(2)[..], [Body::Donate { .. }]));
        // p1 goes and comes back before the donation is ordered; its donor has taken the slot back.
        group.view(&[2]);
        group.view(&[1]);
        let (slot, _) = group.claim(2);
        group.view(&[1, 2]);
        group.deliver_all();
        let told = group.ask(1, Input::ClaimSlot(slot));
        assert_eq!(matches!(told[0], Output::Claimed(..)), doubled, "{rules}: {told:?}");
    }
}

/// VS3, the first figure of the source.
#[test]
fn a_join_that_its_primary_did_not_live_to_complete_is_completed_by_the_next() {
    for rules in ["repaired", "paper"] {
        let settings =
            [("rules", rules), ("slots", "12"), ("low", "0"), ("owned", "p1:4 p2:4 p3:4")];
        let mut group = Group::new(4, &settings);
        group.view(&[1, 2, 3]);
        group.restart(4);
        group.view(&[1, 2, 3, 4]);
        assert!(matches!(group.pending(1)[..], [Body::PutStatus { .. }]));
        // p1 dies, and its status is never delivered.
        group.lose(1);
        group.view_without(&[2, 3, 4], &[1], Cause::Disconnect);
        assert!(matches!(group.pending(2)[..], [Body::PutStatus { .. }]), "{rules}");
        group.deliver_all();
        assert!(group.agree(&[2, 3, 4]), "{rules}");
        assert_eq!([2, 3].map(|at| group.owned(at)).iter().sum::<u32>() + group.owned(4), 12);
        assert!(group.owned(2) > 4, "p1's slots went to p2, {rules}");
    }
}

/// VS3: the status was delivered in time.
#[test]
fn a_join_that_is_complete_is_not_completed_again() {
    let settings =
        [REPAIRED, ("slots", "12"), ("low", "0"), ("min", "0"), ("owned", "p1:4 p2:4 p3:4")];
    let mut group = Group::new(4, &settings);
    group.view(&[1, 2, 3]);
    group.restart(4);
    group.view(&[1, 2, 3, 4]);
    group.deliver(1);
    group.view_without(&[2, 3, 4], &[1], Cause::Disconnect);
    assert!(group.speakers().is_empty());
    assert!(group.agree(&[2, 3, 4]));
    assert_eq!([2, 3, 4].map(|at| group.owned(at)), [8, 4, 0]);
}

/// VS4, the second figure.
#[test]
fn each_side_of_a_partition_goes_on_with_what_it_has_and_together_nothing_is_lost() {
    let settings = [
        REPAIRED,
        ("slots", "50"),
        ("low", "1"),
        ("owned", "p1:14 p2:12 p3:10 p4:8 p5:6"),
        ("used", "p5:6"),
    ];
    let mut group = Group::new(5, &settings);
    group.view(&[1, 2, 3, 4, 5]);
    group.lose(5);
    group.view(&[1, 2]);
    group.view(&[3, 4, 5]);
    assert_eq!([1, 3].map(|at| group.slots(at).state().total()), [26, 24]);
    assert!(matches!(group.pending(5)[..], [Body::Request(2)]), "8 is its share of 24");
    group.deliver_all();
    assert_eq!([3, 4, 5].map(|at| group.owned(at)), [9, 7, 8]);
    assert_eq!(group.absent(1), 24);
    let before = group.delivered();
    group.view(&[1, 2, 3, 4, 5]);
    assert!(matches!(group.pending(1)[..], [Body::MergeStatus(_)]));
    assert!(matches!(group.pending(3)[..], [Body::MergeStatus(_)]));
    group.deliver_all();
    assert_eq!(group.delivered() - before, 2);
    assert!(group.agree(&[1, 2, 3, 4, 5]));
    assert_eq!([1, 2, 3, 4, 5].map(|at| group.owned(at)), [14, 12, 9, 7, 8]);
    assert_eq!(group.slots(5).state().primary, Some(ProcessId(1)));
}

/// VS5, the third figure.
#[test]
fn what_a_dead_requester_got_goes_to_the_primary_and_what_it_did_not_get_back_to_its_donor() {
    for (rules, order) in [("repaired", "off"), ("paper", "off")] {
        let settings = [
            ("rules", rules),
            ("slots", "9"),
            ("low", "1"),
            ("o3", order),
            ("owned", "p1:4 p2:4 p3:1"),
        ];
        let mut group = Group::settled(3, &settings);
        group.claim(3);
        group.deliver(3);
        group.deliver(1);
        assert_eq!(group.owned(3), 2);
        // p2's donation is under way when p3 dies.
        group.view_without(&[1, 2], &[3], Cause::Disconnect);
        group.lose(2);
        assert!(group.agree(&[1, 2]), "{rules}");
        assert_eq!([1, 2].map(|at| group.owned(at)), [5, 4], "{rules}");
    }
}

/// VS6.
#[test]
fn a_merge_that_is_interrupted_is_as_if_it_had_never_begun_and_begins_again() {
    let settings = [REPAIRED, ("slots", "8"), ("low", "0"), ("owned", "p1:2 p2:2 p3:2 p4:2")];
    let mut group = Group::settled(4, &settings);
    group.view(&[1, 2]);
    group.view(&[3, 4]);
    group.view(&[1, 2, 3, 4]);
    group.deliver(1);
    group.lose(3);
    group.view_without(&[1, 2, 3], &[4], Cause::Disconnect);
    assert_eq!([1, 2].map(|at| group.owned_as_seen_by(1, at)), [2, 2]);
    assert_eq!(group.owned(3), 4, "p3 is the primary of what is left of its part");
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)), [2, 2, 4]);
}

/// VS7.
#[test]
fn a_cycle_does_not_wait_for_a_donor_that_is_gone() {
    for rules in ["repaired", "paper"] {
        let settings = [
            ("rules", rules),
            ("slots", "9"),
            ("low", "1"),
            ("owned", "p1:1 p2:4 p3:4"),
            ("o3", "off"),
        ];
        let mut group = Group::settled(3, &settings);
        group.claim(1);
        group.deliver(1);
        group.deliver(2);
        group.view(&[1, 2]);
        assert!(group.told(1).contains(&Output::Got(1)), "{rules}");
        assert_eq!(group.owned_as_seen_by(1, 1), 2);
    }
}

/// VS9.
#[test]
fn a_new_member_gets_nothing_if_nobody_has_a_surplus_and_asks_again_later() {
    let settings = [REPAIRED, ("slots", "6"), ("low", "2"), ("owned", "p1:2 p2:2 p3:2")];
    let mut group = Group::new(4, &settings);
    group.view(&[1, 2, 3]);
    group.restart(4);
    group.view(&[1, 2, 3, 4]);
    group.deliver_all();
    assert!(group.told(4).contains(&Output::Got(0)));
    let told = group.ask(4, Input::Claim);
    assert_eq!(told, [Output::Refused(Refusal::Starved), Output::Asks(2)]);
    group.deliver_all();
    assert_eq!(group.told(4).last(), Some(&Output::Got(0)));
}

/// H4.
#[test]
fn a_node_that_starts_again_elsewhere_gives_nobody_what_it_gave_away() {
    for (rules, doubled) in [("paper", true), ("repaired", false)] {
        let settings = [
            ("rules", rules),
            ("slots", "12"),
            ("low", "1"),
            ("owned", "p1:3 p2:3 p3:5 p4:1"),
            ("o3", "off"),
        ];
        let mut group = Group::settled(4, &settings);
        group.view(&[1, 2]);
        group.view(&[3, 4]);
        group.claim(4);
        group.deliver_all();
        let (slot, _) = group.claim(4);
        assert_eq!(slot, SlotId(6), "it was p3's");
        group.restart(3);
        group.view(&[4]);
        group.view(&[1, 2, 3]);
        group.deliver_all();
        let told = group.ask(1, Input::ClaimSlot(slot));
        assert_eq!(matches!(told[0], Output::Claimed(..)), doubled, "{rules}: {told:?}");
    }
}

/// H6.
#[test]
fn after_a_merge_nobody_has_what_nobody_claims() {
    for (rules, owner) in [("paper", 3), ("repaired", 0)] {
        let settings = [
            ("rules", rules),
            ("slots", "12"),
            ("low", "1"),
            ("owned", "p1:3 p2:3 p3:5 p4:1"),
            ("o3", "off"),
        ];
        let mut group = Group::settled(4, &settings);
        group.view(&[1, 2]);
        group.view(&[3, 4]);
        group.claim(4);
        group.deliver_all();
        group.view(&[3]);
        group.view(&[4]);
        group.view(&[1, 2, 3]);
        group.deliver_all();
        let slot = SlotId(6);
        let seen = |at: u32| group.slots(at).state().table.owner(slot);
        if owner == 0 {
            assert_eq!([1, 3].map(seen), [Some(Owner::Absent); 2]);
        } else {
            assert_eq!([1, 3].map(seen), [3, 4].map(|p| Some(Owner::Of(ProcessId(p)))));
        }
    }
}

/// H2.
#[test]
fn what_a_dead_donor_gave_to_somebody_out_of_reach_nobody_takes_over() {
    for (rules, doubled) in [("paper", true), ("repaired", false)] {
        let settings = [
            ("rules", rules),
            ("slots", "5"),
            ("low", "1"),
            ("owned", "p1:1 p2:1 p3:3"),
            ("o3", "off"),
        ];
        let mut group = Group::settled(3, &settings);
        group.claim(1);
        group.deliver(1);
        // Only p1 delivers p3's donation, before the network fails and p3 dies.
        group.deliver_to(3, &[1]);
        let (slot, _) = group.claim(1);
        group.view(&[1]);
        group.view_without(&[2], &[3], Cause::Disconnect);
        let told = group.ask(2, Input::ClaimSlot(slot));
        assert_eq!(matches!(told[0], Output::Claimed(..)), doubled, "{rules}: {told:?}");
    }
}
