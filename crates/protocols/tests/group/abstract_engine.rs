//! The abstract engine: it keeps the contract in every state, and it does all that the contract
//! allows.

use synod_check::{Question, explore};
use synod_core::card::{Order, Rounds, Scope, Settings};
use synod_core::family::multicast::Payload;
use synod_protocols::group::GroupEngine;

/// A world of `n` processes, the oracle included, each of which multicasts `rounds` times.
fn scope(n: usize, rounds: u32, set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(rounds), order: Order::Fifo, set, ..Scope::of(n) }
}

/// The number of states; the engine keeps the contract in all of them.
fn states(scope: Scope) -> usize {
    let exploration =
        explore::<GroupEngine<Payload>>(&Question::new(scope), |_| {}).expect("the scope fits");
    for verdict in &exploration.verdicts {
        assert!(verdict.refuted.is_none(), "{scope:?}: {:?}", verdict.refuted);
    }
    assert!(exploration.exhausted(), "{scope:?}");
    exploration.progress.unique
}

/// A member that dies before it is told that it lives again is dead nevertheless. And a message
/// that a member multicast before it died may have its place in a view of which no member has been
/// told yet.
#[test]
fn whoever_starts_again_and_dies_at_once_breaks_no_contract() {
    let counts = [
        scope(3, 1, &[("engine", "abstract"), ("faults", "crash restart die")]),
        scope(3, 1, &[("engine", "abstract"), ("faults", "die restart crash")]),
    ]
    .map(states);
    assert_eq!(counts, [23_165, 23_165]);
}

#[test]
fn the_abstract_engine_keeps_the_contract_in_every_state() {
    let counts = [
        scope(3, 1, &[("engine", "abstract")]),
        scope(3, 1, &[("engine", "abstract"), ("partitions", "1")]),
        scope(3, 1, &[("engine", "abstract"), ("partitions", "1"), ("level", "safe")]),
        scope(3, 1, &[("engine", "abstract"), ("partitions", "1"), ("merges", "1")]),
        scope(3, 1, &[("engine", "abstract"), ("faults", "die restart merge")]),
        scope(
            4,
            1,
            &[("engine", "abstract"), ("faults", "partition"), ("lag", "0"), ("late", "no")],
        ),
    ]
    .map(states);
    assert_eq!(counts, [37, 2_131, 1_809, 15_895, 14_321, 134_969]);
}
