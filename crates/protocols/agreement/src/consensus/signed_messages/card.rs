//! The card of the generals with [signed messages](super).

use super::SignedMessages;
use crate::consensus::cost;
use crate::consensus::rounds::{
    AT_ONCE, FAULTS, IN_TIME, Rounds, SYNCHRONOUS, Synchronous, faults,
};
use crate::seal::{KEYS, SEAL};
use synod_basics::detector::parameter::DELAY;
use synod_core::byzantine::{ADVERSARY, Byzantine, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Scope, Settings, Size, Source, Timing, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, COMMANDER, OBEDIENCE, ONCE, PROPOSALS, TERMINATION, commander,
};
use synod_core::{Rule, Setup, SetupError, Trigger};

const PROMISES: &[&str] = &[AGREEMENT, ONCE, OBEDIENCE, TERMINATION];
const RANDOM_COMMANDER: Settings = &[("traitors", "p0"), ("adversary", "random")];
const RANDOM_LIEUTENANT: Settings = &[("traitors", "p1"), ("adversary", "random")];
const REPLAYING: Settings = &[("traitors", "p1"), ("adversary", "replaying")];

const fn betrayed(n: usize, timing: Timing, set: Settings) -> Scope {
    Scope { timing, set, ..Scope::of(n) }
}

const fn variant(set: Settings) -> Variant {
    Variant { set, tolerates: IN_TIME, promises: PROMISES }
}

/// All lieutenants pass the order on, if there is a second round.
fn messages(size: Size) -> usize {
    let others = size.n.saturating_sub(1);
    if size.k == 0 { others } else { others * others }
}

/// The generals with signed messages, in the catalogue.
pub type SignedGenerals = Byzantine<Rounds<SignedMessages>>;

impl Synchronous for SignedMessages {
    const CARD: Card = Card {
        name: "signed-messages",
        aliases: &["SM", "dolev-strong"],
        title: "The Byzantine generals with signed messages, SM(f)",
        source: Source {
            author: "L. Lamport, R. Shostak, M. Pease",
            year: 1982,
            work: "The Byzantine generals problem, ACM TOPLAS 4(3)",
        },
        idea: "Each general signs the order and passes it on. Of f + 1 signers one is loyal, and \
               has told all.",
        rules: &[
            Rule::on_input(
                "Propose",
                "propose, at the commander: sign the order and send it to all, in round 1",
            ),
            Rule::on(
                &[
                    Trigger::Message("Order"),
                    Trigger::Message("Countersigned"),
                    Trigger::Timer("RoundOver"),
                ],
                "on an order in round r that r others have signed, the commander first: if it is \
                 the first or the second, keep it, sign it, and pass it on to all that have not \
                 signed it",
            ),
            Rule::on_timer(
                "RoundOver",
                "when round f + 1 is over: obey if there is one order; with none, or two, there is \
                 none",
            ),
        ],
        assumes: &[
            "synchronous rounds: all start at the same moment, and no message is late or lost",
            "no process can forge a signature",
            "N >= f + 2, where f is the number of traitors and of processes that crash",
        ],
        tolerates: IN_TIME,
        promises: PROMISES,
        variants: &[variant(RANDOM_COMMANDER), variant(RANDOM_LIEUTENANT), variant(REPLAYING)],
        usual: Some(4),
        proved: &[
            betrayed(3, SYNCHRONOUS, RANDOM_COMMANDER),
            betrayed(3, SYNCHRONOUS, RANDOM_LIEUTENANT),
            betrayed(3, SYNCHRONOUS, REPLAYING),
            betrayed(
                4,
                AT_ONCE,
                &[("f", "1"), ("traitors", "p0"), ("adversary", "random"), ("lies", "1 0")],
            ),
            betrayed(4, AT_ONCE, &[("f", "2"), ("traitors", "p0 p1"), ("adversary", "random")]),
            Scope { timing: SYNCHRONOUS, crashes: 1, set: &[("f", "1")], ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: AGREEMENT,
                scope: betrayed(
                    3,
                    AT_ONCE,
                    &[("f", "0"), ("traitors", "p0"), ("adversary", "random")],
                ),
                steps: 6,
                story: "a round too few: p0 gives p1 and p2 different orders, and they do not \
                        compare",
            },
            Counterexample {
                property: OBEDIENCE,
                scope: Scope { timing: AT_ONCE, late: 1, ..Scope::of(2) },
                steps: 5,
                story: "a message is late: the order reaches p1 when its round is over",
            },
        ],
        costs: &[cost::in_all("(N - 1)^2, or N - 1 if f = 0", |size| {
            Bounds::exactly(messages(size))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all("N, or 1 if f = 0", |size| {
            Bounds::exactly(match size.n {
                1 => 0,
                n => {
                    if size.k == 0 {
                        1
                    } else {
                        n
                    }
                }
            })
        })])],
        parameters: &[
            FAULTS, SEAL, KEYS, COMMANDER, PROPOSALS, DELAY, TRAITORS, ADVERSARY, LIES, SCRIPT,
        ],
        layers: &["rounds", "signed messages"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let most = setup.n.saturating_sub(2);
        Self::generals(setup, faults(setup, most, most)?, commander(setup)?)
    }
}
