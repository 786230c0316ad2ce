//! Ricart and Agrawala's algorithm, where processes crash.
//!
//! As published, one crashed process blocks all others for ever: its permission never comes. But a
//! process that has crashed is not inside and will not enter, so its permission is worth nothing.
//! A process that takes it for crashed counts the permission as given, and owes it none.
//!
//! - Assumes: a perfect failure detector below (the parameter `detector`), hence reliable links and
//!   a bound on delays. If it errs about a process that is inside, another enters beside it.
//! - Guarantees: ME1, ME2, although all processes but one crash. ME3 only without a detector:
//!   signs of life are messages too, and carry no clock.
//! - Cost: that of the original, 2(N − 1) messages per entry, and that of the detector.
//! - State: that of the original and of the detector.
//!
//! Source: the original, which considers nodes that fail in its section 6. CACM 24(1), 1981.

use super::{RicartAgrawala, State};
use crate::mutex::cost;
use crate::mutex::watching::{
    ASKERS, AT_ONCE, BOUNDED, CRASHES, DELAY, DETECTOR, LAYERS, PERFECT, PERIOD, SAFE_AND_LIVE,
    SIGNS_OF_LIFE, STEP, STYLE, Survivor, Watching,
};
use synod_core::card::{Bounds, Card, Counterexample, OtherCosts, Parameter, Scope, Variant};
use synod_core::family::mutex::{ME1, ME2, ME3};
use synod_core::{Algorithm, Cx, ProcessSet, Rule, Setup, SetupError};

/// One process of the algorithm, with its failure detector.
pub type RicartAgrawalaCrash = Watching<RicartAgrawala>;

impl Survivor for RicartAgrawala {
    const CARD: Card = CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        <Self as Algorithm>::assemble(setup)
    }

    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        for process in dead.iter() {
            self.deferred.remove(process);
            if let State::Wanted { missing, .. } = &mut self.state {
                missing.remove(process);
            }
        }
        self.enter_if_permitted(cx);
    }

    fn stamp(&mut self) -> u64 {
        Algorithm::stamp(self)
    }

    fn witness(&mut self, stamp: u64) {
        Algorithm::witness(self, stamp);
    }
}

/// The card; mutants take most of it over.
pub(in crate::mutex) const CARD: Card = Card {
    name: "ricart-agrawala-crash",
    aliases: &["ra-crash"],
    title: "Ricart and Agrawala's mutual exclusion where processes crash",
    source: <RicartAgrawala as Algorithm>::CARD.source,
    idea: "Ask every other process for permission; a process that has crashed counts as one that \
           gave it.",
    rules: &[
        Rule::on_input(
            "Enter",
            "enter: advance the clock, send a request with its time to all others, wait for all \
             answers but those of the dead",
        ),
        Rule::on_message(
            "Request",
            "on a request: if inside, or if our own request is earlier, answer later; else now",
        ),
        Rule::on_message("Reply", "on a reply: if it was the last one missing, we are inside"),
        Rule::on_input("Exit", "exit: answer every process that was put off"),
        Rule::on_timer(
            "TimeOut",
            "when a process is taken for crashed: count its permission as given, forget that it \
             was put off; if its permission was the last one missing, we are inside",
        ),
        SIGNS_OF_LIFE,
    ],
    assumes: &[
        "reliable links, in any order",
        "crashes are noticed by a perfect failure detector, for which no message takes longer \
         than the delay; without a detector, no process crashes",
        "no crashed process comes back",
    ],
    promises: &[ME1, ME2, ME3],
    variants: &[Variant { set: PERFECT, tolerates: CRASHES, promises: SAFE_AND_LIVE }],
    usual: Some(2),
    proved: &[
        Scope::of(2),
        Scope { timing: BOUNDED, crashes: 1, set: PERFECT, ..Scope::of(2) },
        Scope {
            timing: AT_ONCE,
            crashes: 1,
            set: &[("detector", "perfect"), ("askers", "p0")],
            ..Scope::of(3)
        },
    ],
    counterexamples: &[
        Counterexample {
            property: ME1,
            scope: Scope { timing: BOUNDED, late: 1, set: PERFECT, ..Scope::of(2) },
            steps: 15,
            story: "a sign of life of p1, which is inside, takes longer than the bound: p0 takes \
                    it for crashed and enters without its permission",
        },
        Counterexample {
            property: ME2,
            scope: Scope { crashes: 1, ..Scope::of(2) },
            steps: 2,
            story: "without a detector, p1 crashes, and p0 waits for its permission for ever",
        },
        Counterexample {
            property: ME3,
            scope: Scope { timing: BOUNDED, set: PERFECT, ..Scope::of(2) },
            steps: 10,
            story: "p1 asks at time 1; its sign of life reaches p0, but carries no clock: p0 asks \
                    after it, at time 1 too, and wins the tie",
        },
    ],
    costs: &[
        cost::per_entry("2(N - 1)", |size| Bounds::exactly(2 * (size.n - 1))),
        cost::entry_messages("2(N - 1)", |size| Bounds::exactly(2 * (size.n - 1))),
        cost::entry_hops("2", |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 })),
        cost::relay_hops("1", |_| Bounds::exactly(1)),
    ],
    other_costs: &[OtherCosts::over_multicast(&[
        cost::per_entry("N", |size| Bounds::exactly(if size.n == 1 { 0 } else { size.n })),
        cost::entry_messages("N", |size| Bounds::exactly(if size.n == 1 { 0 } else { size.n })),
    ])],
    parameters: &[
        Parameter {
            name: "clocks",
            meaning: "the logical clock of each process at the start, e.g. 0 4 6 (default: all 0)",
        },
        ASKERS,
        DETECTOR,
        PERIOD,
        STYLE,
        DELAY,
        STEP,
    ],
    layers: LAYERS,
    ..Card::BLANK
};
