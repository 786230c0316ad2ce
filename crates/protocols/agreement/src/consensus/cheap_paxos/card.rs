//! The card of [Cheap Paxos](super).

use super::CheapPaxos;
use crate::consensus::paxos::{ANYTHING, SAFETY};
use crate::consensus::quorum::majority;
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
pub(crate) const SOURCE: Source = Source {
    author: "L. Lamport, M. Massa",
    year: 2004,
    work: "Cheap Paxos, Dependable Systems and Networks",
};

pub(crate) const PARAMETERS: &[Parameter] = &[
    PROPOSALS,
    PROPOSERS,
    Parameter {
        name: "retry",
        meaning: "backoff or never: whether the auxiliary processes are asked when a main one does \
                  not answer (default: backoff)",
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

/// No process is missing.
const CALM: &[(&str, &str)] = &[("proposers", "p0"), ("retry", "never")];

impl Algorithm for CheapPaxos {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "cheap-paxos",
        title: "Lamport and Massa's Cheap Paxos",
        source: SOURCE,
        idea: "Main acceptors do all the work; auxiliary ones help only to complete a ballot, or \
               to drop a main one that does not answer.",
        rules: &[
            Rule::on_input(
                "Propose",
                "the first main process, when it proposes: ask the main ones to accept",
            ),
            Rule::on_timer(
                "Retry",
                "a main process that waits in vain: ask all acceptors, also the auxiliary ones, to \
                 prepare",
            ),
            Rule::on_message(
                "Prepare",
                "on a prepare: promise, and tell the last vote, as in paxos",
            ),
            Rule::on_message(
                "Promise",
                "on promises of a quorum: ask all to accept the value of the last vote among them; \
                 if there is none, to drop a main process that is missing, or to accept our own \
                 value if none is",
            ),
            Rule::on_message(
                "Accept",
                "on an accept: write down the vote, and tell all, as in paxos",
            ),
            Rule::on_message("Accepted", "on votes of a quorum for a value: decide"),
            Rule::on_message(
                "Accepted",
                "on votes of a quorum to drop a process: go on without it, in a new instance",
            ),
            Rule::on(
                &[
                    Trigger::Message("Prepare"),
                    Trigger::Message("Accept"),
                    Trigger::Message("Moved"),
                ],
                "on a message of a later instance: enter it; of an earlier one: tell the sender \
                 which one is the present",
            ),
        ],
        assumes: &[
            "no process lies",
            "to end: one main process is left alone for long enough, and enough are up for each \
             change of the configuration",
        ],
        tolerates: ANYTHING,
        promises: SAFETY,
        variants: &[Variant {
            set: CALM,
            tolerates: Tolerance::NOTHING,
            promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
        }],
        usual: Some(4),
        proved: &[
            Scope { set: CALM, ..Scope::of(1) },
            Scope { set: CALM, ..Scope::of(2) },
            Scope { set: CALM, ..Scope::of(3) },
            Scope { set: DUEL, ..Scope::of(3) },
            Scope { order: Order::Fifo, crashes: 1, set: DUEL, ..Scope::of(3) },
        ],
        costs: &[
            Cost {
                name: "messages, one proposes",
                quantity: Quantity::MessagesInAll,
                load: Load::Saturated,
                formula: "M - 1 + M(N - 1), M = floor(N/2) + 1",
                expected: |size| {
                    let mains = majority(size.n);
                    Bounds::exactly(mains - 1 + mains * (size.n - 1))
                },
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
            formula: "M + 1, M = floor(N/2) + 1",
            expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { majority(size.n) + 1 }),
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

    /// The formulas are about one proposer.
    fn has_costs(setup: &Setup) -> bool {
        setup.parameters.keys().all(|name| name == "proposals")
    }
}

/// Both main processes propose, and either may drop the other.
const DUEL: &[(&str, &str)] = &[("proposers", "p0 p1"), ("ballots", "1"), ("durable", "no")];
