//! O2 and O3 together, tried in every order: as published they block, as repaired they do not.

use crate::hand::Group;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use synod_core::family::slots::{Input, Output};

/// The members `asking` ask once each, at any time; messages are delivered in any order. Returns
/// the number of final states in which a member still waits for answers.
fn stuck(n: u32, asking: &[u32], spare: bool, settings: &[(&str, &str)]) -> usize {
    let owned = if spare { 9 } else { 1 };
    let owned: Vec<String> = (1..=n).map(|at| format!("p{at}:{owned}")).collect();
    let mut all = vec![("slots", "40"), ("low", "1"), ("owned", "")];
    let owned = owned.join(" ");
    all[2].1 = &owned;
    all.extend(settings);
    let start = (Group::settled(n, &all), asking.to_vec());
    let mut seen = BTreeSet::from([print(&start)]);
    let mut open = vec![start];
    let mut blocked = 0;
    while let Some((group, left)) = open.pop() {
        let mut next = Vec::new();
        for at in &left {
            let mut group = group.clone();
            // A member is short only when it uses all its slots.
            while !group.ask(*at, Input::Claim).iter().any(|told| matches!(told, Output::Asks(_))) {
            }
            let left = left.iter().copied().filter(|other| other != at).collect::<Vec<_>>();
            next.push((group, left));
        }
        for from in group.speakers() {
            let mut group = group.clone();
            group.deliver(from);
            next.push((group, left.clone()));
        }
        if next.is_empty() && (1..=n).any(|at| is_waiting(&group, at)) {
            blocked += 1;
        }
        open.extend(next.into_iter().filter(|state| seen.insert(print(state))));
    }
    blocked
}

/// 64 bits that tell two states apart.
fn print(state: &(Group, Vec<u32>)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(state)
}

fn is_waiting(group: &Group, at: u32) -> bool {
    let asks = group.told(at).iter().filter(|output| matches!(output, Output::Asks(_))).count();
    let got = group.told(at).iter().filter(|output| matches!(output, Output::Got(_))).count();
    asks > got
}

const TEXT: &[(&str, &str)] = &[("rules", "paper"), ("o2o3", "text")];
const CODE: &[(&str, &str)] = &[("rules", "paper"), ("o2o3", "code")];
const FIXED: &[(&str, &str)] = &[("rules", "repaired")];

/// The numbers are those of another program that was written from the same rules.
#[test]
fn the_published_rules_block_and_the_repaired_ones_do_not() {
    for (n, asking, spare, expected) in [
        (2, &[1, 2][..], false, [0, 0, 0]),
        (3, &[1, 2], false, [5, 5, 0]),
        (3, &[1, 2], true, [0, 10, 0]),
        (3, &[1, 2, 3], false, [69, 327, 0]),
        (4, &[1, 2], false, [9, 27, 0]),
        (4, &[1, 3], false, [42, 42, 0]),
    ] {
        let counts = [TEXT, CODE, FIXED].map(|rules| stuck(n, asking, spare, rules));
        assert_eq!(counts, expected, "{n} members, {asking:?} ask, a surplus: {spare}");
    }
}

#[test]
fn either_optimisation_alone_blocks_nobody_but_as_the_authors_wrote_it_the_second_does() {
    let stuck = |rules: &[(&str, &str)], off| {
        stuck(3, &[1, 2, 3], false, &[rules, &[(off, "off")]].concat())
    };
    for rules in [TEXT, CODE, FIXED] {
        assert_eq!(stuck(rules, "o2"), 0, "{rules:?}");
    }
    assert_eq!((stuck(TEXT, "o3"), stuck(FIXED, "o3")), (0, 0));
    assert!(stuck(CODE, "o3") > 0);
}
