//! Two ways to spoil [consensus in synchronous rounds](crate::consensus::sync_consensus).

use crate::consensus::rounds::{AT_ONCE, Rounds, Synchronous};
use crate::consensus::sync_consensus::{ASSUMES, Flooding, PARAMETERS, SOURCE, TOLERATES};
use synod_core::byzantine::Byzantine;
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::consensus::{AGREEMENT, ONCE, TERMINATION, UNANIMITY, VALIDITY};
use synod_core::{Setup, SetupError};

const OF: &str = "sync-consensus";
const PROMISES: &[&str] = &[ONCE, VALIDITY, UNANIMITY, TERMINATION];

/// The index of the textbook, taken at its word: values that arrive in the last round do not count.
pub type SyncConsensusOffByOne = Byzantine<Rounds<Flooding<false, true>>>;

impl Synchronous for Flooding<false, true> {
    const CARD: Card = Card {
        name: "sync-consensus-off-by-one",
        title: "Consensus in f + 1 rounds that decides on Values^{f+1}",
        source: SOURCE,
        idea: "Values that arrive in the last round are in Values^{f+2}, and are ignored.",
        assumes: ASSUMES,
        tolerates: TOLERATES,
        promises: PROMISES,
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { timing: AT_ONCE, crashes: 1, set: &[("f", "1")], ..Scope::of(3) },
            steps: 16,
            story: "p0 crashes when it has told p1 only; p1 tells p2 in the last round, too late \
                    to count",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: OF,
            change: "it decides without the values of the last round",
            breaks: AGREEMENT,
        }),
        fails_with: "-n 3 --param f=1 --crashes 1 --within 0ms --latency 0ms..1ms",
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::processes(setup)
    }
}

/// One round less.
pub type SyncConsensusFRounds = Byzantine<Rounds<Flooding<true, false>>>;

impl Synchronous for Flooding<true, false> {
    const CARD: Card = Card {
        name: "sync-consensus-f-rounds",
        title: "Consensus in f rounds",
        source: SOURCE,
        idea: "It makes f rounds, so that a process may crash in each of them.",
        assumes: ASSUMES,
        tolerates: TOLERATES,
        promises: PROMISES,
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { timing: AT_ONCE, crashes: 1, set: &[("f", "1")], ..Scope::of(3) },
            steps: 10,
            story: "p0 crashes in the only round, when it has told p1 but not p2",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant { of: OF, change: "f rounds instead of f + 1", breaks: AGREEMENT }),
        fails_with: "-n 3 --param f=1 --crashes 1 --within 0ms --latency 0ms..1ms",
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::processes(setup)
    }
}
