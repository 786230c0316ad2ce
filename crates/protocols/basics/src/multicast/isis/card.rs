//! The card of [ISIS](super), and its parameters.

use super::{Isis, Numbers, Round};
use crate::multicast::carrier::{self, Carrier, OVER};
use crate::multicast::groups::{InGroups, Tower};
use crate::multicast::{Uplink, cost};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Counterexample, OtherCosts, Parameter, Rounds, Scope, Tolerance, Variant,
};
use synod_core::family::multicast::{
    AGREEMENT, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{Card, ProcessId, ProcessSet, Rule, Setup, SetupError, Source, Trigger};

/// The parameter that chooses between the two.
const NUMBERS: Parameter = Parameter {
    name: "numbers",
    meaning: "what members propose: agreed (one more than all numbers proposed or agreed here) or \
              clock (the time of a Lamport clock) (default: agreed)",
};
/// One member, over a carrier; the same for the mutants.
pub(in crate::multicast) fn build<const TIE_BREAK: bool, const HEAR: bool>(
    setup: &Setup,
) -> Result<Isis<Payload, Carrier<Round<Payload>>, TIE_BREAK, HEAR>, SetupError> {
    let numbers = match setup.choice(NUMBERS.name, &["agreed", "clock"])? {
        "clock" => Numbers::Clock,
        _ => Numbers::Agreed,
    };
    let isis = Isis::new(setup.n, Uplink::from_setup(setup), Carrier::from_setup(setup)?);
    Ok(isis.numbered(numbers))
}

/// Totally ordered multicast by agreement, over a carrier.
pub type IsisMulticast = InGroups<IsisTower>;

/// See [`IsisMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IsisTower;

/// Numbers from a Lamport clock.
const CLOCK: &[(&str, &str)] = &[("numbers", "clock")];

impl Tower for IsisTower {
    type Top = Isis<Payload, Carrier<Round<Payload>>>;

    const CARD: Card = Card {
        name: "isis",
        aliases: &["abcast", "total-isis"],
        title: "Totally ordered multicast by agreement (ISIS)",
        source: Source {
            author: "K. Birman, T. Joseph",
            year: 1987,
            work: "Reliable communication in the presence of failures, ACM TOCS 5(1)",
        },
        idea: "Every member proposes a place for the message; the largest proposal is agreed.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: multicast the message by the carrier, and wait for a proposal of every \
                 member",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on a message: propose a number larger than all proposed or agreed here, and queue \
                 the message under it",
            ),
            Rule::on(
                &[Trigger::Message("Propose"), Trigger::Message("Data"), Trigger::Message("Again")],
                "on the last proposal: the largest, with its proposer, is agreed; multicast it",
            ),
            Rule::on(
                carrier::DELIVERS,
                "on an agreed place: move the message there; deliver from the head of the queue as \
                 long as the head is agreed",
            ),
            carrier::REPAIR,
        ],
        assumes: &[
            "a carrier that delivers every multicast message, in any order",
            "reliable links for the proposals",
            "no process crashes: a sender that crashes before it has agreed blocks all others",
        ],
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: Tolerance { duplication: false, ..carrier::RELIABLE },
                promises: &[INTEGRITY, TOTAL],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
            },
            Variant {
                set: CLOCK,
                tolerates: Tolerance::NOTHING,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, TOTAL],
            },
        ],
        proved: &[
            Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            Scope::of(3),
            Scope { crashes: 1, set: &[("over", "reliable")], ..Scope::of(2) },
            Scope { crashes: 2, set: &[("over", "reliable"), ("senders", "p1")], ..Scope::of(3) },
            Scope { rounds: Rounds::Times(2), set: CLOCK, ..Scope::of(2) },
            Scope { set: CLOCK, ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: FIFO,
                scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
                steps: 5,
                story: "p0 multicasts twice; p1 gets the second first, so each proposes 1 and 2 \
                        the other way round, and p0's own 2 for the second is smaller than p1's 2 \
                        for the first",
            },
            Counterexample {
                property: VALIDITY,
                scope: Scope { crashes: 1, set: &[("senders", "p0")], ..Scope::of(2) },
                steps: 2,
                story: "p1 crashes before it has proposed, and p0 waits for ever",
            },
            Counterexample {
                property: UNIFORM,
                scope: Scope { crashes: 1, ..Scope::of(2) },
                steps: 6,
                story: "p0 delivers its message and crashes; at p1 a message waits in front of it \
                        for a proposal of p0 that never comes",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { crashes: 1, set: &[("senders", "p0 p1")], ..Scope::of(3) },
                steps: 9,
                story: "over basic multicast: p0 crashes after it has sent the agreed place to one \
                        of the others",
            },
        ],
        costs: &[
            cost::per_multicast("3(G - 1)", |size| Bounds::exactly(3 * (size.n - 1))),
            cost::own_hops("2", |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 })),
            cost::reach_hops("3", |_| Bounds::exactly(3)),
        ],
        other_costs: &[OtherCosts::over_multicast(&[cost::per_multicast("G + 1", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { size.n + 1 })
        })])],
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER, NUMBERS],
        layers: &["isis", "basic"],
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        build(setup)
    }
}
