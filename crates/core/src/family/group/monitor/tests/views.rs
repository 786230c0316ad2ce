//! G5, the views themselves, settling, and forgetting.

use super::*;

#[test]
fn an_unreachable_member_is_not_said_to_be_dead_or_to_have_left() {
    for (cause, wrong) in [
        (Cause::Partition, false),
        (Cause::Disconnect, true),
        (Cause::Leave, true),
        (Cause::Restart, true),
        (Cause::Merge, true),
    ] {
        let mut run = Run::begun(2);
        let mut view = run.view(0, id(2, 0), &[(V1, &[0])]);
        view.left[0].cause = cause;
        run.is_told(0, view);
        assert_eq!(run.violated().contains(&G5), wrong, "{cause:?}");
    }
}

#[test]
fn a_crashed_member_may_be_said_to_be_dead_and_one_that_asked_to_have_left() {
    let mut run = Run::begun(3);
    run.0.on_crash(ProcessId(1));
    run.leaves(2);
    let mut view = run.view(0, id(2, 0), &[(V1, &[0])]);
    (view.left[0].cause, view.left[1].cause) = (Cause::Disconnect, Cause::Leave);
    run.is_told(0, view);
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn a_new_life_proves_the_old_one_dead_but_not_itself() {
    let mut run = Run::begun(2);
    run.0.on_crash(ProcessId(1));
    run.0.on_restart(ProcessId(1));
    let parts: [From<'_>; 2] = [(V1, &[0]), (NEW, &[1])];
    let mut view = run.view(0, id(2, 0), &parts);
    assert_eq!((view.left.len(), view.joined.len()), (1, 1), "p1 left, p1'2 joined");
    view.left[0].cause = Cause::Restart;
    run.is_told(0, view);
    run.enters(1, id(2, 0), &parts);
    assert_eq!(run.violated(), [""; 0]);
    let mut view = run.view(0, id(3, 0), &[(Some(id(2, 0)), &[0])]);
    view.left[0].cause = Cause::Disconnect;
    run.is_told(0, view);
    assert_eq!(run.violated(), [G5]);
}

#[test]
fn a_member_that_has_been_elsewhere_is_not_said_to_have_ended_in_this_view() {
    for (cause, wrong) in [
        (Cause::Partition, false),
        (Cause::Restart, false),
        (Cause::Disconnect, true),
        (Cause::Leave, true),
    ] {
        let mut run = Run::begun(2);
        run.enters(1, id(2, 1), &[(V1, &[1])]);
        run.leaves(1);
        run.0.on_crash(ProcessId(1));
        let mut view = run.view(0, id(3, 0), &[(V1, &[0])]);
        view.left[0].cause = cause;
        run.is_told(0, view);
        assert_eq!(run.violated().contains(&G5), wrong, "{cause:?}");
    }
}

#[test]
fn a_member_with_a_past_merges_and_does_not_join() {
    for cause in [Cause::Join, Cause::Merge] {
        let mut run = Run::begun(3);
        run.enters(0, id(2, 0), &[(V1, &[0])]);
        run.enters(1, id(2, 1), &[(V1, &[1, 2])]);
        let parts: [From<'_>; 2] = [(Some(id(2, 0)), &[0]), (Some(id(2, 1)), &[1, 2])];
        let mut view = run.view(0, id(3, 0), &parts);
        view.joined[0].cause = cause;
        run.is_told(0, view);
        assert_eq!(run.violated().contains(&G5), cause == Cause::Join);
    }
}

#[test]
fn a_member_that_was_alone_until_now_joins_and_does_not_merge() {
    for cause in [Cause::Join, Cause::Merge] {
        let mut run = Run::of(2);
        run.enters(0, id(1, 0), &[(NEW, &[0])]);
        run.enters(1, id(1, 1), &[(NEW, &[1])]);
        let parts: [From<'_>; 2] = [(V1, &[0]), (Some(id(1, 1)), &[1])];
        let mut view = run.view(0, id(2, 0), &parts);
        view.joined[0].cause = cause;
        run.is_told(0, view);
        assert_eq!(run.violated().contains(&G5), cause == Cause::Merge);
    }
}

#[test]
fn no_member_is_said_to_come_from_a_view_in_which_it_was_not() {
    let mut run = Run::of(2);
    run.enters(0, id(1, 0), &[(NEW, &[0])]);
    run.enters(1, id(1, 1), &[(NEW, &[1])]);
    run.enters(0, id(2, 0), &[(V1, &[0, 1])]);
    assert_eq!(run.violated(), [G5]);
}

#[test]
fn the_way_to_a_view_is_told_as_it_is_and_alike_to_all() {
    let mut run = Run::begun(3);
    run.goes_on(0, &[0, 1]);
    run.enters(0, id(2, 0), &[(V1, &[0, 1, 2])]);
    assert_eq!(run.violated(), [G5], "p2 was not named");
    let mut run = Run::begun(2);
    run.enters(0, id(2, 0), &[(V1, &[0, 1])]);
    run.enters(1, id(2, 0), &[(V1, &[0]), (V1, &[1])]);
    assert_eq!(run.violated(), [G5], "others were told otherwise");
}

#[test]
fn every_member_that_joined_or_left_is_named() {
    for forget in ["joined", "left"] {
        let mut run = Run::begun(2);
        run.enters(0, id(2, 0), &[(V1, &[0])]);
        run.enters(1, id(2, 1), &[(V1, &[1])]);
        let mut view = run.view(0, id(3, 0), &[(Some(id(2, 0)), &[0]), (Some(id(2, 1)), &[1])]);
        match forget {
            "joined" => view.joined.clear(),
            _ => view.left = vec![Change { member: run.member(1), cause: Cause::Partition }],
        }
        run.is_told(0, view);
        assert_eq!(run.violated(), [G5], "{forget}");
    }
}

#[test]
fn views_have_growing_epochs_and_new_names() {
    let mut run = Run::begun(2);
    run.enters(0, id(3, 0), &[(V1, &[0])]);
    assert_eq!(run.violated(), [""; 0]);
    run.enters(0, id(2, 0), &[(Some(id(3, 0)), &[0])]);
    assert_eq!(run.violated(), [VIEWS]);
}

#[test]
fn a_node_that_starts_again_does_not_use_its_old_names() {
    for life in [1, 2] {
        let mut run = Run::of(1);
        run.enters(0, id(1, 0), &[(NEW, &[0])]);
        run.0.on_crash(ProcessId(0));
        run.0.on_restart(ProcessId(0));
        let by = Member { node: ProcessId(0), incarnation: life };
        run.enters(0, ViewId { epoch: 1, by }, &[(NEW, &[0])]);
        assert_eq!(run.violated().contains(&VIEWS), life == 1);
    }
}

#[test]
fn views_of_the_same_name_have_the_same_members() {
    let mut run = Run::begun(3);
    run.enters(0, id(2, 0), &[(V1, &[0, 1])]);
    run.enters(1, id(2, 0), &[(V1, &[0, 1, 2])]);
    assert!(run.violated().contains(&VIEWS));
}

#[test]
fn a_member_is_in_its_views_and_no_node_is_that_never_lived() {
    let mut run = Run::begun(2);
    run.enters(1, id(2, 0), &[(V1, &[0])]);
    assert!(run.violated().contains(&VIEWS));
    let mut run = Run::begun(2);
    let mut view = run.view(0, id(2, 0), &[(V1, &[0]), (NEW, &[1])]);
    view.members[1].incarnation = 2;
    view.joined = vec![Change { member: view.members[1], cause: Cause::Join }];
    view.left = vec![Change { member: run.member(1), cause: Cause::Partition }];
    run.is_told(0, view);
    assert_eq!(run.violated(), [VIEWS]);
}

#[test]
fn a_view_is_over_before_the_next_begins_but_may_be_told_twice() {
    let mut run = Run::begun(1);
    let view = run.view(0, id(1, 0), &[(NEW, &[0])]);
    run.outputs(0, Event::View(view));
    assert_eq!(run.violated(), [""; 0]);
    let view = run.view(0, id(2, 0), &[(V1, &[0])]);
    run.outputs(0, Event::View(view));
    assert_eq!(run.violated(), [VIEWS]);
}

#[test]
fn a_node_that_lost_its_membership_is_another_member_afterwards() {
    let mut run = Run::begun(2);
    run.outputs(1, Event::Lost);
    let parts: [From<'_>; 2] = [(V1, &[0]), (NEW, &[1])];
    run.enters(0, id(2, 0), &parts);
    run.enters(1, id(2, 0), &parts);
    assert_eq!(run.0.nodes[1].life, 2);
    assert_eq!((run.violated(), run.waiting(SETTLES)), (vec![], vec![]));
}

#[test]
fn in_the_end_all_who_are_up_and_reachable_share_one_view() {
    let mut run = Run::begun(3);
    assert_eq!(run.waiting(SETTLES), [0; 0]);
    run.0.on_crash(ProcessId(2));
    assert_eq!(run.waiting(SETTLES), [0, 1]);
    let apart = |a: ProcessId, b: ProcessId| a == b;
    run.0.on_links(&apart);
    run.enters(0, id(2, 0), &[(V1, &[0])]);
    assert_eq!(run.waiting(SETTLES), [1], "p0 is alone, and knows it");
    run.enters(1, id(2, 1), &[(V1, &[1])]);
    assert_eq!(run.waiting(SETTLES), [0; 0]);
    run.0.on_links(&|_, _| true);
    assert_eq!(run.waiting(SETTLES), [0, 1], "the links are mended");
    assert_eq!(
        run.0.complaint(SETTLES, ProcessId(1)),
        "is in v2.1, not with all whom it can reach"
    );
}

#[test]
fn where_reach_is_one_way_no_view_is_demanded() {
    let mut run = Run::begun(2);
    run.enters(0, id(2, 0), &[(V1, &[0])]);
    run.0.on_links(&|from, _| from == ProcessId(0));
    assert_eq!(run.waiting(SETTLES), [0; 0]);
}

#[test]
fn on_the_abstract_engine_every_view_is_of_members_who_live_and_know_it() {
    let setup = Setup::new(3).with(ENGINE.name, "abstract");
    let mut run = Run(Historian::new(&setup, &|_| true), Vec::new());
    assert_eq!(run.waiting(SETTLES), [1, 2], "p0 is no member");
    run.enters(1, id(1, 1), &[(NEW, &[1])]);
    run.enters(2, id(1, 2), &[(NEW, &[2])]);
    assert_eq!(run.waiting(SETTLES), [0; 0], "they may be apart");
    run.enters(1, id(2, 1), &[(Some(id(1, 1)), &[1]), (Some(id(1, 2)), &[2])]);
    assert_eq!(run.waiting(SETTLES), [1], "p2 does not know yet");
}

/// The two runs differ in their past, and the difference no longer matters.
#[test]
fn what_no_longer_matters_is_forgotten() {
    let mut runs = [Run::begun(2), Run::begun(2)];
    for (run, first) in runs.iter_mut().zip([0, 1]) {
        let (a, b) = (run.multicasts(first, 1), run.multicasts(1 - first, 1));
        for at in [first, 1 - first] {
            run.delivers(at, &[&a, &b]);
            run.enters(at, id(2, 0), &[(V1, &[0, 1])]);
        }
        assert_eq!((run.0.messages.len(), run.0.views.len()), (0, 1));
    }
    assert_eq!(runs[0].0, runs[1].0);
}

#[test]
fn a_long_view_takes_up_no_more_than_a_short_one() {
    let mut run = Run::begun(2);
    for number in 1..=100 {
        let a = run.multicasts(0, number);
        run.delivers(0, &[&a]);
        run.delivers(1, &[&a]);
    }
    let record = &run.0.views[&id(1, 0)];
    assert_eq!((run.0.messages.len(), record.order.len(), record.end()), (0, 0, 100));
    assert_eq!(run.violated(), [""; 0]);
}
