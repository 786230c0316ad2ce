//! G1 to G4, and integrity.

use super::*;

#[test]
fn two_may_not_deliver_in_different_orders() {
    let mut run = Run::begun(2);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(1, 1));
    run.delivers(0, &[&a, &b]);
    run.delivers(1, &[&b]);
    assert_eq!(run.violated(), [G1]);
}

#[test]
fn one_may_be_behind_the_other() {
    let mut run = Run::begun(2);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(1, 1));
    run.delivers(0, &[&a, &b]);
    run.delivers(1, &[&a]);
    assert_eq!(run.violated(), [""; 0]);
    assert_eq!(run.waiting(G3), [1]);
}

#[test]
fn no_member_skips_a_message_in_a_regular_configuration() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(0, 2));
    run.delivers(0, &[&a, &b]);
    run.delivers(1, &[&b]);
    assert_eq!(run.violated(), [G1]);
}

#[test]
fn a_transitional_configuration_may_have_gaps() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(0, 2));
    run.delivers(0, &[&a, &b]);
    run.goes_on(1, &[1, 2]);
    run.delivers(1, &[&b]);
    run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn a_transitional_configuration_has_the_same_order() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(0, 2));
    run.delivers(0, &[&a, &b]);
    run.goes_on(1, &[1, 2]);
    run.delivers(1, &[&b, &a]);
    assert_eq!(run.violated(), [G1]);
}

#[test]
fn the_regular_configuration_has_the_same_order_as_a_transitional_one_before() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(0, 2));
    run.goes_on(1, &[1, 2]);
    run.delivers(1, &[&b, &a]);
    run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
    run.delivers(0, &[&a, &b]);
    assert_eq!(run.violated(), [G1]);
}

#[test]
fn a_side_may_deliver_its_own_message_late_because_it_cannot_know_its_place() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(0, 1), run.multicasts(1, 1));
    run.delivers(0, &[&b, &a]);
    run.goes_on(1, &[1, 2]);
    run.delivers(1, &[&a, &b]);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn members_that_go_together_have_delivered_the_same() {
    let mut run = Run::begun(3);
    let a = run.multicasts(0, 1);
    run.delivers(1, &[&a]);
    run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
    run.enters(2, id(2, 1), &[(V1, &[1, 2])]);
    assert_eq!(run.violated(), [G2]);
}

#[test]
fn members_that_go_together_agree_on_the_regular_deliveries() {
    let mut run = Run::begun(3);
    let a = run.multicasts(0, 1);
    run.delivers(1, &[&a]);
    run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
    run.goes_on(2, &[1, 2]);
    run.delivers(2, &[&a]);
    run.enters(2, id(2, 1), &[(V1, &[1, 2])]);
    assert_eq!(run.violated(), [G2]);
}

#[test]
fn members_that_go_together_have_the_same_order_on_the_way() {
    let mut run = Run::begun(3);
    let (a, b) = (run.multicasts(1, 1), run.multicasts(2, 1));
    for (at, messages) in [(1, [&a, &b]), (2, [&b, &a])] {
        run.goes_on(at, &[1, 2]);
        run.delivers(at, &messages);
        run.enters(at, id(2, 1), &[(V1, &[1, 2])]);
    }
    assert_eq!(run.violated(), [G2]);
}

#[test]
fn members_of_another_part_may_have_delivered_other_messages() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.delivers(0, &[&a]);
    let parts: [From<'_>; 2] = [(V1, &[0]), (V1, &[1])];
    run.enters(0, id(2, 0), &parts);
    run.enters(1, id(2, 0), &parts);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn a_sender_waits_for_its_own_message() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.delivers(1, &[&a]);
    assert_eq!(run.waiting(G3), [0]);
    assert_eq!(run.0.complaint(G3, ProcessId(0)), "has not delivered its own message 1 of p0");
    run.delivers(0, &[&a]);
    assert_eq!(run.waiting(G3), [0; 0]);
}

