//! A [vector clock](crate::time::vector) that does not pass on what it was told.

use crate::time::vector::{Clock, VectorClock};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::logical_time::{LogicalTime, T1, T2, T3};
use synod_core::{Algorithm, Setup, SetupError};

/// A receiver takes over the count of the sender, and not those that the sender knows of others.
pub type VectorDirect = Clock<false>;

impl Algorithm for VectorDirect {
    type Family = LogicalTime;

    const CARD: Card = Card {
        name: "vector-direct",
        aliases: &[],
        title: "A vector clock that learns from the sender about the sender alone",
        idea: "A message tells how many events its sender had. That third processes are in the past \
               of the sender, too, is lost.",
        promises: &[T1, T3],
        counterexamples: &[Counterexample {
            property: T2,
            scope: Scope::of(3),
            steps: 4,
            story: "p0 sends to p1, and p1, which knows of that, to p2. The message has the time \
                    [1,2,0], and its arrival [0,2,1], because p2 has not heard from p0 itself.",
        }],
        mutant: Some(Mutant {
            of: "vector-clock",
            change: "a receiver takes over the count of the sender only, not every count that is \
                     larger",
            breaks: T2,
        }),
        ..VectorClock::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Self::group(setup))
    }
}
