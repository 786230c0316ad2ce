//! The card of [Paxos](super).

use super::{Paxos, PaxosProcess};
use crate::consensus::quorum_system::{ACCEPTORS, QUORUMS};
use synod_core::algorithm::Replay;
use synod_core::byzantine::{ADVERSARY, LIES, SCRIPT, Sworn, TRAITORS};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Crashes, Larger, Load, Order, OtherCosts, Parameter,
    Quantity, Rounds, Scope, Source, Tolerance, Variant,
};
use synod_core::family::Consensus;
use synod_core::family::consensus::{
    AGREEMENT, ONCE, PROPOSALS, PROPOSERS, TERMINATION, UNANIMITY, VALIDITY,
};
use synod_core::{ProcessId, Rule, Setup, SetupError, Trigger, durable};

/// All faults of messages and processes but lies.
pub(crate) const ANYTHING: Tolerance = Tolerance {
    crashes: Crashes::Minority,
    recovery: true,
    loss: true,
    duplication: true,
    ..Tolerance::NOTHING
};

/// The properties that hold in every run.
pub(crate) const SAFETY: &[&str] = &[AGREEMENT, ONCE, VALIDITY, UNANIMITY];

/// The paper.
pub(crate) const SOURCE: Source = Source {
    author: "L. Lamport",
    year: 1998,
    work: "The part-time parliament, ACM Transactions on Computer Systems 16(2)",
};

pub(crate) const PARAMETERS: &[Parameter] = &[
    PROPOSALS,
    PROPOSERS,
    Parameter {
        name: "learners",
        meaning: "the processes that are told of votes, e.g. p0 p1 (default: all)",
    },
    Parameter {
        name: "retry",
        meaning: "when a refused proposer tries again: backoff (after a random time; the default), \
                  at-once, never",
    },
    Parameter {
        name: "timeout",
        meaning: "milliseconds after which a ballot is given up, if retry is backoff (default: \
                  100)",
    },
    Parameter {
        name: "ballots",
        meaning: "how many rounds of ballots there may be (default: as many as it takes)",
    },
    Parameter {
        name: "durable",
        meaning: "yes, no, or which acceptors write records, so that they may crash and come back \
                  (default: yes)",
    },
    ACCEPTORS,
    QUORUMS,
    TRAITORS,
    ADVERSARY,
    LIES,
    SCRIPT,
];

/// One proposer that is never refused.
const ALONE: &[(&str, &str)] = &[("proposers", "p0"), ("retry", "never")];

impl Sworn for PaxosProcess<true, true> {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "paxos",
        aliases: &["synod"],
        title: "Lamport's Paxos",
        source: SOURCE,
        idea: "Ask a quorum for its last votes, and make it promise to accept no older ballot; \
               then propose the value of the last vote, or your own if there is none.",
        rules: &[
            Rule::on(
                &[Trigger::Start, Trigger::Input("Propose"), Trigger::Timer("Retry")],
                "1a, a proposer begins: ask all to prepare for a ballot above all that it knows of",
            ),
            Rule::on_message(
                "Prepare",
                "1b, on a prepare: if no greater ballot was promised, write down the promise, and \
                 tell the last vote with its ballot; else refuse",
            ),
            Rule::on_message(
                "Promise",
                "2a, on promises of a quorum: ask all to accept the value of the last vote among \
                 them, or its own if there is none",
            ),
            Rule::on_message(
                "Accept",
                "2b, on an accept: if no greater ballot was promised, write down the vote, and \
                 tell the learners; else refuse",
            ),
            Rule::on(
                &[Trigger::Message("Refusal"), Trigger::Timer("Retry")],
                "on a refusal, or without answers: wait for a random time, and begin again; give \
                 up after 1,000 rounds",
            ),
            Rule::on_message("Accepted", "on equal votes of a quorum in the same ballot: decide"),
            Rule::on_start("on a start without a disk, after a crash: only learn"),
        ],
        assumes: &[
            "no process lies",
            "to end: one proposer is left alone for long enough, and a quorum is up",
        ],
        tolerates: ANYTHING,
        promises: SAFETY,
        variants: &[Variant {
            set: ALONE,
            tolerates: Tolerance::NOTHING,
            promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
        }],
        usual: Some(7),
        proved: PROVED,
        larger: LARGER,
        counterexamples: COUNTEREXAMPLES,
        costs: &[
            Cost {
                name: "messages, one proposes",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "3(N - 1) + N(N - 1)",
                expected: |size| Bounds::exactly((size.n - 1) * (size.n + 3)),
            },
            Cost {
                name: "decision of the proposer, in hops",
                quantity: Quantity::EntryHops,
                load: Load::Sequential,
                formula: "4, and 4 writes to disks; alone 2 writes",
                expected: |size| match size.n {
                    1 => Bounds::between(0, 2),
                    _ => Bounds::between(4, 8),
                },
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[Cost {
            name: "messages, one proposes",
            quantity: Quantity::MessagesInAll,
            load: Load::Saturated,
            formula: "2N + 1",
            expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 * size.n + 1 }),
        }])],
        parameters: PARAMETERS,
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Paxos>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.is_proposer(me)
    }

    /// The formulas are about one proposer, with all processes as learners.
    fn has_costs(setup: &Setup) -> bool {
        ["proposers", "learners", "acceptors", "quorums", "traitors", "ballots"]
            .iter()
            .all(|n| setup.text(n).is_none())
    }
}

