//! Ricart and Agrawala's tickets with numbers that do not grow.
//!
//! Numbers of requests that are outstanding at the same time differ by at most N − 1. So of two
//! numbers modulo 2N − 1 it is clear which one is the larger: it is the one that lies less than N
//! steps ahead of the other.
//!
//! Here a process counts its own numbers as received. Otherwise the number that it last received
//! may lie N steps behind one that arrives: its own, taken since, is the first of those steps.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, ME2. Not ME3.
//! - Cost: 2(N − 1) messages per entry; one hop from exit to entry.
//! - State: two numbers below 2N − 1, and two sets of at most N − 1 names. All is bounded, so that
//!   an exploration of endless requests comes to an end.
//!
//! Source: G. Ricart, A. Agrawala: An optimal algorithm for mutual exclusion in computer networks.
//! CACM 24(1), 1981, on bounding the sequence numbers.

use super::{RicartAgrawalaTickets, TICKETS, Tickets, Version};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use synod_core::card::{Card, Counterexample, Rounds, Scope, Source};
use synod_core::family::mutex::ME3;
use synod_core::{Algorithm, Cx, Invariant, Snapshot};

/// The version with bounded numbers: the modulus is 2N less `LESS`. With 1 it is right; with 2 it
/// is the mutant [`ra-small-modulus`](crate::mutex::mutants::tickets).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Modulo<const LESS: u64>;

/// One process of the right version.
pub type RicartAgrawalaBounded = Tickets<Modulo<1>>;

impl<const LESS: u64> Modulo<LESS> {
    fn modulus(n: usize) -> u64 {
        (2 * n as u64).saturating_sub(LESS).max(1)
    }
}

impl<const LESS: u64> Version for Modulo<LESS> {
    const CARD: Card = if LESS == 1 { CARD } else { crate::mutex::mutants::tickets::SMALL_MODULUS };

    const COUNTS_OWN: bool = true;

    const INVARIANTS: &'static [Invariant<Tickets<Self>>] = &[Invariant {
        name: "tickets-bounded",
        statement: "every number is smaller than 2N - 1",
        holds: every_number_is_small,
    }];

    fn number(highest: u64, cx: &mut Cx<'_, Tickets<Self>>) -> u64 {
        let modulus = Self::modulus(cx.group_size());
        (highest % modulus + 1) % modulus
    }

    fn compare(number: u64, other: u64, n: usize) -> Ordering {
        let modulus = Self::modulus(n);
        match (number % modulus + modulus - other % modulus) % modulus {
            0 => Ordering::Equal,
            ahead if ahead < n as u64 => Ordering::Greater,
            _ => Ordering::Less,
        }
    }
}

fn every_number_is_small<const L: u64>(snapshot: &Snapshot<'_, Tickets<Modulo<L>>>) -> bool {
    let modulus = Modulo::<L>::modulus(snapshot.size());
    snapshot.processes().all(|process| process.my_number.max(process.highest) < modulus)
}

/// The card; the mutant takes most of it over.
pub(in crate::mutex) const CARD: Card = Card {
    name: "ricart-agrawala-bounded",
    aliases: &["ra-bounded"],
    title: "Ricart and Agrawala's mutual exclusion with bounded tickets",
    source: Source {
        author: "G. Ricart, A. Agrawala",
        year: 1981,
        work: "An optimal algorithm for mutual exclusion in computer networks, CACM 24(1)",
    },
    idea: "Numbers modulo 2N - 1 are enough: of two that matter at the same time, the larger is \
           less than N steps ahead.",
    rules: <RicartAgrawalaTickets as Algorithm>::CARD.rules,
    promises: <RicartAgrawalaTickets as Algorithm>::CARD.promises,
    proved: &[
        Scope { rounds: Rounds::Forever, ..Scope::of(1) },
        Scope { rounds: Rounds::Forever, ..Scope::of(2) },
        Scope { rounds: Rounds::Forever, ..Scope::of(3) },
    ],
    counterexamples: &[Counterexample {
        property: ME3,
        scope: Scope { tells: 1, ..Scope::of(2) },
        steps: 6,
        story: "p1 asks with number 1 and tells p0, which has received no number yet and asks with \
                1 too; p0 wins the tie",
    }],
    costs: <RicartAgrawalaTickets as Algorithm>::CARD.costs,
    other_costs: <RicartAgrawalaTickets as Algorithm>::CARD.other_costs,
    parameters: &[],
    ..TICKETS
};
