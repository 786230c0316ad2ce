//! Interactive consistency from generals: all agree on the vector of all proposals.
//!
//! Each process is the commander of one run of the Byzantine generals, and gives its proposal as
//! the order. The runs share their rounds. The decision of a process's run is its entry in the
//! vector.
//!
//! - Assumes: the assumptions of the generals below, oral messages (N > 3f) or signed
//!   ones (N >= f + 2).
//! - Guarantees: termination; agreement (the same vector for all loyal ones); consistency (the
//!   vector holds the proposal of each loyal process).
//! - Cost: that of the generals, N times, in the same f + 1 rounds.
//! - State: N generals.
//!
//! Sources: M. Pease, R. Shostak, L. Lamport: Reaching agreement in the presence of faults. JACM
//! 27(2), 1980. The reduction as in G. Coulouris, J. Dollimore, T. Kindberg, G. Blair: Distributed
//! Systems, 5th edition, 2011, 15.5.

use super::cost;
use super::either::{Either, Said};
use super::oral_messages::{self, Claim, OralMessages, TIE};
use super::rounds::{
    AT_ONCE, FAULTS, IN_TIME, RoundBased, RoundOver, Rounds, SYNCHRONOUS, Synchronous, faults,
};
use super::signed_messages::{Order, SignedMessages};
use crate::seal::{KEYS, SEAL};
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::fmt;
use synod_basics::detector::parameter::DELAY;
use synod_core::byzantine::{ADVERSARY, Byzantine, Corruptible, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Parameter, Scope, Settings, Source, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, CONSISTENCY, Decision, Input, ONCE, Output, PROPOSALS, TERMINATION, Value,
};
use synod_core::{Cx, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, Wire};

/// The parameter that names the generals.
pub const GENERALS: Parameter = Parameter {
    name: "generals",
    meaning: "the Byzantine generals below: oral or signed (default: oral)",
};

/// A general with oral or with signed messages.
pub type General = Either<OralMessages, SignedMessages>;

/// The generals of the parameters, in the run of this commander.
pub fn generals(setup: &Setup, commander: ProcessId) -> Result<Vec<General>, SetupError> {
    if setup.choice(GENERALS.name, &["oral", "signed"])? == "oral" {
        let generals = OralMessages::generals(setup, commander)?;
        return Ok(generals.into_iter().map(Either::One).collect());
    }
    let f = faults(setup, setup.n.saturating_sub(1) / 2, setup.n.saturating_sub(2))?;
    let generals = SignedMessages::generals(setup, f, commander)?;
    Ok(generals.into_iter().map(Either::Other).collect())
}

/// A message with the commander of its run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InRun<M> {
    /// The commander.
    pub commander: ProcessId,
    /// The message.
    pub it: M,
}

impl<M: Wire> Wire for InRun<M> {
    fn kind(&self) -> &'static str {
        self.it.kind()
    }

    fn label(&self) -> String {
        self.it.label()
    }
}

/// The text of a message shows its commander, so no other mark is needed.
impl<M: fmt::Debug> fmt::Debug for InRun<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.it.fmt(f)
    }
}

/// A general, and the commander of its run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Run {
    commander: ProcessId,
    general: General,
}

impl Protocol for Run {
    type Input = Input;
    type Output = Output;
    type Message = InRun<Said<Claim, Order>>;
    type Timer = RoundOver;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.step(cx, |general, cx| general.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.step(cx, |general, cx| general.on_message(from, message.it, cx));
    }

    fn on_timer(&mut self, over: RoundOver, cx: &mut Cx<'_, Self>) {
        self.step(cx, |general, cx| general.on_timer(over, cx));
    }
}

impl Run {
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut General, &mut Cx<'_, General>),
    ) {
        let Run { commander, general } = self;
        cx.through(None, in_run(*commander), identity, identity, |cx| step(general, cx));
    }
}

/// Says of which run a message is.
fn in_run<M>(commander: ProcessId) -> impl Fn(M) -> InRun<M> {
    move |it| InRun { commander, it }
}

/// One process: a general in the run of each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Consistency {
    runs: Vec<Run>,
}

impl Protocol for Consistency {
    type Input = Input;
    type Output = Output;
    type Message = InRun<Said<Claim, Order>>;
    type Timer = RoundOver;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let run = &mut self.runs[cx.me().index()];
        let decided = cx.below(|cx| run.on_input(input, cx));
        assert!(decided.is_empty(), "generals decide when their rounds are over");
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        let Some(run) = self.runs.get_mut(message.commander.index()) else {
            return cx.accuse(from, "speaks in the run of nobody");
        };
        let decided = cx.below(|cx| run.on_message(from, message, cx));
        assert!(decided.is_empty(), "generals decide when their rounds are over");
    }

    fn on_timer(&mut self, over: RoundOver, cx: &mut Cx<'_, Self>) {
        let mut vector = Vec::new();
        for run in &mut self.runs {
            for Output::Decided(decision) in cx.below(|cx| run.on_timer(over, cx)) {
                vector.push(match decision {
                    Decision::Value(value) => Some(value),
                    Decision::Nothing | Decision::Vector(_) => None,
                });
            }
        }
        // All runs have the same rounds, so all decide now, or none.
        if vector.len() == self.runs.len() {
            cx.output(Output::Decided(Decision::Vector(vector)));
        }
    }
}

