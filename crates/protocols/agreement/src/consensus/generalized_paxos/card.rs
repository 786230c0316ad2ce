//! The card of [Generalized Paxos](super).

use super::GeneralizedPaxos;
use synod_core::card::{
    Bounds, Card, Cost, Crashes, Load, Order, OtherCosts, Parameter, Quantity, Scope, Source,
    Tolerance, Variant,
};
use synod_core::family::GeneralizedConsensus;
use synod_core::family::generalized::{COMMANDS, COMPATIBLE, GROWING, LEARNING, NONTRIVIAL};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError, Trigger};

impl Algorithm for GeneralizedPaxos {
    type Family = GeneralizedConsensus;

    const CARD: Card = Card {
        name: "generalized-paxos",
        title: "Lamport's Generalized Paxos",
        source: Source {
            author: "L. Lamport",
            year: 2005,
            work: "Generalized consensus and Paxos, MSR-TR-2005-33",
        },
        idea: "Vote for histories of commands, in which the order of those that commute does not \
               matter; only commands that interfere can collide, and then a coordinator orders \
               them.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Propose"), Trigger::Message("Propose")],
                "on a command, in the fast ballot: append it to the history, and tell all",
            ),
            Rule::on_message("Accepted", "on a vote: learn the common part of enough histories"),
            Rule::on_message(
                "Accepted",
                "coordinator, on two histories that cannot be continued to the same one: ask all \
                 to prepare",
            ),
            Rule::on_message(
                "Prepare",
                "on a prepare: promise to accept in no smaller ballot, and tell the accepted \
                 history",
            ),
            Rule::on(
                &[Trigger::Message("Promise"), Trigger::Message("Propose")],
                "on promises of a quorum: take the history that may have been learned, append all \
                 other commands, and ask all to accept it; after that, append each new command",
            ),
            Rule::on_message(
                "Accept",
                "on an accept: accept a history that continues the accepted one, and tell all",
            ),
        ],
        assumes: &[
            "no process lies",
            "a crashed process does not come back to vote",
            "to learn all commands: no faults",
        ],
        tolerates: Tolerance {
            crashes: Crashes::Minority,
            loss: true,
            duplication: true,
            ..Tolerance::NOTHING
        },
        promises: &[COMPATIBLE, GROWING, NONTRIVIAL],
        variants: &[Variant {
            set: &[("coordinator", "p0")],
            tolerates: Tolerance::NOTHING,
            promises: &[COMPATIBLE, GROWING, NONTRIVIAL, LEARNING],
        }],
        usual: Some(4),
        proved: &[
            Scope { set: &[("coordinator", "p0")], ..Scope::of(1) },
            Scope { set: &[("coordinator", "p0")], ..Scope::of(2) },
            Scope {
                order: Order::Fifo,
                set: &[("coordinator", "p0"), ("commands", "- w0 w1")],
                ..Scope::of(3)
            },
            Scope {
                order: Order::Fifo,
                set: &[("coordinator", "p0"), ("commands", "- w0 w0")],
                ..Scope::of(3)
            },
            Scope { crashes: 1, drops: 1, duplicates: 1, ..Scope::of(2) },
        ],
        costs: &[
            Cost {
                name: "proposals per command",
                quantity: Quantity::KindPerOperation("Propose"),
                load: Load::Any,
                formula: "N - 1",
                expected: |size| Bounds::exactly(size.n - 1),
            },
            Cost {
                name: "learned by the proposer, in hops",
                quantity: Quantity::EntryHops,
                load: Load::Saturated,
                formula: "2, or up to 6 after a collision",
                expected: |size| match size.n {
                    1 => Bounds::exactly(0),
                    _ => Bounds::between(2, 6),
                },
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[Cost {
            name: "proposals per command",
            quantity: Quantity::KindPerOperation("Propose"),
            load: Load::Any,
            formula: "1",
            expected: |size| Bounds::exactly(size.n.min(2) - 1),
        }])],
        parameters: &[
            COMMANDS,
            Parameter {
                name: "coordinator",
                meaning: "the process that resolves collisions \
                                                       (default: p0)",
            },
        ],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.proposes
    }
}
