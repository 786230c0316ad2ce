//! Maekawa's way out of deadlock as he published it: without the correction by Sanders.
//!
//! When an earlier request displaces the head of a voter's queue, the voter does not tell the owner
//! of the displaced one. That owner goes on believing that it may win and gives up none of its
//! other votes, so the candidates that need them wait for ever (ME2).

use crate::mutex::sanders::{PARAMETERS, SOURCE, SandersProcess};
use synod_core::card::{Card, Counterexample, Mutant, Order, Scope, Size};
use synod_core::family::mutex::{ME1, ME2, Mutex};
use synod_core::{Algorithm, Rule, Setup, SetupError};

/// One process of the broken version.
pub type SandersUntold = SandersProcess<false>;

impl Algorithm for SandersUntold {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "sanders-untold",
        title: "Maekawa's way out of deadlock, without the correction by Sanders",
        source: SOURCE,
        idea: "Ask votes back for earlier requests, but do not tell a displaced one that it \
               failed.",
        assumes: &["reliable links, in any order", "no process crashes"],
        rules: &[Rule::on_message(
            "Request",
            "as maekawa-sanders, but the one displaced from the head of a queue is not told",
        )],
        promises: &[ME1],
        counterexamples: &[Counterexample {
            property: ME2,
            scope: Scope { order: Order::Fifo, ..Scope::of(4) },
            steps: 17,
            story: "all four ask at once; in the queue of p2, p0 displaces p1, which is not told; \
                    so p1 keeps its own vote, p0 waits for it, and p1 waits for that of p2, which \
                    p0 has",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: "maekawa-sanders",
            change: "a request displaced from the head of a queue is not told that it failed",
            breaks: ME2,
        }),
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn size(processes: &[Self]) -> Size {
        Self::voting_size(processes)
    }
}
