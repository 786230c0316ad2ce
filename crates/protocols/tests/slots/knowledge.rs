//! What a member concludes from members that came along, started, parted or died: the table in
//! `docs/slots.md`, row by row.

use crate::hand::Group;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, OperatorCommand, Output};
use synod_core::group::Cause;

const RULES: [&str; 2] = ["repaired", "offers"];

/// All nodes in one view. Each owns two slots, and asks for no more.
fn pool(n: u32, rules: &'static str) -> Group {
    let slots = (2 * n).to_string();
    let owned = (1..=n).map(|at| format!("p{at}:2")).collect::<Vec<_>>().join(" ");
    let quiet = [("low", "0"), ("min", "0"), ("cap", "0")];
    let settings = [("rules", rules), ("slots", &slots), ("owned", &owned)];
    Group::settled(n, &[&settings[..], &quiet].concat())
}

/// These members get a view together, and deliver all that follows.
fn together(group: &mut Group, members: &[u32]) {
    group.view(members);
    group.deliver_all();
    assert!(group.agree(members));
}

#[test]
fn the_primary_inherits_from_whoever_died_in_its_view_although_some_node_is_missing() {
    for rules in RULES {
        let mut group = pool(4, rules);
        together(&mut group, &[1, 2, 3]);
        group.view_without(&[1, 2], &[3], Cause::Disconnect);
        assert_eq!((group.owned(1), group.owned(2), group.absent(1)), (4, 2, 2), "{rules}");
    }
}

#[test]
fn the_primary_inherits_from_several_who_died_in_its_view() {
    for rules in RULES {
        let mut group = pool(3, rules);
        group.view_without(&[1], &[2, 3], Cause::Disconnect);
        assert_eq!((group.owned(1), group.absent(1)), (6, 0), "{rules}");
    }
}

#[test]
fn nobody_inherits_if_somebody_parts_at_the_same_time() {
    for rules in RULES {
        let mut group = pool(3, rules);
        group.view_without(&[1], &[2], Cause::Disconnect);
        assert_eq!((group.owned(1), group.absent(1)), (2, 4), "{rules}");
    }
}

/// p2 may live again, and p1's earlier life may have met p2's next one.
#[test]
fn whoever_is_new_does_not_make_the_dead_accounted_for() {
    for rules in RULES {
        let mut group = pool(3, rules);
        group.view(&[1]);
        together(&mut group, &[2, 3]);
        group.restart(1);
        group.view_without(&[1, 3], &[2], Cause::Disconnect);
        group.deliver_all();
        assert!(group.agree(&[1, 3]));
        assert_eq!(group.absent(3), 2, "{rules}: what p1's first life had");
        group.ask(3, Input::CertifyDead(ProcessId(2)));
        group.deliver_all();
        assert_eq!(group.absent(3), 0, "{rules}: the operator knows better");
    }
}

#[test]
fn what_is_known_of_the_dead_is_out_of_date_when_somebody_parts() {
    for rules in RULES {
        let mut group = pool(4, rules);
        together(&mut group, &[1, 2, 3]);
        group.ask(1, Input::CertifyDead(ProcessId(4)));
        group.deliver_all();
        assert_eq!(group.absent(1), 0);
        together(&mut group, &[1, 2]);
        together(&mut group, &[3]);
        assert!(group.absent(1) > 0);
        group.restart(3);
        together(&mut group, &[1, 2, 3]);
        assert!(group.absent(1) > 0, "{rules}: p3's first life may have met p4's second");
    }
}

#[test]
fn a_node_that_starts_again_among_all_others_leaves_nothing_absent() {
    for rules in RULES {
        let mut group = pool(3, rules);
        group.restart(3);
        together(&mut group, &[1, 2, 3]);
        let owned: u32 = (1..=3).map(|at| group.owned(at)).sum();
        assert_eq!((owned, group.absent(1)), (6, 0), "{rules}");
        let mut group = pool(4, rules);
        together(&mut group, &[1, 2, 3]);
        group.restart(3);
        together(&mut group, &[1, 2, 3]);
        assert_eq!(group.absent(1), 4, "{rules}: p4 may have what p3 had");
    }
}

#[test]
fn a_certificate_counts_where_all_parts_have_it() {
    for (rules, both) in
        [("repaired", false), ("repaired", true), ("offers", false), ("offers", true)]
    {
        let mut group = pool(4, rules);
        together(&mut group, &[1, 2]);
        together(&mut group, &[3]);
        let dead = Input::CertifyDead(ProcessId(4));
        group.ask(1, dead.clone());
        if both {
            group.ask(3, dead);
        }
        group.deliver_all();
        together(&mut group, &[1, 2, 3]);
        assert_eq!(group.absent(1), if both { 0 } else { 2 }, "{rules}");
    }
}

#[test]
fn an_order_counts_in_its_view_or_not_at_all() {
    let orders = [
        (Input::CertifyDead(ProcessId(3)), OperatorCommand::CertifyDead(ProcessId(3))),
        (Input::Bootstrap, OperatorCommand::Bootstrap),
    ];
    for (input, order) in orders {
        let mut group = pool(3, "offers");
        together(&mut group, &[1, 2]);
        group.ask(2, input.clone());
        group.lose(2);
        group.view(&[1]);
        group.view(&[2]);
        group.deliver_all();
        assert!(group.told(2).contains(&Output::Void(order)), "{:?}", group.told(2));
        assert_eq!((group.owned(2), group.absent(2)), (2, 4), "nothing was given out: p1 lives");
        group.transitional(&[2]);
        assert_eq!(group.ask(2, input), [Output::Void(order)]);
    }
}
