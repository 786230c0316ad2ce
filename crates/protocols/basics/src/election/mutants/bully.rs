//! A [bully](crate::election::bully) that does not wait long enough.

use crate::detector::parameter;
use crate::election::bully::{Bully, Process};
use synod_core::card::{Card, Counterexample, Mutant, Scope, Timing};
use synod_core::family::election::{E1_SELF, E3, Election, IDS, STARTERS};
use synod_core::{Algorithm, ProcessId, Setup, SetupError};

/// A process waits for an answer as long as one message takes, and not as long as its question and
/// the answer together.
pub type BullyHasty = Process<false>;

impl Algorithm for BullyHasty {
    type Family = Election;

    const CARD: Card = Card {
        name: "bully-hasty",
        aliases: &[],
        title: "García-Molina's bully with half the patience",
        idea: "If no greater one has answered within the time of one message, we are the \
               coordinator.",
        promises: &[E3],
        variants: &[],
        proved: &[],
        parameters: &[IDS, STARTERS, parameter::DELAY],
        layers: &[],
        costs: &[],
        counterexamples: &[Counterexample {
            property: E1_SELF,
            scope: Scope { timing: Timing::Synchronous { delay_ms: 1 }, ..Scope::of(2) },
            steps: 5,
            story: "p0 asks p1 and gives up before the answer can be there: both believe themselves \
                    elected, although no message was late and no process has crashed",
        }],
        mutant: Some(Mutant {
            of: "bully",
            change: "a process waits D + P for an answer, and not 2D + P",
            breaks: E1_SELF,
        }),
        fails_with: "--latency 6ms..10ms --param delay=10",
        ..Bully::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }
}
