//! The worlds that were explored to the end with the rules that hold.
//!
//! Except in the last eight worlds, no application claims a slot: slots move because stocks are
//! low. A proof about ownership covers every use of a slot, because only its owner uses it.

use super::refuted::{busy, quiet};
use synod_core::card::{Larger, Rounds, Scope, Settings};
use synod_core::family::slots::{FENCE, PI1, PI2, PI4, PI15};

/// A pool on the abstract engine, in which one or two members own no slot.
macro_rules! pool {
    ($rules:literal, $slots:literal, $owned:literal, $($name:literal: $value:literal),*) => {
        &[
            ("engine", "abstract"),
            ("rules", $rules),
            ("slots", $slots),
            ("low", "1"),
            ("stock", "1"),
            ("owned", $owned),
            $(($name, $value)),*
        ]
    };
}

/// The network falls apart, at any moment.
const SPLIT: [Settings; 2] = [
    pool!("repaired", "3", "p1:2 p2:1", "partitions": "1"),
    pool!("offers", "3", "p1:2 p2:1", "partitions": "1"),
];

/// All kinds of faults, in any order: the network falls apart twice and comes together twice, a
/// process dies and starts again. The last two settings reach the same histories in fewer states.
const EVERYTHING: [Settings; 2] = [
    pool!("repaired", "2", "p1:1 p2:1", "partitions": "2", "merges": "2", "deaths": "1",
        "restarts": "1", "passing": "lazy", "across": "no"),
    pool!("offers", "2", "p1:1 p2:1", "partitions": "2", "merges": "2", "deaths": "1",
        "restarts": "1", "passing": "lazy", "across": "no"),
];

/// Four slots, and one fault of each kind.
const FOUR_SLOTS: [Settings; 2] = [
    pool!("repaired", "4", "p1:2 p2:2", "partitions": "1", "merges": "1", "deaths": "1",
        "restarts": "1", "passing": "lazy", "across": "no"),
    pool!("offers", "4", "p1:2 p2:2", "partitions": "1", "merges": "1", "deaths": "1",
        "restarts": "1", "passing": "lazy", "across": "no"),
];

/// Four members. The network falls apart and comes together, and one member dies.
const FOUR_MEMBERS: [Settings; 2] = [
    pool!("repaired", "2", "p1:1 p2:1", "partitions": "1", "merges": "1", "deaths": "1",
        "passing": "lazy", "across": "no"),
    pool!("offers", "2", "p1:1 p2:1", "partitions": "1", "merges": "1", "deaths": "1",
        "passing": "lazy", "across": "no"),
];

/// Each node may die, crash and start again while the network falls apart. So the next life of a
/// node that is known to be dead meets others elsewhere.
const LIVES: [Settings; 2] = [
    pool!("repaired", "2", "p1:2", "partitions": "2", "deaths": "1", "node-crashes": "1",
        "restarts": "2", "passing": "lazy", "across": "no"),
    pool!("offers", "2", "p1:2", "partitions": "2", "deaths": "1", "node-crashes": "1",
        "restarts": "2", "passing": "lazy", "across": "no"),
];

/// Two members and every fault, any number of times.
const ENDLESS: [Settings; 2] = [
    pool!("repaired", "3", "p1:3", "partitions": "any", "merges": "any", "deaths": "any",
        "node-crashes": "any", "restarts": "any", "passing": "lazy", "across": "no"),
    pool!("offers", "3", "p1:3", "partitions": "any", "merges": "any", "deaths": "any",
        "node-crashes": "any", "restarts": "any", "passing": "lazy", "across": "no"),
];

/// Two members that claim and release.
const CLAIMS: [Settings; 2] = [
    pool!("repaired", "2", "p1:2", "partitions": "1", "late": "no", "passing": "once"),
    pool!("offers", "2", "p1:2", "partitions": "1", "late": "no", "passing": "once"),
];

/// One member claims again and again, and the other has more free slots than it needs (π5).
pub(super) const HUNGER: Settings = &[
    ("engine", "abstract"),
    ("rules", "offers"),
    ("slots", "4"),
    ("owned", "p1:1 p2:3"),
    ("used", "p1:1"),
    ("late", "no"),
    ("lag", "1"),
    ("passing", "once"),
];

/// Two members that only claim, and two that find each other.
const OFFERS: Settings =
    &[("engine", "abstract"), ("stock", "1"), ("slots", "2"), ("owned", "p1:1 p2:1")];
const REPAIRED: Settings =
    &[("engine", "abstract"), ("rules", "repaired"), ("slots", "2"), ("owned", "p1:1 p2:1")];
const FROM_NOTHING: Settings = &[
    ("engine", "abstract"),
    ("rules", "repaired"),
    ("slots", "2"),
    ("low", "1"),
    ("start", "alone"),
    ("faults", "merge"),
    ("lag", "1"),
];

/// Two members whose claims wait, and are cancelled, while the network falls apart; p2 has no slot.
pub(super) const WAITING: [Settings; 2] = [
    pool!("repaired", "1", "p1:1", "partitions": "1", "late": "no", "passing": "once",
        "wait": "10", "cancels": "yes"),
    pool!("offers", "1", "p1:1", "partitions": "1", "late": "no", "passing": "once",
        "wait": "10", "cancels": "yes"),
];

/// One member with one slot, for which its claims wait.
pub(super) const TURNS: Settings = &[
    ("engine", "abstract"),
    ("rules", "offers"),
    ("slots", "1"),
    ("owned", "p1:1"),
    ("late", "no"),
    ("lag", "1"),
    ("passing", "once"),
    ("wait", "10"),
];

/// Small worlds in which all promises are proved.
pub(super) const PROVED: &[Scope] = &[
    quiet(4, SPLIT[0]),
    quiet(4, SPLIT[1]),
    quiet(4, EVERYTHING[0]),
    quiet(4, EVERYTHING[1]),
    quiet(4, FOUR_SLOTS[0]),
    quiet(4, FOUR_SLOTS[1]),
    quiet(5, FOUR_MEMBERS[0]),
    quiet(5, FOUR_MEMBERS[1]),
    quiet(4, LIVES[0]),
    quiet(4, LIVES[1]),
    quiet(3, ENDLESS[0]),
    quiet(3, ENDLESS[1]),
    busy(3, CLAIMS[0]),
    busy(3, CLAIMS[1]),
    busy(3, WAITING[0]),
    busy(3, WAITING[1]),
    busy(3, OFFERS),
    busy(3, REPAIRED),
    busy(3, FROM_NOTHING),
    Scope { rounds: Rounds::Times(3), ..busy(3, HUNGER) },
];

/// Three members, and every fault any number of times: one, then the next when all is calm.
pub(super) const LARGER: &[Larger] = &[Larger {
    scope: quiet(
        4,
        pool!("offers", "1", "p1:1", "partitions": "any", "merges": "any", "deaths": "any",
            "node-crashes": "any", "restarts": "any", "passing": "lazy", "across": "no",
            "burst": "1"),
    ),
    holds: &[PI1, PI2, PI4, PI15, FENCE],
    states: 209_803,
    seconds: 11,
    mebibytes: 222,
}];
