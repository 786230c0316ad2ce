//! The card of [two-phase commit](super).

use super::TwoPhaseCommit;
use synod_core::algorithm::Replay;
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Larger, Load, OtherCosts, Parameter, Quantity, Rounds,
    Scope, Settings, Source, Timing, Tolerance, Variant,
};
use synod_core::family::commitment::{
    AC1, AC2, AC3, AC4, AC5, AC5_REPAIRED, COORDINATOR, Commitment, VOTES,
};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError, Trigger, durable};

pub(crate) const SOURCE: Source = Source {
    author: "J. Gray",
    year: 1978,
    work: "Notes on data base operating systems, LNCS 60; with presumed abort as in C. Mohan, \
           B. Lindsay, R. Obermarck, ACM TODS 11(4), 1986",
};

pub(crate) const PARAMETERS: &[Parameter] = &[
    COORDINATOR,
    VOTES,
    Parameter {
        name: "patience",
        meaning: "how many milliseconds a process waits for a vote, an acknowledgement or the \
                  outcome before it aborts or asks again (default: 100)",
    },
    Parameter {
        name: "timeout",
        meaning: "abort or wait: the reaction of a coordinator that misses a vote, and of a \
                  participant that is asked for the outcome before it has voted (default: abort)",
    },
];

/// Time-outs may be too early: a message and its answer take up to two milliseconds.
const HASTY: Settings = &[("patience", "1")];
const WAITS_HASTILY: Settings = &[("patience", "1"), ("timeout", "wait")];
/// Time-outs come only after a crash or a lost message: an answer comes within two milliseconds.
pub(crate) const PATIENT: Settings = &[("patience", "3")];
const PATIENT_OR_NOT: Settings = &[("patience", "3"), ("votes", "either")];
const WAITS_PATIENTLY: Settings = &[("patience", "3"), ("timeout", "wait")];
const WAITS: Settings = &[("timeout", "wait")];
pub(crate) const PROMPT: Timing = Timing::Synchronous { delay_ms: 1 };

const UNRELIABLE: Tolerance = Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING };

impl Algorithm for TwoPhaseCommit {
    type Family = Commitment;

    const CARD: Card = Card {
        name: "two-phase-commit",
        aliases: &["2pc"],
        title: "Two-phase commit with presumed abort",
        source: SOURCE,
        idea: "First all participants promise to commit, then all are told to; a participant that \
               has not promised can still abort, and one that has must wait.",
        rules: &[
            Rule::on_input(
                "Commit",
                "asked to commit (coordinator): ask all participants to prepare",
            ),
            Rule::on(
                &[Trigger::Message("Prepare"), Trigger::Input("Vote")],
                "on prepare: vote no, and abort; or write down that we promise to commit, then \
                 vote yes",
            ),
            Rule::on_message(
                "Yes",
                "all votes are yes: write down the commit, then tell all participants",
            ),
            Rule::on(
                &[Trigger::Message("No"), Trigger::Timer("Votes")],
                "a vote is no, or does not come in time: tell all participants to abort, and \
                 forget the transaction",
            ),
            Rule::on_message("Abort", "on abort: write it down; the transaction has no effect"),
            Rule::on(
                &[Trigger::Message("Commit"), Trigger::Message("Ack"), Trigger::Timer("Acks")],
                "on commit: write it down, then acknowledge; the coordinator repeats it to \
                 participants that do not acknowledge, and forgets the transaction when all have",
            ),
            Rule::on(
                &[Trigger::Timer("Outcome"), Trigger::Message("Ask")],
                "no outcome in time (participant): ask all others; a process that knows the \
                 outcome answers, a coordinator that knows nothing of the transaction says abort, \
                 and a participant that has not voted aborts",
            ),
            Rule::on_start(
                "after a crash: read the log; a transaction that is prepared and not decided is in \
                 doubt",
            ),
        ],
        assumes: &[
            "a crashed process starts again some time, with its disk",
            "numbers of transactions are not used again",
        ],
        tolerates: Tolerance { recovery: true, ..UNRELIABLE },
        promises: &[AC1, AC2, AC3, AC5_REPAIRED],
        variants: &[Variant {
            set: WAITS,
            tolerates: UNRELIABLE,
            promises: &[AC1, AC2, AC3, AC4, AC5, AC5_REPAIRED],
        }],
        usual: Some(2),
        proved: &[
            Scope { timing: PROMPT, crashes: 2, restarts: 2, drops: 1, set: HASTY, ..Scope::of(2) },
            Scope {
                timing: PROMPT,
                rounds: Rounds::Times(2),
                crashes: 1,
                restarts: 1,
                set: PATIENT,
                ..Scope::of(2)
            },
            Scope { timing: PROMPT, crashes: 1, restarts: 1, set: PATIENT_OR_NOT, ..Scope::of(3) },
            Scope { timing: PROMPT, drops: 1, set: PATIENT, ..Scope::of(3) },
            Scope { timing: PROMPT, drops: 2, set: WAITS_HASTILY, ..Scope::of(2) },
            Scope { timing: PROMPT, drops: 1, set: WAITS_PATIENTLY, ..Scope::of(3) },
        ],
        larger: LARGER,
        counterexamples: COUNTEREXAMPLES,
        costs: &[
            Cost {
                name: "messages per commit",
                quantity: Quantity::MessagesPerOperation,
                load: Load::Any,
                formula: "4(N - 1)",
                expected: |size| Bounds::exactly(4 * (size.n - 1)),
            },
            Cost {
                name: "acknowledgements among them",
                quantity: Quantity::KindPerOperation("Ack"),
                load: Load::Any,
                formula: "N - 1",
                expected: |size| Bounds::exactly(size.n - 1),
            },
            Cost {
                name: "hops until it is decided",
                quantity: Quantity::EntryHops,
                load: Load::Any,
                formula: "2",
                expected: |_| Bounds::exactly(2),
            },
            Cost {
                name: "hops until the participants know",
                quantity: Quantity::ReachHops,
                load: Load::Sequential,
                formula: "3",
                expected: |_| Bounds::exactly(3),
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[Cost {
            name: "messages per commit",
            quantity: Quantity::MessagesPerOperation,
            load: Load::Any,
            formula: "2N",
            expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 * size.n }),
        }])],
        parameters: PARAMETERS,
        smallest: 2,
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

const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample {
        property: AC5,
        scope: Scope { timing: PROMPT, crashes: 1, set: PATIENT, ..Scope::of(3) },
        steps: 13,
        story: "the blocking window: both participants have promised to commit, and the \
                coordinator crashes before it announces the outcome; p1 and p2 ask and ask, but \
                each is as much in doubt as the other",
    },
    Counterexample {
        property: AC4,
        scope: Scope { timing: PROMPT, drops: 1, set: PATIENT, ..Scope::of(2) },
        steps: 6,
        story: "p1 is never asked to prepare, because the message is lost; the time-out of the \
                coordinator ends, and it aborts a transaction that no participant votes against",
    },
];

/// A crash and a restart, and a lost message, in any order.
const LARGER: &[Larger] = &[Larger {
    scope: Scope {
        timing: PROMPT,
        crashes: 1,
        restarts: 1,
        drops: 1,
        set: PATIENT_OR_NOT,
        ..Scope::of(3)
    },
    holds: &[AC1, AC2, AC3, AC5_REPAIRED],
    states: 484_890,
    seconds: 4,
    mebibytes: 353,
}];
