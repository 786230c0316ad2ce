//! A [ring](crate::mutex::token_ring) whose token does not go on.

use crate::mutex::token_ring::{RingProcess, TokenRing};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::mutex::{ME1, ME2, Mutex};
use synod_core::{Algorithm, Invariant, Setup, SetupError};

/// A process that leaves keeps the token until it wants to enter again.
pub type TokenRingKeeper = RingProcess<false>;

impl Algorithm for TokenRingKeeper {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "token-ring-keeper",
        aliases: &[],
        title: "a ring in which a process that leaves keeps the token",
        idea: "Who has been inside keeps the token for the next time. Nobody can ask for it, so the \
               others wait for ever.",
        promises: &[ME1],
        counterexamples: &[Counterexample {
            property: ME2,
            scope: Scope::of(2),
            steps: 4,
            story: "p1 gets the token, enters and leaves, and wants nothing more; p0 requests, and \
                    the token never comes",
        }],
        costs: &[],
        restless: false,
        mutant: Some(Mutant {
            of: "token-ring",
            change: "a process that leaves does not pass the token on",
            breaks: ME2,
        }),
        ..TokenRing::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Self::ONE_TOKEN]
    }
}
