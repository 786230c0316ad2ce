//! The allocators to compare with.

use super::{assert_near, mean, runs};
use synod_experiment::erlang::failed_per_success;
use synod_experiment::measure::Measured;
use synod_experiment::settings::{Settings, Start};
use synod_experiment::{Allocator, run};

/// In the baseline and the static split all members are there from the beginning.
fn together() -> Settings {
    Settings { start: Start::Together, ..Settings::published() }
}

#[test]
fn the_baseline_with_the_slip_gives_the_published_figures() {
    let runs = runs(&together(), Allocator::MutualExclusionWithSlip, 2);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 6.1, 0.4);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 1.10, 0.1);
}

#[test]
fn the_baseline_without_the_slip_is_better_than_published() {
    let runs = runs(&together(), Allocator::MutualExclusion, 2);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 14.2, 0.3);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.024, 0.006);
    assert_near("used", mean(&runs, |run| run.used), 0.801, 0.015);
}

#[test]
fn a_static_split_under_the_authors_arrivals_fails_less_often_than_slots_as_published() {
    let runs = runs(&together(), Allocator::Static, 2);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.071, 0.004);
    assert_eq!(runs[0].multicasts, 0);
}

#[test]
fn a_static_split_and_a_pool_without_latency_are_what_erlangs_formula_says() {
    for load in [0.7, 0.857, 1.0] {
        let settings = Settings { rounds: 40_000, ..Settings::clean(load) };
        let split = runs(&settings, Allocator::Static, 2);
        let formula = failed_per_success(24.0 * load, 24);
        assert_near("split", mean(&split, Measured::failed_per_success), formula, 0.004);
        let pool = runs(&settings, Allocator::Oracle, 2);
        let formula = failed_per_success(768.0 * load, 768);
        assert_near("pool", mean(&pool, Measured::failed_per_success), formula, 0.012);
    }
}

#[test]
fn an_all_knowing_mover_loses_little_and_only_because_of_its_latency() {
    let failed = |load| {
        let settings = Settings { rounds: 20_000, ..Settings::clean(load) };
        mean(&runs(&settings, Allocator::Mover, 2), Measured::failed_per_success)
    };
    assert!(failed(0.70) < 0.001);
    assert_near("85.7 %", failed(0.857), 0.018, 0.004);
    assert_near("95 %", failed(0.95), 0.076, 0.008);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    let settings = Settings { rounds: 2_000, ..Settings::published() };
    for allocator in [Allocator::MutualExclusion, Allocator::Mover] {
        let one = run(&settings, allocator, 7, &|_| ());
        assert_eq!(one, run(&settings, allocator, 7, &|_| ()));
        assert_ne!(one, run(&settings, allocator, 8, &|_| ()));
    }
}