impl Consistency {
    /// The processes of a group.
    pub fn processes(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let mut processes = vec![Consistency { runs: Vec::new() }; setup.n];
        for commander in ProcessId::all(setup.n) {
            let generals = generals(setup, commander)?;
            for (process, general) in processes.iter_mut().zip(generals) {
                process.runs.push(Run { commander, general });
            }
        }
        Ok(processes)
    }

    fn any_general(&self) -> &General {
        &self.runs.first().expect("every process of a group has a run of its own").general
    }
}

impl RoundBased for Consistency {
    fn rounds(&self) -> u32 {
        self.any_general().rounds()
    }

    fn at_most(&self) -> usize {
        self.runs.len() * self.any_general().at_most()
    }

    fn faults(&self) -> usize {
        self.any_general().faults()
    }
}

/// Lies in each run as a general does.
impl Corruptible for Consistency {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        let InRun { commander, it } = message;
        let it = self.runs.get(commander.index())?.general.lie(it, value)?;
        Some(InRun { commander: *commander, it })
    }
}

/// The parameters of algorithms that stand on generals.
pub(super) const PARAMETERS: &[Parameter] =
    &[GENERALS, FAULTS, TIE, SEAL, KEYS, PROPOSALS, DELAY, TRAITORS, ADVERSARY, LIES, SCRIPT];

const PROMISES: &[&str] = &[AGREEMENT, ONCE, CONSISTENCY, TERMINATION];
const SIGNED: Settings = &[("traitors", "p1"), ("adversary", "random"), ("generals", "signed")];

/// Whether the cost formula holds, which is about oral messages.
pub(super) fn is_oral(setup: &Setup) -> bool {
    setup.text(GENERALS.name).is_none_or(|generals| generals == "oral")
}

/// Interactive consistency, in the catalogue.
pub type InteractiveConsistency = Byzantine<Rounds<Consistency>>;

impl Synchronous for Consistency {
    const CARD: Card = Card {
        name: "interactive-consistency",
        aliases: &["IC"],
        title: "Interactive consistency from Byzantine generals",
        source: Source {
            author: "M. Pease, R. Shostak, L. Lamport",
            year: 1980,
            work: "Reaching agreement in the presence of faults, JACM 27(2)",
        },
        idea: "Each process commands one run of the Byzantine generals, and gives its proposal as \
               the order.",
        rules: &[
            Rule::on_input("Propose", "propose: give the value as the order of our own run"),
            Rule::on(
                &[
                    Trigger::Message("Order"),
                    Trigger::Message("Claim"),
                    Trigger::Message("Countersigned"),
                ],
                "on a message: hand it to our general in the run of its commander",
            ),
            Rule::on_timer(
                "RoundOver",
                "when all runs have decided: their decisions are the vector",
            ),
        ],
        assumes: &[
            "synchronous rounds: all start at the same moment, and no message is late or lost",
            "N > 3f with oral messages, N >= f + 2 with signed ones",
        ],
        tolerates: IN_TIME,
        promises: PROMISES,
        variants: &[Variant { set: SIGNED, tolerates: IN_TIME, promises: PROMISES }],
        usual: Some(2),
        proved: &[
            Scope { timing: SYNCHRONOUS, ..Scope::of(2) },
            Scope { timing: AT_ONCE, set: &[("f", "0")], ..Scope::of(3) },
            Scope {
                timing: AT_ONCE,
                set: &[("generals", "signed"), ("traitors", "p2"), ("adversary", "random")],
                ..Scope::of(3)
            },
        ],
        counterexamples: &[Counterexample {
            property: CONSISTENCY,
            scope: Scope {
                timing: AT_ONCE,
                set: &[("traitors", "p2"), ("adversary", "equivocating"), ("f", "1")],
                ..Scope::of(3)
            },
            steps: 23,
            story: "N = 3f: p2 tells p0 a lie about p1, and p1 one about p0; neither knows whom to \
                    believe",
        }],
        costs: &[cost::in_all("N M(N, f), M(N, f) as of oral messages", |size| {
            Bounds::exactly(size.n * oral_messages::messages(size.n, size.k))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all(
            "N M(N, f), M(N, f) as of oral messages",
            |size| Bounds::exactly(size.n * oral_messages::multicasts(size.n, size.k)),
        )])],
        parameters: PARAMETERS,
        layers: &["rounds", "interactive consistency", "generals"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::processes(setup)
    }

    fn has_costs(setup: &Setup) -> bool {
        is_oral(setup)
    }
}
