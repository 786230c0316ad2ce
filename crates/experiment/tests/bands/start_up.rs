//! The cost of the start-up, and the reason why simulations of the same rules disagree about it.

use super::{assert_near, mean, runs};
use synod_experiment::Allocator;
use synod_experiment::measure::Measured;
use synod_experiment::reference::Habits;
use synod_experiment::settings::{Settings, Start};

/// Failed for each success while the group starts up, and for a while after that.
fn failed(habits: Habits) -> f64 {
    let settings = Settings { rounds: 20_000, ..Settings::published() };
    mean(&runs(&settings, Allocator::Loose(habits), 2), Measured::failed_per_success)
}

#[test]
fn figures_of_an_independent_simulation_come_out_with_two_habits_together() {
    for (rounds, claims, failed, used) in
        [(70_000, 10.99, 0.173, 0.739), (100_000, 11.26, 0.145, 0.758)]
    {
        let settings = Settings { rounds, sample_every: 500, ..Settings::published() };
        let runs = runs(&settings, Allocator::Loose(Habits::SIMULATION), 1);
        assert_near(
            "claims per multicast",
            mean(&runs, Measured::claims_per_multicast),
            claims,
            0.4,
        );
        assert_near("failed per success", mean(&runs, Measured::failed_per_success), failed, 0.012);
        assert_near("used", mean(&runs, |run| run.used), used, 0.015);
        // Requests stay open for very long while the group starts up, and not in the end.
        assert!(runs.iter().all(|run| run.most_blocked > 0 && run.blocked == 0));
    }
}

#[test]
fn each_habit_by_itself_costs_less_than_both_together() {
    for (shares_of_all, forgets, expected) in
        [(false, false, 0.12), (false, true, 0.22), (true, false, 0.28), (true, true, 0.42)]
    {
        let habits = Habits { shares_of_all, forgets, ..Habits::PLAIN };
        assert_near(&format!("{habits:?}"), failed(habits), expected, 0.02);
    }
}

#[test]
fn whether_members_ask_before_or_after_a_claim_matters_little() {
    let after = Habits { asks_first: false, ..Habits::SIMULATION };
    assert_near("after", failed(after), failed(Habits::SIMULATION), 0.03);
}

#[test]
fn the_authors_program_starts_up_faster_although_joins_make_it_forget() {
    assert_near("program", failed(Habits::PROGRAM), 0.09, 0.01);
    let runs = runs(&Settings::published(), Allocator::Loose(Habits::PROGRAM), 1);
    assert_near("claims per multicast", mean(&runs, Measured::claims_per_multicast), 11.7, 0.3);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.087, 0.008);
    assert_near("used", mean(&runs, |run| run.used), 0.79, 0.01);
}

#[test]
fn without_a_start_up_the_loose_rules_do_as_well_as_those_that_views_guard() {
    let settings = Settings { start: Start::Together, rounds: 20_000, ..Settings::published() };
    let failed = |allocator| mean(&runs(&settings, allocator, 2), Measured::failed_per_success);
    let guarded = failed(Allocator::Repaired);
    assert_near("loose", failed(Allocator::Loose(Habits::SIMULATION)), guarded, 0.01);
}

#[test]
fn views_that_change_more_slowly_make_void_fewer_requests() {
    // With a join every ten rounds, 0.127.
    let settings = Settings { start: Start::Join { every: 50 }, ..Settings::published() };
    let runs = runs(&settings, Allocator::Repaired, 1);
    assert_near("failed per success", mean(&runs, Measured::failed_per_success), 0.089, 0.006);
}
