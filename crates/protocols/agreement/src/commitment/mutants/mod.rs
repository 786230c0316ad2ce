//! Two-phase commit that leaves out one of its two kinds of records.

use crate::commitment::two_phase::{PARAMETERS, PATIENT, PROMPT, SOURCE, TwoPhaseProcess};
use synod_core::algorithm::Replay;
use synod_core::card::{Card, Counterexample, Mutant, Scope, Tolerance};
use synod_core::family::commitment::{AC1, AC2, AC3, Commitment};
use synod_core::{Algorithm, ProcessId, Setup, SetupError, durable};

const OF: &str = "two-phase-commit";

/// The coordinator does not write its decisions down. After a crash it knows nothing of a
/// transaction that it has committed, and tells a participant that asks that the transaction is
/// aborted.
pub type TwoPhaseForgetful = TwoPhaseProcess<false, true>;

impl Algorithm for TwoPhaseForgetful {
    type Family = Commitment;

    const CARD: Card = Card {
        name: "two-phase-forgetful",
        title: "Two-phase commit whose coordinator forgets",
        source: SOURCE,
        idea: "The coordinator announces a decision without writing it down.",
        assumes: &["no process crashes"],
        tolerates: Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING },
        promises: &[AC1, AC2, AC3],
        counterexamples: &[Counterexample {
            property: AC1,
            scope: Scope { timing: PROMPT, crashes: 1, restarts: 1, set: PATIENT, ..Scope::of(3) },
            steps: 15,
            story: "the coordinator commits, and crashes before it tells the others; it starts \
                    again, p1 asks, and is told to abort",
        }],
        parameters: PARAMETERS,
        smallest: 2,
        mutant: Some(Mutant {
            of: OF,
            change: "the coordinator does not write down that it commits",
            breaks: AC1,
        }),
        fails_with: "-n 3 --crashes 10 --restart disk --within 1s --param patience=20",
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_coordinator()
    }
}

/// A participant does not write its promise down. After a crash it knows nothing of the promise;
/// when another participant in doubt asks, it aborts a transaction that the coordinator has
/// committed.
pub type TwoPhaseUnprepared = TwoPhaseProcess<true, false>;

impl Algorithm for TwoPhaseUnprepared {
    type Family = Commitment;

    const CARD: Card = Card {
        name: "two-phase-unprepared",
        title: "Two-phase commit whose participants forget what they promised",
        source: SOURCE,
        idea: "A participant votes yes without writing it down.",
        assumes: &["no process crashes"],
        tolerates: Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING },
        promises: &[AC1, AC2, AC3],
        counterexamples: &[Counterexample {
            property: AC1,
            scope: Scope { timing: PROMPT, crashes: 1, restarts: 1, set: PATIENT, ..Scope::of(3) },
            steps: 14,
            story: "the coordinator has committed; p2, which has promised to, crashes, starts \
                    again and knows nothing of it; p1, in doubt, asks it, and it aborts",
        }],
        parameters: PARAMETERS,
        smallest: 2,
        mutant: Some(Mutant {
            of: OF,
            change: "a participant does not write down that it is prepared",
            breaks: AC1,
        }),
        fails_with: "-n 3 --requests 6 --crashes 4 --restart disk --within 100ms --param \
                     patience=10",
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_coordinator()
    }
}
