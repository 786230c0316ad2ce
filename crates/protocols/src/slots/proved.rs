//! Where the rules that hold were explored to the end.
//!
//! Nobody claims anything in these worlds (but in the last five): slots move because stocks are low, and
//! what is proved of ownership holds whatever is done with a slot.

use super::refuted::{busy, quiet};
use synod_core::card::{Scope, Settings};

/// A pool on the abstract engine, in which a member or two have nothing.
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

/// It falls apart and comes together, and a process dies: the same histories as without the last two
/// settings, in fewer states.
const SPLIT_MERGE_DEATH: [Settings; 2] = [
    pool!("repaired", "3", "p1:2 p2:1", "partitions": "1", "merges": "1", "deaths": "1",
        "passing": "lazy", "across": "no"),
    pool!("offers", "3", "p1:2 p2:1", "partitions": "1", "merges": "1", "deaths": "1",
        "passing": "lazy", "across": "no"),
];

/// It falls apart twice, and comes together twice.
const SPLITS_AND_MERGES: [Settings; 2] = [
    pool!("repaired", "2", "p1:1 p2:1", "partitions": "2", "merges": "2", "passing": "lazy",
        "across": "no"),
    pool!("offers", "2", "p1:1 p2:1", "partitions": "2", "merges": "2", "passing": "lazy",
        "across": "no"),
];

/// Four members, of whom one dies and starts again; or whose network falls apart.
const FOUR: [Settings; 2] = [
    pool!("repaired", "2", "p1:1 p2:1", "deaths": "1", "restarts": "1", "passing": "lazy",
        "across": "no"),
    pool!("offers", "2", "p1:1 p2:1", "partitions": "1", "passing": "lazy", "across": "no"),
];

/// Everything, but only when all is calm.
const CALM: [Settings; 2] = [
    pool!("repaired", "4", "p1:2 p2:2", "partitions": "2", "merges": "2", "deaths": "1",
        "restarts": "1", "calm": "yes", "late": "no", "passing": "once", "lag": "0"),
    pool!("offers", "4", "p1:2 p2:2", "partitions": "2", "merges": "2", "deaths": "1",
        "restarts": "1", "calm": "yes", "late": "no", "passing": "once", "lag": "0"),
];

/// Two members that claim and release.
const CLAIMS: [Settings; 2] = [
    pool!("repaired", "2", "p1:2", "partitions": "1", "late": "no", "passing": "once"),
    pool!("offers", "2", "p1:2", "partitions": "1", "late": "no", "passing": "once"),
];

/// Two members to whom nothing happens but claims, and two that find each other.
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

/// Small worlds in which all promises were proved.
pub(super) const PROVED: &[Scope] = &[
    quiet(4, SPLIT[0]),
    quiet(4, SPLIT[1]),
    quiet(4, SPLIT_MERGE_DEATH[0]),
    quiet(4, SPLIT_MERGE_DEATH[1]),
    quiet(4, SPLITS_AND_MERGES[0]),
    quiet(4, SPLITS_AND_MERGES[1]),
    quiet(5, FOUR[0]),
    quiet(5, FOUR[1]),
    quiet(4, CALM[0]),
    quiet(4, CALM[1]),
    busy(3, CLAIMS[0]),
    busy(3, CLAIMS[1]),
    busy(3, OFFERS),
    busy(3, REPAIRED),
    busy(3, FROM_NOTHING),
];
