//! Claims that wait: a claim that would fail is a delayed one.

use super::{assert_near, mean, runs};
use synod_experiment::measure::Measured;
use synod_experiment::settings::{Settings, Start};
use synod_experiment::{Allocator, Delays, Summary, run};

/// Runs in a network without limits, in which claims wait for up to a thousand rounds.
fn clean(allocator: Allocator) -> (Summary, Delays) {
    let settings = Settings { rounds: 5_000, wait: Some(1_000), ..Settings::clean(0.857) };
    let summary = Summary::of(&settings, &runs(&settings, allocator, 1));
    let delays = summary.delays.expect("claims wait");
    (summary, delays)
}

#[test]
fn with_offers_one_claim_of_forty_waits_for_two_rounds_at_most() {
    let (summary, delays) = clean(Allocator::Offers);
    assert_eq!(summary.failed_per_success.mean, 0.0);
    assert_near("delayed", delays.delayed, 0.026, 0.004);
    assert_eq!((delays.half, delays.nine_of_ten), (1, 2));
    assert!(delays.longest <= 8, "{delays:?}");
}

#[test]
fn with_donations_one_claim_of_ten_waits_and_for_longer() {
    let (summary, delays) = clean(Allocator::Repaired);
    assert_eq!(summary.failed_per_success.mean, 0.0);
    assert_near("delayed", delays.delayed, 0.098, 0.01);
    assert_eq!(delays.half, 3);
    assert_near("nine of ten", delays.nine_of_ten as f64, 9.0, 1.0);
}

#[test]
fn with_the_published_rules_four_claims_of_ten_wait_and_some_in_vain() {
    let (summary, delays) = clean(Allocator::Paper);
    assert!(summary.failed_per_success.mean > 0.0);
    assert_near("delayed", delays.delayed, 0.41, 0.05);
    assert!((40..90).contains(&delays.half) && delays.nine_of_ten > 200, "{delays:?}");
}

#[test]
fn under_the_timing_of_the_authors_offers_wait_less_often_and_less_long() {
    let settings = Settings {
        start: Start::Together,
        warm_up: 10_000,
        rounds: 20_000,
        wait: Some(1_000),
        ..Settings::published()
    };
    let of = |allocator| Summary::of(&settings, &runs(&settings, allocator, 1)).delays;
    let repaired = of(Allocator::Repaired).expect("claims wait");
    let offers = of(Allocator::Offers).expect("claims wait");
    assert_near("delayed, repaired", repaired.delayed, 0.46, 0.06);
    assert_near("delayed, offers", offers.delayed, 0.22, 0.03);
    assert!(offers.half <= 8 && repaired.half >= 25, "{offers:?} {repaired:?}");
    assert!(offers.nine_of_ten <= 30 && repaired.nine_of_ten >= 120, "{offers:?} {repaired:?}");
}

#[test]
fn all_that_is_claimed_is_used_if_claims_wait_for_long() {
    let settings = Settings { wait: Some(1_000), ..Settings::clean(0.857) };
    for allocator in [Allocator::Repaired, Allocator::Offers] {
        let run = run(&settings, allocator, 1, &|_| ());
        assert_near("used", run.used, run.offered(settings.slots), 0.005);
        assert_eq!((run.overgenerous, run.disagreements), (0, 0));
    }
}

#[test]
fn claims_that_do_not_wait_for_long_fail_less_often_than_those_that_do_not_wait() {
    let at = |wait| {
        let settings = Settings { wait, rounds: 3_000, ..Settings::clean(0.95) };
        mean(&runs(&settings, Allocator::Offers, 1), Measured::failed_per_success)
    };
    let (refused, short, long) = (at(None), at(Some(2)), at(Some(20)));
    assert!(refused > 1.5 * short && short > 5.0 * long, "{refused} {short} {long}");
}