/// Two proposers. (They never retry, so acceptors need not refuse; and processes that do not come
/// back need no disk.)
const DUEL: &[(&str, &str)] =
    &[("proposers", "p0 p1"), ("learners", "p0 p1"), ("retry", "never"), ("durable", "no")];
const FIFO_DUEL: Scope = Scope { order: Order::Fifo, set: DUEL, ..Scope::of(3) };

const PROVED: &[Scope] = &[
    Scope { set: ALONE, ..Scope::of(1) },
    Scope { set: ALONE, ..Scope::of(2) },
    Scope { set: ALONE, ..Scope::of(3) },
    Scope { set: DUEL, ..Scope::of(3) },
    Scope { crashes: 1, ..FIFO_DUEL },
    Scope { drops: 1, ..FIFO_DUEL },
    Scope { duplicates: 1, ..FIFO_DUEL },
    // The one in the middle comes back with its disk, others without.
    Scope {
        crashes: 1,
        restarts: 1,
        set: &[
            ("proposers", "p0 p1"),
            ("learners", "p0 p1"),
            ("retry", "never"),
            ("ballots", "1"),
            ("durable", "p2"),
        ],
        ..FIFO_DUEL
    },
    Scope { set: APART, ..FIFO_DUEL_OF_4 },
    Scope { set: WEIGHTED, order: Order::Fifo, ..Scope::of(3) },
    Scope { set: GRID, ..FIFO_DUEL_OF_4 },
];

/// A crash and a restart, a lost message and a doubled one, in any order. Nothing is tried again
/// there, so that a proposal may stay without a decision.
const LARGER: &[Larger] = &[Larger {
    scope: Scope {
        order: Order::Fifo,
        crashes: 1,
        restarts: 1,
        drops: 1,
        duplicates: 1,
        set: &[
            ("proposers", "p0 p1"),
            ("learners", "p0 p1"),
            ("retry", "never"),
            ("ballots", "1"),
            ("durable", "p2"),
        ],
        ..Scope::of(3)
    },
    holds: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY],
    states: 1_750_721,
    seconds: 7,
    mebibytes: 123,
}];

const FIFO_DUEL_OF_4: Scope = Scope { order: Order::Fifo, ..Scope::of(4) };
/// Two proposers and two acceptors, none of which is both.
const APART: &[(&str, &str)] = &[
    ("proposers", "p0 p1"),
    ("learners", "p0 p1"),
    ("acceptors", "p2 p3"),
    ("retry", "never"),
    ("durable", "no"),
];
const WEIGHTED: &[(&str, &str)] = &[
    ("proposers", "p0 p1"),
    ("learners", "p0 p1"),
    ("quorums", "weighted 2 1 1"),
    ("retry", "never"),
    ("durable", "no"),
];
const GRID: &[(&str, &str)] = &[
    ("proposers", "p0 p1"),
    ("learners", "p0 p1"),
    ("quorums", "grid 2x2"),
    ("retry", "never"),
    ("durable", "no"),
];

const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample {
        property: TERMINATION,
        scope: Scope {
            rounds: Rounds::Forever,
            set: &[("proposers", "p0 p1"), ("retry", "at-once"), ("durable", "no")],
            ..Scope::of(2)
        },
        steps: 21,
        story: "p0 and p1 outbid each other: each time that one of them has its promises, the \
                other one has a greater ballot promised before the first is accepted; and so for \
                ever",
    },
    Counterexample {
        property: AGREEMENT,
        scope: Scope {
            order: Order::Fifo,
            set: &[
                ("proposers", "p0 p1"),
                ("learners", "p0 p1"),
                ("retry", "never"),
                ("durable", "no"),
                ("traitors", "p2"),
                ("adversary", "random"),
            ],
            ..Scope::of(3)
        },
        steps: 10,
        story: "p0 and p2 accept 0, and p0 decides; p2 tells p1 that it has accepted 1, and \
                accepts that from p1, too: one traitor among three",
    },
];
