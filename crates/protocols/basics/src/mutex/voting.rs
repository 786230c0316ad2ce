//! The part of the cards that both voting algorithms share.

use super::cost::{entry_hops, entry_messages, per_entry};
use super::voting_sets;
use synod_core::ProcessId;
use synod_core::card::{Bounds, Cost, Load, Parameter};

pub(super) const SETS: Parameter = Parameter {
    name: voting_sets::PARAMETER,
    meaning: "the voting sets: optimal, grid, or one for each process, e.g. p0 p1 | p1 p2 | p2 p0 \
              (default: optimal)",
};

/// One request, one vote and one release for every member of the voting set but oneself.
pub(super) const ALONE: Cost = Cost {
    name: "messages per entry, alone",
    load: Load::Sequential,
    ..per_entry("3(K - 1)", |size| Bounds::exactly(3 * (size.k - 1)))
};

/// One request and one vote for every member of the voting set but oneself.
pub(super) const ENTRY_MESSAGES: Cost =
    entry_messages("2(K - 1)", |size| Bounds::exactly(2 * (size.k - 1)));

/// All requests travel at the same time, and so do all votes.
pub(super) const ENTRY_HOPS: Cost =
    entry_hops("2", |size| Bounds::exactly(if size.k == 1 { 0 } else { 2 }));

/// Whether each vote that its voter has given away was found in exactly one place, and each other
/// vote in none. `given` has one answer per voter; `found` names the voter of each vote that was
/// found.
pub(super) fn each_in_one_place(
    given: impl ExactSizeIterator<Item = bool>,
    found: impl Iterator<Item = ProcessId>,
) -> bool {
    let mut places = vec![0; given.len()];
    for voter in found {
        places[voter.index()] += 1;
    }
    given.zip(places).all(|(given, places)| places == usize::from(given))
}
