//! SLOTS: as published, repaired, with offers.

use super::{assert_near, mean, runs};
use synod_experiment::measure::Measured;
use synod_experiment::settings::{HotSpot, Partition, Settings, Timing};
use synod_experiment::{Allocator, run};

#[test]
fn repaired_slots_from_the_join_phase_has_the_published_efficiency() {
    let runs = runs(&Settings::published(), Allocator::Repaired, 2);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 11.5, 0.3);
    // Another simulation has 0.145; `start_up.rs` explains why.
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.127, 0.01);
    assert_near("used", mean(&runs, |run| run.used), 0.771, 0.01);
    assert!(runs.iter().all(|run| run.blocked == 0));
}

#[test]
fn repaired_slots_in_a_steady_state_is_as_good_as_a_static_split_at_best() {
    let settings = Settings { warm_up: 20_000, rounds: 60_000, ..Settings::published() };
    let runs = runs(&settings, Allocator::Repaired, 2);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 11.9, 0.3);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.086, 0.008);
    assert_near("used", mean(&runs, |run| run.used), 0.804, 0.01);
}

#[test]
fn slots_as_published_blocks_and_repaired_it_does_not() {
    let settings = Settings { rounds: 10_000, ..Settings::published() };
    let blocked = |allocator| run(&settings, allocator, 1, &|_| ()).blocked;
    assert!(blocked(Allocator::Paper) >= 16);
    // A join clears what blocked before it; members block again when all have joined.
    assert!(blocked(Allocator::PaperAsProgrammed) >= 8);
    assert_eq!(run(&settings, Allocator::Repaired, 1, &|_| ()).blocked, 0);
}

#[test]
fn no_member_gives_slots_that_it_must_keep_and_all_agree_in_the_end() {
    let settings = Settings { rounds: 1_000, ..Settings::clean(0.857) };
    for allocator in [Allocator::Repaired, Allocator::Offers] {
        let run = run(&settings, allocator, 1, &|_| ());
        assert_eq!((run.overgenerous, run.disagreements), (0, 0), "{}", allocator.name());
        assert_eq!(run.owned, settings.slots);
    }
}

#[test]
fn every_side_of_a_partition_goes_on_and_afterwards_nothing_is_lost() {
    let partition = Some(Partition { from: 1_000, until: 2_000, left: 3 });
    let settings = Settings {
        nodes: 8,
        slots: 192,
        rounds: 3_000,
        warm_up: 0,
        partition,
        sample_every: 100,
        ..Settings::clean(0.7)
    };
    for allocator in [Allocator::Repaired, Allocator::Offers] {
        let run = run(&settings, allocator, 1, &|_| ());
        assert_eq!((run.owned, run.disagreements), (192, 0), "{}", allocator.name());
        for sample in run.samples.iter().filter(|sample| sample.round > 0) {
            let served = |members: &[synod_experiment::measure::MemberSample]| {
                members.iter().map(|member| member.succeeded).sum::<u32>()
            };
            assert!(served(&sample.members[..3]) > 0 && served(&sample.members[3..]) > 0);
        }
    }
}

#[test]
fn donations_that_are_asked_for_at_claims_have_these_figures_without_limits() {
    let settings = Settings { rounds: 5_000, warm_up: 1_000, ..Settings::clean(0.857) };
    let runs = runs(&settings, Allocator::Repaired, 2);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 0.238, 0.01);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.0434, 0.004);
    assert_near("used", mean(&runs, |run| run.used), 0.823, 0.01);
}

fn failed(settings: &Settings) -> (f64, f64) {
    let runs = runs(settings, Allocator::Offers, 2);
    (mean(&runs, Measured::failed_per_success), mean(&runs, Measured::claims_per_multicast))
}

#[test]
fn offers_fail_less_often_than_donations_with_a_tenth_of_the_multicasts() {
    let settings = Settings { rounds: 4_000, ..Settings::clean(0.857) };
    let donations = runs(&settings, Allocator::Repaired, 1);
    let (failed, claims) = failed(&settings);
    assert!(failed < donations[0].failed_per_success() * 0.8, "{failed}");
    assert!(claims > donations[0].claims_per_multicast() * 10.0, "{claims}");
}

#[test]
fn offers_stay_close_to_the_mover_up_to_high_loads() {
    for load in [0.7, 0.857, 0.95] {
        let settings = Settings { rounds: 10_000, ..Settings::clean(load) };
        let mover = mean(&runs(&settings, Allocator::Mover, 2), Measured::failed_per_success);
        let (failed, _) = failed(&settings);
        assert!(failed < mover + 0.015, "{load}: {failed}, mover {mover}");
    }
}

#[test]
fn offers_serve_a_hot_spot() {
    let hot_spot = Some(HotSpot { share: 0.5, moves_every: 0 });
    let settings = Settings { rounds: 10_000, hot_spot, ..Settings::clean(0.857) };
    let split = mean(&runs(&settings, Allocator::Static, 1), Measured::failed_per_success);
    let (failed, _) = failed(&settings);
    assert!(failed < 0.045 && split > 0.8, "{failed} {split}");
}

#[test]
fn a_longer_latency_costs_claims() {
    let at = |latency| {
        let timing = Timing::Clean { latency };
        failed(&Settings { rounds: 2_000, timing, ..Settings::clean(0.857) }).0
    };
    assert!(at(1) < at(5) && at(5) < at(30));
}
