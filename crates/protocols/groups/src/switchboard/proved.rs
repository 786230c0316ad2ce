//! The worlds in which all promises of the switchboard are proved.
//!
//! In a quiet world the application claims nothing, and the slots move with the views and by the
//! stocks of members. A busy world has claims, too, so it is smaller.

use synod_core::card::{Order, Rounds, Scope, Settings, Timing};

/// Members that act only on views and low stocks.
pub(super) const fn quiet(n: usize, set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(0), order: Order::Fifo, set, ..Scope::of(n) }
}

/// Members that claim a slot once, at any time, and release it.
const fn busy(n: usize, set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(1), ..quiet(n, set) }
}

/// Parameters of a world on the abstract engine, in which each member keeps one free slot.
macro_rules! world {
    ($pools:literal, $slots:literal, $($name:literal: $value:literal),* $(,)?) => {
        &[
            ("engine", "abstract"),
            ("pools", $pools),
            ("slots", $slots),
            ("stock", "1"),
            $(($name, $value)),*
        ]
    };
}

/// Two members open a pool at any time, and the network may fall apart.
const OPENED_AT_ANY_TIME: Settings =
    world!("1", "2", "partitions": "1", "late": "no", "passing": "once");

/// Three members, of which one dies, while the network falls apart and comes together.
const EVERYTHING: Settings = world!("1", "2", "opened": "yes", "partitions": "1", "merges": "1",
    "deaths": "1", "passing": "lazy", "across": "no");

/// p2 founds the pool. Members begin alone, and p3 is added: only itself knows of it at first.
pub(super) const ADDED_IN_A_CUT: Settings = world!("1", "2", "opened": "yes", "founder": "p2",
    "added": "p3", "start": "alone", "faults": "merge partition merge", "passing": "lazy",
    "across": "no");

/// The same, and the node that met the added one crashes, and starts again.
const ADDED_BEFORE_A_CRASH: Settings = world!("1", "2", "opened": "yes", "founder": "p2",
    "added": "p3", "start": "alone", "faults": "merge partition crash restart merge",
    "passing": "lazy", "across": "no");

/// The founder's node crashes and starts again.
pub(super) const FOUNDED: Settings = world!("1", "2", "opened": "yes", "founder": "p1",
    "faults": "crash restart", "passing": "lazy", "across": "no");

/// The founder is cut off from the start, or crashes, or meets another node that has the pool.
const FOUNDED_APART: Settings = world!("1", "2", "opened": "yes", "founder": "p1",
    "start": "alone", "partitions": "1", "merges": "2", "node-crashes": "1", "restarts": "1",
    "passing": "lazy", "across": "no");

/// The founder hears of its pool before or after other nodes.
const FOUNDED_AT_ANY_TIME: Settings = world!("1", "2", "founder": "p1", "start": "alone",
    "merges": "1", "late": "no", "passing": "once");

/// Members part, meet again, and go on together before the services enter the view.
pub(super) const CUT_BETWEEN_VIEWS: Settings = world!("1", "2", "opened": "yes", "founder": "p1",
    "start": "alone", "faults": "merge partition merge merge", "passing": "lazy", "across": "no");

/// Three members with two pools.
const TWO_POOLS: Settings = world!("2", "2", "opened": "yes", "partitions": "1", "merges": "1",
    "passing": "lazy", "across": "no");

/// Two members that claim and release.
const CLAIMS: Settings = world!("1", "2", "opened": "yes", "partitions": "1", "late": "no",
    "passing": "once", "lag": "1");

/// Two members open a pool and a group at any time, and cast in the group.
const CASTS: Settings = world!("1", "1", "says": "1", "late": "no", "passing": "once");

/// The engine that runs for real. A heartbeat arrives within half a period, and a node that is
/// silent for two periods is excluded.
const EMBEDDED: Scope = Scope {
    timing: Timing::Synchronous { delay_ms: 1 },
    crashes: 1,
    ..quiet(2, &[("pools", "1"), ("slots", "2"), ("period", "2"), ("timeout", "4")])
};

pub(super) const PROVED: &[Scope] = &[
    quiet(3, OPENED_AT_ANY_TIME),
    quiet(4, EVERYTHING),
    quiet(4, TWO_POOLS),
    busy(3, CLAIMS),
    quiet(3, CASTS),
    EMBEDDED,
    quiet(4, ADDED_IN_A_CUT),
    quiet(4, ADDED_BEFORE_A_CRASH),
    quiet(3, FOUNDED),
    quiet(3, FOUNDED_APART),
    quiet(3, FOUNDED_AT_ANY_TIME),
    quiet(4, CUT_BETWEEN_VIEWS),
];
