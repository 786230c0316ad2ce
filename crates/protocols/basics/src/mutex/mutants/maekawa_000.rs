//! Maekawa's algorithm as some lecture slides print it: a process does not ask itself.
//!
//! The slides take the difference to Ricart and Agrawala too lightly. A process sends its request
//! to the *others* of its voting set, waits for K − 1 votes, and releases those. So it enters
//! though its own vote is given away (ME1), and it never serves the requests that it queued while
//! it was inside, because only a release from another process looks into the queue (ME2).
//!
//! The slides also put a request off if one's own pending request `(T, p_i)` is smaller, but no
//! rule assigns `T`. It is read as a constant here, so names decide; the defects do not depend on
//! it.

use crate::mutex::maekawa::{MaekawaProcess, SOURCE};
use crate::mutex::voting::SETS;
use synod_core::card::{Card, Counterexample, Mutant, Scope, Size};
use synod_core::family::mutex::{ME1, ME2, Mutex};
use synod_core::{Algorithm, Rule, Setup, SetupError};

/// One process of the broken version.
pub type Maekawa000 = MaekawaProcess<false>;

impl Algorithm for Maekawa000 {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "maekawa-000",
        title: "Maekawa's algorithm without the own vote",
        source: SOURCE,
        idea: "Ask the others of the voting set, but not oneself.",
        rules: &[
            Rule::on_input(
                "Enter",
                "enter: ask every other member of the voting set, and wait for K - 1 votes",
            ),
            Rule::on_message(
                "Request",
                "on a request: if inside, or the vote is given away, or we ask too and have the \
                 smaller name, queue the request; else give the vote",
            ),
            Rule::on_message("Reply", "on a reply: if it was the last vote missing, we are inside"),
            Rule::on_input("Exit", "exit: give every vote back"),
            Rule::on_message(
                "Release",
                "on a release: give the vote to the first in the queue, if there is one",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        counterexamples: &[
            Counterexample {
                property: ME1,
                scope: Scope::of(3),
                steps: 6,
                story: "p0 enters with the vote of p1; p1 asks p2, has its vote, and enters too, \
                        although its own vote is given away",
            },
            Counterexample {
                property: ME2,
                scope: Scope::of(3),
                steps: 9,
                story: "p1 has the vote of p2 and enters; inside it queues the request of p0; \
                        leaving, it releases p2 only, and nothing ever serves its own queue",
            },
        ],
        parameters: &[SETS],
        mutant: Some(Mutant {
            of: "maekawa",
            change: "a process neither asks for its own vote nor releases it",
            breaks: ME1,
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
