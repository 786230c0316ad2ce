//! What a donation cycle, a join and a merge cost, as the source states it, measured on the
//! abstract engine: a multicast is N messages there, one to the oracle and one to each of the N - 1
//! members.
//!
//! The source's formula (1) allows 1 / (N · Δ) cycles in a second, if Δ is the time that a
//! multicast takes: in a group of N members, a cycle is a request and N - 1 donations, so N
//! multicasts. Here the oracle counts as a process, but is no member.

use synod_core::card::{Bounds, Cost, Load, OtherCosts, Quantity, Settings, Size};

/// A cost of a run in which every application claims once, when all have joined.
const fn of_whole_run(
    name: &'static str,
    kind: &'static str,
    formula: &'static str,
    expected: fn(Size) -> Bounds,
) -> Cost {
    let quantity = Quantity::KindInAll(kind);
    Cost { name, quantity, load: Load::Saturated, formula, expected }
}

/// N - 1 members, of which all but one begin without a slot, and ask when they claim.
macro_rules! published {
    ($saved:literal) => {
        &[
            ("engine", "abstract"),
            ("rules", "repaired"),
            ("slots", "4096"),
            ("low", "1"),
            ("min", "0"),
            ("asks", "claims"),
            ("o1", "off"),
            ("o2", $saved),
            ("o3", $saved),
        ]
    };
}

const PLAIN: Settings = published!("off");
const SAVING: Settings = published!("on");

/// Two of the members, which have all begun alone, find each other.
const MERGE: Settings = &[
    ("engine", "abstract"),
    ("rules", "repaired"),
    ("min", "0"),
    ("asks", "claims"),
    ("start", "alone"),
    ("faults", "merge"),
];

/// The members without slots: all but the first of the N - 1.
fn poor(size: Size) -> usize {
    size.n.saturating_sub(2)
}

const JOINS: Cost = of_whole_run(
    "messages of the joins of N - 2 members",
    "PutStatus",
    "N(N - 2): one multicast each",
    |size| Bounds::exactly(size.n * poor(size)),
);

const REQUESTS: Cost = of_whole_run(
    "requests of N - 2 donation cycles, in messages",
    "Request",
    "N(N - 2): one multicast each",
    |size| Bounds::exactly(size.n * poor(size)),
);

const DONATIONS: Cost = of_whole_run(
    "donations of N - 2 donation cycles, in messages",
    "Donate",
    "N(N - 2)\u{b2}: one multicast of each other member",
    |size| Bounds::exactly(size.n * poor(size) * poor(size)),
);

const SAVED: Cost = of_whole_run(
    "donations of N - 2 donation cycles, in messages",
    "Donate",
    "N(N - 2) to N(N - 2)\u{b2}",
    |size| Bounds::between(size.n * poor(size), size.n * poor(size) * poor(size)),
);

const MERGES: Cost = of_whole_run(
    "messages of a merge of two lone members",
    "MergeStatus",
    "6: one multicast of each part, of 3 messages",
    |size| Bounds::exactly(if size.n > 2 { 6 } else { 0 }),
);

/// All of them.
pub(super) const OTHER_COSTS: &[OtherCosts] = &[
    OtherCosts::with(PLAIN, &[JOINS, REQUESTS, DONATIONS]),
    OtherCosts::with(SAVING, &[SAVED]),
    OtherCosts::with(MERGE, &[MERGES]),
];
