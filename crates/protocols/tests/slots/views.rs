//! Pools with every fault any number of times, explored one view at a time.

use super::lazy::{at_any_time, calm_states, look, nameless};
use std::collections::{BTreeMap, BTreeSet};
use synod_check::Question;
use synod_check::views::{Explored, Settings, explore_views, watch_views};
use synod_core::card::Scope;
use synod_core::{ProcessId, ProcessSet};
use synod_protocols::slots::Slots;
use synod_protocols::slots::mutants::DeathOfALife;

/// Members that share a pool, of which p1 owns all slots at first.
fn members(count: u32, rules: &str, slots: u32) -> Vec<(ProcessId, Slots)> {
    let nodes: ProcessSet = (1..=count).map(ProcessId).collect();
    let (slots, owned) = (slots.to_string(), format!("p1:{slots}"));
    let pool = [("rules", rules), ("slots", &slots), ("owned", &owned)];
    let stocks = [("low", "1"), ("stock", "1")];
    let mut setup = Question::new(Scope::of(count as usize)).setup;
    for (name, value) in pool.iter().chain(&stocks) {
        setup = setup.with(name, value);
    }
    let member = |node| (node, Slots::from_setup(node, &nodes, &setup).expect("it fits"));
    nodes.iter().map(member).collect()
}

/// The numbers of states between views and of moments inside views, provided that all properties
/// hold.
fn counts(count: u32, rules: &str, slots: u32) -> (usize, usize) {
    let explored = explore_views(&members(count, rules, slots), &Settings::default(), |_| {});
    assert!(explored.broken.is_none(), "{explored:#?}");
    assert_eq!(explored.waiting, 0);
    (explored.states, explored.moments)
}

#[test]
fn everything_holds_for_two_members_however_much_goes_wrong() {
    let repaired = [1, 2, 3, 4].map(|slots| counts(2, "repaired", slots));
    assert_eq!(repaired, [(42, 281), (73, 450), (73, 450), (73, 450)]);
    let offers = [1, 2, 3, 4].map(|slots| counts(2, "offers", slots));
    assert_eq!(offers, [(52, 327), (120, 747), (218, 1_239), (362, 1_998)]);
}

#[test]
fn everything_holds_for_three_members_with_repaired_rules_however_much_goes_wrong() {
    assert_eq!(counts(3, "repaired", 1), (1_576, 99_774));
    assert_eq!(counts(3, "repaired", 2), (3_557, 216_399));
}

#[test]
fn everything_holds_for_three_members_with_offers_however_much_goes_wrong() {
    assert_eq!(counts(3, "offers", 1), (2_006, 64_003));
    assert_eq!(counts(3, "offers", 2), (6_213, 181_310));
}

/// The visible states of the members of each view, at every moment.
fn seen(rules: &str, slots: u32, settings: &Settings) -> BTreeSet<Vec<String>> {
    let mut seen = BTreeSet::new();
    let members = members(2, rules, slots);
    let explored = watch_views(
        &members,
        settings,
        |_| {},
        |view| {
            seen.insert(view.iter().map(|member| look(member)).collect());
        },
    );
    assert!(explored.broken.is_none(), "{explored:#?}");
    nameless(seen)
}

/// The same, from the explorer that steps through all views at once.
fn seen_by_steps(rules: &'static str) -> BTreeSet<Vec<String>> {
    let any = ["partitions", "merges", "deaths", "node-crashes", "restarts"].map(|f| (f, "any"));
    let lazy = [("passing", "lazy"), ("across", "no")];
    let question = at_any_time(3, rules, &[&any[..], &lazy].concat());
    let mut views = BTreeSet::new();
    for members in calm_states(&question).0 {
        // Members of one view agree on its list of members.
        let mut together = BTreeMap::<String, Vec<String>>::new();
        for member in members.into_iter().filter(|member| !member.starts_with("Outside")) {
            let group = member.split("ready").next().unwrap_or_default();
            let view = group.split("([").nth(1).unwrap_or_default().split(']').next();
            together.entry(view.unwrap_or_default().to_owned()).or_default().push(member.clone());
        }
        views.extend(together.into_values());
    }
    nameless(views)
}

#[test]
fn view_by_view_and_step_by_step_the_same_is_seen() {
    for rules in ["repaired", "offers"] {
        let by_views = seen(rules, 2, &Settings::default());
        let by_steps = seen_by_steps(rules);
        assert!(by_steps.len() > 30, "there is something to compare");
        assert!(by_steps.is_subset(&by_views), "{rules}");
        // Members may get the same view again, which adds one visible state with the repaired
        // rules.
        assert!(by_views.len() <= by_steps.len() + 1, "{rules}");
    }
}

#[test]
fn what_members_forget_between_views_makes_no_difference() {
    for rules in ["repaired", "offers"] {
        let remembers = Settings { forgets: false, ..Settings::default() };
        assert_eq!(seen(rules, 2, &Settings::default()), seen(rules, 2, &remembers), "{rules}");
    }
}

/// The refuted property, and the number of views before.
fn refuted(members: &[(ProcessId, Slots)]) -> (&'static str, usize) {
    let settings = Settings { forgets: false, ..Settings::default() };
    let Explored { broken, depth, .. } = explore_views(members, &settings, |_| {});
    let (broken, history) = broken.expect("a rule is broken");
    assert_eq!(history.iter().filter(|line| line.starts_with("a view")).count(), depth);
    (broken.property, depth)
}

#[test]
fn the_death_of_a_life_taken_for_its_nodes_gives_a_slot_two_owners() {
    for rules in ["repaired", "offers"] {
        let mutants = members(3, rules, 2).into_iter();
        let mutants: Vec<_> = mutants.map(|(node, m)| (node, DeathOfALife::mutate(m))).collect();
        assert_eq!(refuted(&mutants), ("pi1-owned", 3), "{rules}");
    }
}

#[test]
fn the_published_rules_are_refuted_too() {
    assert_eq!(refuted(&members(2, "paper", 2)), ("pi2-equal", 2));
}