#[test]
fn a_sender_that_crashes_leaves_or_is_refused_waits_for_no_message() {
    let mut run = Run::begun(3);
    (0..3).for_each(|at| drop(run.multicasts(at, 1)));
    run.0.on_crash(ProcessId(0));
    run.leaves(1);
    run.outputs(2, Event::Refused(Payload::numbered(1)));
    assert_eq!(run.waiting(G3), [0; 0]);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn no_member_goes_on_without_its_own_message_if_others_have_delivered_it() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.delivers(1, &[&a]);
    run.enters(0, id(2, 0), &[(V1, &[0])]);
    assert_eq!(run.violated(), [G3]);
}

#[test]
fn no_member_delivers_a_message_whose_sender_has_gone_on_without_it() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.enters(0, id(2, 0), &[(V1, &[0])]);
    run.delivers(1, &[&a]);
    assert_eq!(run.violated(), [G3]);
}

#[test]
fn a_message_that_no_member_has_delivered_may_come_in_a_later_view() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    for at in [0, 1] {
        run.enters(at, id(2, 0), &[(V1, &[0, 1])]);
        run.delivers(at, &[&a]);
    }
    assert_eq!(run.violated(), [""; 0]);
    assert_eq!(run.waiting(G3), [0; 0]);
}

#[test]
fn no_member_goes_on_without_a_safe_message_that_others_have_delivered() {
    let mut run = Run::begun(2);
    let a = run.asks(0, 1, Level::Safe);
    run.delivers(0, &[&a]);
    assert_eq!(run.waiting(G4), [1]);
    run.enters(1, id(2, 1), &[(V1, &[1])]);
    assert_eq!(run.violated(), [G4]);
}

#[test]
fn no_member_delivers_a_safe_message_that_another_has_gone_on_without() {
    let mut run = Run::begun(2);
    let a = run.asks(0, 1, Level::Safe);
    run.enters(1, id(2, 1), &[(V1, &[1])]);
    run.delivers(0, &[&a]);
    assert_eq!(run.violated(), [G4]);
}

#[test]
fn a_safe_message_may_come_on_the_way_or_not_at_all_to_a_crashed_member() {
    let mut run = Run::begun(3);
    let a = run.asks(0, 1, Level::Safe);
    run.goes_on(1, &[1]);
    run.delivers(1, &[&a]);
    run.enters(1, id(2, 1), &[(V1, &[1])]);
    run.0.on_crash(ProcessId(2));
    run.delivers(0, &[&a]);
    assert_eq!(run.violated(), [""; 0]);
    assert_eq!(run.waiting(G4), [0; 0]);
}

#[test]
fn an_agreed_message_may_be_missing_on_the_other_side() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.delivers(0, &[&a]);
    run.enters(1, id(2, 1), &[(V1, &[1])]);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn no_message_is_delivered_without_a_multicast_or_twice() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.delivers(1, &[&a]);
    run.delivers(1, &[&a]);
    assert_eq!(run.violated(), [INTEGRITY]);
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    let forged = Delivery { message: Payload::numbered(2), ..a.clone() };
    let other_life = Delivery { sender: Member { incarnation: 2, ..a.sender }, ..a.clone() };
    let other_view = Delivery { sent_in: id(9, 0), ..a.clone() };
    for (count, wrong) in (1..).zip([forged, other_life, other_view]) {
        run.delivers(1, &[&wrong]);
        assert_eq!(run.1.len(), count, "{wrong:?}");
    }
    assert_eq!(run.violated(), [INTEGRITY]);
}

#[test]
fn a_message_is_delivered_in_one_view_only() {
    let mut run = Run::begun(3);
    let a = run.multicasts(0, 1);
    run.delivers(0, &[&a]);
    run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
    run.delivers(1, &[&a]);
    assert_eq!(run.violated(), [INTEGRITY]);
}

#[test]
fn no_member_delivers_a_message_outside_of_a_view() {
    let mut run = Run::begun(2);
    let a = run.multicasts(0, 1);
    run.outputs(1, Event::Lost);
    run.delivers(1, &[&a]);
    assert_eq!(run.violated(), [INTEGRITY]);
}
