//! The card of the generals with [oral messages](super).

use super::{OralMessages, messages, multicasts};
use crate::consensus::cost;
use crate::consensus::rounds::{AT_ONCE, FAULTS, IN_TIME, Rounds, SYNCHRONOUS, Synchronous};
use synod_basics::detector::parameter::DELAY;
use synod_core::byzantine::{ADVERSARY, Byzantine, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Parameter, Scope, Settings, Source, Timing, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, COMMANDER, OBEDIENCE, ONCE, PROPOSALS, TERMINATION, commander,
};
use synod_core::{Rule, Setup, SetupError, Trigger};

/// The parameter that sets the rule for ties.
pub const TIE: Parameter = Parameter {
    name: "tie",
    meaning: "the order to believe without a majority: default (no order) or commander (default: \
              default)",
};

const PROMISES: &[&str] = &[AGREEMENT, ONCE, OBEDIENCE, TERMINATION];
const RANDOM_LIEUTENANT: Settings = &[("traitors", "p1"), ("adversary", "random")];

/// A world with one traitor that may send any value.
const fn betrayed(n: usize, timing: Timing, set: Settings) -> Scope {
    Scope { timing, set, ..Scope::of(n) }
}

/// The generals with oral messages, in the catalogue.
pub type OralGenerals = Byzantine<Rounds<OralMessages>>;

impl Synchronous for OralMessages {
    const CARD: Card = Card {
        name: "oral-messages",
        aliases: &["OM", "byzantine-generals"],
        title: "The Byzantine generals with oral messages, OM(f)",
        source: Source {
            author: "L. Lamport, R. Shostak, M. Pease",
            year: 1982,
            work: "The Byzantine generals problem, ACM TOPLAS 4(3)",
        },
        idea: "Each general passes on the claims that it received, for f + 1 rounds, and takes the \
               majority of the claims about each general.",
        rules: &[
            Rule::on_input(
                "Propose",
                "propose, at the commander: send the order to all, in round 1",
            ),
            Rule::on(
                &[Trigger::Message("Order"), Trigger::Message("Claim")],
                "on an order, or a claim: keep it until its round is over",
            ),
            Rule::on_timer(
                "RoundOver",
                "when a round is over: pass each claim of the round on to all others that are not \
                 on its path; a missing claim counts as no order",
            ),
            Rule::on_timer(
                "RoundOver",
                "when round f + 1 is over: from the longest paths to the shortest, believe the \
                 majority of the claim that the last of the path sent us and those that others \
                 report from it; decide on the order that the commander is believed to have sent",
            ),
        ],
        assumes: &[
            "synchronous rounds: all start at the same moment, and no message is late or lost",
            "a receiver knows the sender of a message",
            "N > 3f, where f is the number of traitors and of processes that crash",
        ],
        tolerates: IN_TIME,
        promises: PROMISES,
        variants: &[Variant { set: RANDOM_LIEUTENANT, tolerates: IN_TIME, promises: PROMISES }],
        usual: Some(0),
        proved: &[
            betrayed(4, AT_ONCE, &[("traitors", "p0"), ("adversary", "random"), ("lies", "1 2")]),
            betrayed(4, AT_ONCE, &[("traitors", "p1"), ("adversary", "random"), ("lies", "1 2")]),
            betrayed(
                4,
                AT_ONCE,
                &[("traitors", "p1"), ("adversary", "random"), ("tie", "commander")],
            ),
            Scope { timing: SYNCHRONOUS, crashes: 1, ..Scope::of(4) },
        ],
        counterexamples: &[
            Counterexample {
                property: OBEDIENCE,
                scope: betrayed(
                    3,
                    AT_ONCE,
                    &[("f", "1"), ("traitors", "p2"), ("adversary", "random")],
                ),
                steps: 12,
                story: "N = 3f: p0 gives both the same order, p2 tells p1 another one, and p1, \
                        with one claim against the other, does not obey",
            },
            Counterexample {
                property: AGREEMENT,
                scope: betrayed(
                    3,
                    AT_ONCE,
                    &[
                        ("f", "1"),
                        ("traitors", "p0"),
                        ("adversary", "random"),
                        ("tie", "commander"),
                    ],
                ),
                steps: 13,
                story: "N = 3f, and a tie goes to the commander: p0 gives p1 and p2 different \
                        orders, each hears of both, and believes its own",
            },
            Counterexample {
                property: AGREEMENT,
                scope: betrayed(
                    4,
                    AT_ONCE,
                    &[("traitors", "p0"), ("adversary", "random"), ("tie", "commander")],
                ),
                steps: 19,
                story: "a tie goes to the commander, which gives each of three another order: a \
                        fourth general does not help, because not all break the tie in the same \
                        way",
            },
            Counterexample {
                property: AGREEMENT,
                scope: betrayed(
                    4,
                    AT_ONCE,
                    &[("f", "0"), ("traitors", "p0"), ("adversary", "random")],
                ),
                steps: 6,
                story: "a round too few: the generals do not compare their orders",
            },
            Counterexample {
                property: OBEDIENCE,
                scope: Scope { timing: AT_ONCE, late: 1, ..Scope::of(2) },
                steps: 5,
                story: "a message is late: the order reaches p1 when its round is over",
            },
        ],
        costs: &[cost::in_all("M(N, f) = (N - 1)(1 + M(N - 1, f - 1)), M(N, 0) = N - 1", |size| {
            Bounds::exactly(messages(size.n, size.k))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all(
            "M(N, f) = 1 + (N - 1) M(N - 1, f - 1), M(N, 0) = 1",
            |size| Bounds::exactly(multicasts(size.n, size.k)),
        )])],
        parameters: &[FAULTS, TIE, COMMANDER, PROPOSALS, DELAY, TRAITORS, ADVERSARY, LIES, SCRIPT],
        layers: &["rounds", "oral messages"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::generals(setup, commander(setup)?)
    }
}
