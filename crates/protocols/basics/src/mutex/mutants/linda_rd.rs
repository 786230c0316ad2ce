//! Mutual exclusion in Linda with `rd` in place of `in`: the key is read, and stays in the space.
//!
//! One letter is the difference between a lock and none: the next process reads the same key
//! (ME1).

use crate::mutex::linda::{LindaProcess, SOURCE};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::mutex::{ME1, ME2, Mutex};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError};

/// One process of the broken version.
pub type LindaRd = LindaProcess<false>;

impl Algorithm for LindaRd {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "linda-rd",
        title: "mutual exclusion in a tuple space, with rd in place of in",
        source: SOURCE,
        idea: "To enter, read the key, but leave it in the space.",
        rules: &[Rule::on_input("Enter", "as linda, but enter by rd(key)")],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME2],
        counterexamples: &[Counterexample {
            property: ME1,
            scope: Scope::of(3),
            steps: 6,
            story: "p1 and p2 read the same key, one after the other, and both enter",
        }],
        mutant: Some(Mutant {
            of: "linda",
            change: "a process enters by rd, which leaves the key in the space, and not by in",
            breaks: ME1,
        }),
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Self::group(setup))
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_client()
    }
}
