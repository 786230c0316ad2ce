//! Every schedule of small worlds. (The catalogue's tests explore worlds in which every process
//! starts once, and the counterexamples on the cards.)

use crate::rings::{all_rings, ring};
use synod_check::{Question, explore};
use synod_core::card::{Rounds, Scope, Timing};
use synod_core::family::Election;
use synod_core::family::election::{E1, E1_AGREE, E1_SELF, E2, E3};
use synod_core::{Algorithm, Setup};
use synod_protocols::election::{Bully, ChangRoberts, HirschbergSinclair, Luis};
use synod_sim::Judged;

/// Explores a scope: the number of states, and the promises that fail.
fn explored<A: Algorithm<Family = Election>>(
    scope: Scope,
    setup: Setup,
) -> (usize, Vec<&'static str>) {
    let scope = Scope { order: A::CARD.tolerates.order, ..scope };
    let question = Question { setup, judged: Judged::Promised, ..Question::new(scope) };
    let exploration = explore::<A>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    let refuted = exploration.verdicts.iter().filter(|verdict| verdict.refuted.is_some());
    (exploration.progress.unique, refuted.map(|verdict| verdict.property).collect())
}

/// Every ring of `n`, with every set of starters up to a size: the number of elections, and the
/// number of states in all. Every promise must hold in each.
fn every_ring<A: Algorithm<Family = Election>>(n: usize, at_most: u32) -> (usize, usize) {
    let (mut elections, mut states) = (0, 0);
    for ids in all_rings(n) {
        for starters in (1..1_u32 << n).filter(|set| set.count_ones() <= at_most) {
            let starts = |p: &usize| starters & 1 << p != 0;
            let names: Vec<String> =
                (0..ids.len()).filter(starts).map(|p| format!("p{p}")).collect();
            let setup = ring(&ids).with("starters", &names.join(" "));
            let (found, refuted) = explored::<A>(Scope::of(ids.len()), setup);
            assert!(refuted.is_empty(), "{ids:?}, {names:?} start: {refuted:?}");
            elections += 1;
            states += found;
        }
    }
    (elections, states)
}

#[test]
fn chang_and_roberts_keep_every_promise_in_every_ring_of_up_to_five_whoever_starts() {
    let explored: Vec<_> = (2..=5).map(|n| every_ring::<ChangRoberts>(n, 5)).collect();
    assert_eq!(explored, [(3, 42), (14, 726), (90, 17_305), (744, 525_195)]);
}

#[test]
fn hirschberg_and_sinclair_keep_every_promise_in_every_ring_of_up_to_three_whoever_starts() {
    let explored: Vec<_> = (2..=3).map(|n| every_ring::<HirschbergSinclair>(n, 3)).collect();
    assert_eq!(explored, [(3, 137), (14, 22_576)]);
}

#[test]
fn hirschberg_and_sinclair_keep_every_promise_in_every_ring_of_four_whichever_two_start() {
    assert_eq!(every_ring::<HirschbergSinclair>(4, 2), (60, 166_055));
}

#[test]
fn elections_that_follow_each_other_do_not_disturb_each_other() {
    let twice = Scope { rounds: Rounds::Times(2), ..Scope::of(3) };
    assert_eq!(explored::<ChangRoberts>(twice, Setup::new(3)), (1_181, vec![]));
    assert_eq!(explored::<HirschbergSinclair>(twice, Setup::new(3)), (86_526, vec![]));
}

#[test]
fn hirschberg_and_sinclair_need_no_order_on_the_links_because_elections_are_numbered() {
    let setup = Setup::new(3).with("starters", "p0 p2");
    let question = Question { setup, judged: Judged::Promised, ..Question::new(Scope::of(3)) };
    let exploration = explore::<HirschbergSinclair>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    assert!(exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none()));
    assert_eq!(exploration.progress.unique, 39_808);
}

const SYNCHRONOUS: Timing = Timing::Synchronous { delay_ms: 1 };

/// The greatest may crash unnoticed, so the elected process may be gone in the end. But all other
/// properties hold, for every crash, also in the middle of a step.
#[test]
fn three_bullies_of_which_one_may_crash_agree_on_one_and_come_to_an_end() {
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(3) };
    let judged = [E2, E3, E1_SELF, E1_AGREE].map(str::to_owned).to_vec();
    let question = Question { judged: Judged::Only(judged), ..Question::new(scope) };
    let exploration = explore::<Bully>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    assert!(exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none()));
    assert_eq!(exploration.progress.unique, 125_476);
}

/// The question of the course: p2 crashes, and is back when p1 has announced itself. (Announced
/// directly, it is the card's counterexample for E1-agree.)
#[test]
fn bullies_whose_announcements_are_ordered_agree_though_one_of_them_comes_back() {
    let set = &[("announce", "ordered"), ("starters", "p1")];
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, restarts: 1, set, ..Scope::of(3) };
    let judged = Judged::Only(vec![E1_AGREE.to_owned()]);
    let question = Question { judged, ..Question::new(scope) };
    let exploration = explore::<Bully>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    assert!(exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none()));
    assert_eq!(exploration.progress.unique, 90_312);
}

#[test]
fn no_epoch_has_two_leaders_and_all_agree_though_one_crashes() {
    let set = &[("announce", "epochs"), ("starters", "p1")];
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, set, ..Scope::of(3) };
    let judged = [E2, E1_SELF, E1_AGREE, "one-leader-per-epoch"].map(str::to_owned).to_vec();
    let question = Question { judged: Judged::Only(judged), ..Question::new(scope) };
    let exploration = explore::<Bully>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    assert!(exploration.verdicts.iter().all(|verdict| verdict.refuted.is_none()));
    assert_eq!(exploration.progress.unique, 1_772);
}

#[test]
fn bullies_with_a_perfect_detector_notice_a_crash_themselves() {
    let set = &[("detector", "perfect"), ("startup", "election")];
    let scope = Scope { timing: SYNCHRONOUS, crashes: 1, set, ..Scope::of(2) };
    let setup = Question::new(scope).setup;
    assert_eq!(explored::<Bully>(scope, setup), (24_817, vec![]));
}

/// With a perfect detector E1-self holds, too: the catalogue's tests explore that world.
#[test]
fn luis_with_an_eventually_perfect_detector_is_right_in_the_end_though_not_always() {
    let set = &[("detector", "eventually-perfect")];
    let scope = Scope { timing: SYNCHRONOUS, late: 1, set, ..Scope::of(2) };
    let judged = [E1, E2, E1_SELF].map(str::to_owned).to_vec();
    let question = Question { judged: Judged::Only(judged), ..Question::new(scope) };
    let exploration = explore::<Luis>(&question, |_| {}).expect("the setup is valid");
    assert!(exploration.exhausted());
    let refuted = exploration.verdicts.iter().filter(|verdict| verdict.refuted.is_some());
    assert_eq!(refuted.map(|verdict| verdict.property).collect::<Vec<_>>(), [E1_SELF]);
}
