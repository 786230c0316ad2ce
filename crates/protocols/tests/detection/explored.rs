//! Every state of a small synchronous world: their number, and the property that each fault breaks.

use synod_check::{Question, explore};
use synod_core::Algorithm;
use synod_core::card::{Scope, Timing};
use synod_core::family::detection::{FD2, FD3};
use synod_protocols::detector::{EventuallyPerfect, Perfect};

/// Messages take a millisecond at most, as the detectors know; one process may crash.
fn bounded(n: usize) -> Scope {
    Scope { timing: Timing::Synchronous { delay_ms: 1 }, crashes: 1, ..Scope::of(n) }
}

/// The number of states, and the properties that do not hold in all of them.
fn explored<A: Algorithm>(scope: Scope) -> (usize, Vec<&'static str>) {
    let exploration = explore::<A>(&Question::new(scope), |_| {}).expect("the scope fits");
    assert!(exploration.exhausted(), "{scope:?}");
    let lost = exploration.verdicts.iter().filter(|verdict| verdict.refuted.is_some());
    (exploration.progress.unique, lost.map(|verdict| verdict.property).collect())
}

#[test]
fn the_perfect_detector_makes_no_mistake_in_a_synchronous_world() {
    assert_eq!(explored::<Perfect>(bounded(2)), (131, vec![]));
    assert_eq!(explored::<Perfect>(bounded(3)), (55_420, vec![]));
    let pings = Scope { set: &[("style", "ping")], ..bounded(2) };
    assert_eq!(explored::<Perfect>(pings), (889, vec![]));
}

#[test]
fn the_perfect_detector_never_recovers_from_one_late_or_lost_message_or_a_restart() {
    for broken in [
        Scope { late: 1, ..bounded(2) },
        Scope { drops: 1, ..bounded(2) },
        Scope { restarts: 1, ..bounded(2) },
    ] {
        assert_eq!(explored::<Perfect>(broken).1, [FD2, FD3], "{broken:?}");
    }
}

#[test]
fn the_perfect_detector_errs_if_its_time_out_is_a_millisecond_too_short() {
    let longer = Scope { timing: Timing::Synchronous { delay_ms: 2 }, ..bounded(2) };
    assert_eq!(explored::<Perfect>(longer).1, [FD2, FD3]);
}

#[test]
fn the_eventually_perfect_detector_recovers_from_all_of_that() {
    let worlds = [
        Scope { late: 1, ..bounded(2) },
        Scope { late: 2, ..bounded(2) },
        Scope { drops: 1, ..bounded(2) },
        Scope { restarts: 1, ..bounded(2) },
        Scope { timing: Timing::Synchronous { delay_ms: 2 }, ..bounded(2) },
    ];
    let states = worlds.map(|broken| {
        let (states, refuted) = explored::<EventuallyPerfect>(broken);
        assert_eq!(refuted, [FD2], "{broken:?}");
        states
    });
    assert_eq!(states, [1_075, 4_864, 481, 895, 1_834]);
}
