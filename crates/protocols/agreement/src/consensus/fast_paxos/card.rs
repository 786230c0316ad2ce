//! The card of [Fast Paxos](super).

use super::FastPaxos;
use crate::consensus::paxos::{ANYTHING, SAFETY};
use synod_core::algorithm::Replay;
use synod_core::card::{
    Bounds, Card, Cost, Load, Order, OtherCosts, Parameter, Quantity, Scope, Source, Tolerance,
    Variant,
};
use synod_core::family::Consensus;
use synod_core::family::consensus::{
    AGREEMENT, ONCE, PROPOSALS, PROPOSERS, TERMINATION, UNANIMITY, VALIDITY,
};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError, Trigger, durable};

/// The paper.
pub(crate) const SOURCE: Source =
    Source { author: "L. Lamport", year: 2006, work: "Fast Paxos, Distributed Computing 19(2)" };

pub(crate) const PARAMETERS: &[Parameter] = &[
    PROPOSALS,
    PROPOSERS,
    Parameter {
        name: "coordinator",
        meaning: "the process that leads the fast ballot, and resolves collisions (default: p0)",
    },
    Parameter {
        name: "any",
        meaning: "given or asked: whether acceptors may accept any value from the start, or the \
                  coordinator has to ask for promises first (default: given)",
    },
    Parameter {
        name: "classic",
        meaning: "how many are a classic quorum (default: more than half)",
    },
    Parameter { name: "fast", meaning: "how many are a fast quorum (default: 3N/4, rounded up)" },
    Parameter {
        name: "retry",
        meaning: "backoff or never: whether a process that waits in vain begins a classic ballot \
                  (default: backoff)",
    },
    Parameter {
        name: "ballots",
        meaning: "how many rounds of ballots there may be (default: 1000)",
    },
    Parameter {
        name: "durable",
        meaning: "yes or no: whether acceptors write records, so that they may crash and come back \
                  (default: yes)",
    },
];

/// The coordinator alone resolves collisions.
const COORDINATED: &[(&str, &str)] = &[("proposers", "all"), ("retry", "never")];

impl Algorithm for FastPaxos {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "fast-paxos",
        title: "Lamport's Fast Paxos",
        source: SOURCE,
        idea: "Let proposers send their values to the acceptors directly; if two collide, a \
               coordinator picks the one that may have been chosen.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Propose"), Trigger::Message("Propose"), Trigger::Message("Any")],
                "on a proposal, an acceptor that may accept any value: write down the vote, and \
                 tell all",
            ),
            Rule::on_message(
                "Accepted",
                "on equal votes of a fast quorum in the fast ballot, or of a classic one in \
                 another: decide",
            ),
            Rule::on_message(
                "Accepted",
                "coordinator, on votes that cannot become a fast quorum: take them for promises of \
                 the next ballot, pick a value, and ask all to accept it",
            ),
            Rule::always(
                "pick the value whose voters, with the processes not heard from, are a fast \
                 quorum; if there is none, any",
            ),
            Rule::on_timer(
                "Retry",
                "without a decision in time: begin a classic ballot, as in paxos",
            ),
            Rule::on_message(
                "Prepare",
                "on a prepare: promise, and tell the last vote, as in paxos",
            ),
            Rule::on_message(
                "Promise",
                "on promises of a quorum: in the fast ballot, let all accept any value; in a \
                 classic one, pick a value, and ask all to accept it",
            ),
            Rule::on_message(
                "Accept",
                "on an accept: write down the vote, and tell all, as in paxos",
            ),
        ],
        assumes: &[
            "no process lies",
            "to end: one proposer is left alone for long enough, and a \
                                       quorum is up",
        ],
        tolerates: ANYTHING,
        promises: SAFETY,
        variants: &[Variant {
            set: COORDINATED,
            tolerates: Tolerance::NOTHING,
            promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
        }],
        usual: Some(3),
        proved: &[
            Scope { set: COORDINATED, ..Scope::of(1) },
            Scope { set: COORDINATED, ..Scope::of(2) },
            Scope { order: Order::Fifo, set: DUEL, ..Scope::of(3) },
            Scope { order: Order::Fifo, crashes: 1, set: DUEL, ..Scope::of(3) },
        ],
        costs: &[
            Cost {
                name: "messages, one proposes",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "(N - 1)(N + 1)",
                expected: |size| Bounds::exactly(size.n * size.n - 1),
            },
            Cost {
                name: "decision of the proposer, in hops",
                quantity: Quantity::EntryHops,
                load: Load::Sequential,
                formula: "2, and 2 writes to disks",
                expected: |size| match size.n {
                    1 => Bounds::between(0, 2),
                    _ => Bounds::between(2, 4),
                },
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[Cost {
            name: "messages, one proposes",
            quantity: Quantity::MessagesInAll,
            load: Load::Saturated,
            formula: "N + 1",
            expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { size.n + 1 }),
        }])],
        parameters: PARAMETERS,
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.is_proposer(me)
    }

    /// The formulas are about one proposer and the usual quorums.
    fn has_costs(setup: &Setup) -> bool {
        setup.parameters.keys().all(|name| name == "proposals")
    }
}

const DUEL: &[(&str, &str)] = &[("proposers", "p1 p2"), ("retry", "never"), ("durable", "no")];
