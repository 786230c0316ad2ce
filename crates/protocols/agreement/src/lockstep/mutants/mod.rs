//! Turn-lock with one ingredient left out, and the cheat that succeeds then.

use crate::lockstep::turn_lock::{
    BINDING, COMMITMENT, ECHO, NONCE, PARAMETERS, PROMPT, SOURCE, TurnLockPlayer,
};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Load, Mutant, OtherCosts, Quantity, Scope, Tolerance,
};
use synod_core::family::lockstep::{LK1, LK2, LK3, LK4, LK5, Lockstep};
use synod_core::{Algorithm, Setup, SetupError};

const OF: &str = "turn-lock";

/// The part of the card that these mutants share.
const BLANK: Card = Card {
    source: SOURCE,
    assumes: &["no player cheats"],
    tolerates: Tolerance { duplication: true, delay_ms: Some(1), ..Tolerance::NOTHING },
    parameters: PARAMETERS,
    smallest: 2,
    ..Card::BLANK
};

/// There are three actions: a cheater that has the hash of one tries them all.
pub type TurnLockNoNonce = TurnLockPlayer<NONCE>;

impl Algorithm for TurnLockNoNonce {
    type Family = Lockstep;

    const CARD: Card = Card {
        name: "turn-lock-no-nonce",
        title: "Turn-lock without a nonce",
        idea: "The commitment is a hash of the player, the turn and the action only.",
        promises: &[LK1, LK2, LK4, LK5],
        counterexamples: &[Counterexample {
            property: LK3,
            scope: Scope { timing: PROMPT, set: &[("cheater", "p1:look-ahead")], ..Scope::of(2) },
            steps: 3,
            story: "p1 waits for the commitment of p0, tries all three actions, and knows which it \
                    is before it has committed itself",
        }],
        mutant: Some(Mutant { of: OF, change: "there is no nonce in a commitment", breaks: LK3 }),
        fails_with: "-n 2 --latency 0ms..1ms --param cheater=p1:look-ahead",
        ..BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }
}

/// A commitment does not name its maker. A cheater that sends a copy of it, and later a copy of the
/// opening, has played the same action, and no player can tell.
pub type TurnLockUnbound = TurnLockPlayer<BINDING>;

impl Algorithm for TurnLockUnbound {
    type Family = Lockstep;

    const CARD: Card = Card {
        name: "turn-lock-unbound",
        title: "Turn-lock whose commitments name no player",
        idea: "The commitment is a hash of the nonce and the action only.",
        promises: &[LK1, LK3, LK4, LK5],
        counterexamples: &[Counterexample {
            property: LK2,
            scope: Scope { timing: PROMPT, set: &[("cheater", "p1:copy")], ..Scope::of(2) },
            steps: 9,
            story: "p1 sends the commitment of p0 as its own, and then the opening that p0 \
                    reveals",
        }],
        mutant: Some(Mutant {
            of: OF,
            change: "there is neither player nor turn in a commitment",
            breaks: LK2,
        }),
        fails_with: "-n 2 --latency 0ms..1ms --param cheater=p1:copy",
        ..BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }
}

/// All players send their actions at once; the last one has seen those of all others.
pub type TurnLockOnePhase = TurnLockPlayer<COMMITMENT>;

impl Algorithm for TurnLockOnePhase {
    type Family = Lockstep;

    const CARD: Card = Card {
        name: "turn-lock-one-phase",
        title: "Turn-lock without commitments",
        idea: "Each player reveals its action at once.",
        promises: &[LK1, LK4, LK5],
        counterexamples: &[Counterexample {
            property: LK3,
            scope: Scope { timing: PROMPT, set: &[("cheater", "p1:look-ahead")], ..Scope::of(2) },
            steps: 3,
            story: "p1 waits for the action of p0, and decides then",
        }],
        mutant: Some(Mutant { of: OF, change: "there is no first phase", breaks: LK3 }),
        fails_with: "-n 2 --latency 0ms..1ms --param cheater=p1:look-ahead",
        ..BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }
}

/// The protocol as it is usually told: the players do not compare the messages that they received,
/// so all believe a cheater that sends them different commitments.
pub type TurnLockNoEcho = TurnLockPlayer<ECHO>;

impl Algorithm for TurnLockNoEcho {
    type Family = Lockstep;

    const CARD: Card = Card {
        name: "turn-lock-no-echo",
        title: "Turn-lock whose players do not compare",
        idea: "No player tells the others which commitments and actions it received.",
        promises: &[LK1, LK3, LK5],
        counterexamples: &[Counterexample {
            property: LK4,
            scope: Scope { timing: PROMPT, set: &[("cheater", "p1:equivocate")], ..Scope::of(3) },
            steps: 13,
            story: "p1 commits to one action towards p0, and to another one towards p2, and \
                    reveals to each the action that fits; both accept, but not the same action",
        }],
        costs: &[
            Cost {
                name: "messages per turn",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "2N(N - 1)",
                expected: |size| Bounds::exactly(2 * size.n * (size.n - 1)),
            },
            Cost {
                name: "hops per turn",
                quantity: Quantity::EntryHops,
                load: Load::Any,
                formula: "2",
                expected: |_| Bounds::exactly(2),
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[Cost {
            name: "messages per turn",
            quantity: Quantity::MessagesInAll,
            load: Load::Saturated,
            formula: "2N",
            expected: |size| Bounds::exactly(2 * size.n),
        }])],
        mutant: Some(Mutant {
            of: OF,
            change: "no player compares the messages that it received with those of others",
            breaks: LK4,
        }),
        fails_with: "-n 3 --latency 0ms..1ms --param cheater=p1:equivocate",
        ..BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }
}
