//! Consensus from generals: all agree on the vector of proposals, and then on the majority in it.
//!
//! All loyal processes have the same vector of proposals, by interactive consistency, and apply the
//! same function to it: the value of more than half; if there is none, the smallest.
//!
//! - Assumes: the assumptions of interactive consistency; with signed messages also N > 2f, or the
//!   loyal ones are no majority.
//! - Guarantees: termination, agreement; integrity (if all loyal ones propose the same value, they
//!   decide on it); without traitors, also validity.
//! - Cost: that of interactive consistency, and no more.
//! - State: that of interactive consistency.
//!
//! Source: G. Coulouris, J. Dollimore, T. Kindberg, G. Blair: Distributed Systems, 5th edition,
//! 2011, 15.5.

use super::cost;
use super::interactive_consistency::{Consistency, PARAMETERS, is_oral};
use super::oral_messages::{messages, multicasts};
use super::rounds::{AT_ONCE, IN_TIME, RoundBased, RoundOver, Rounds, SYNCHRONOUS, Synchronous};
use super::vote::more_than_half;
use serde::{Deserialize, Serialize};
use synod_core::byzantine::{Byzantine, Corruptible};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Scope, Settings, Source, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, Decision, Input, ONCE, Output, TERMINATION, UNANIMITY, VALIDITY, Value,
};
use synod_core::{Cx, ProcessId, Protocol, Rule, Setup, SetupError, Trigger};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MajorityOfVector {
    below: Consistency,
}

impl Protocol for MajorityOfVector {
    type Input = Input;
    type Output = Output;
    type Message = <Consistency as Protocol>::Message;
    type Timer = RoundOver;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_message(from, message, cx));
    }

    fn on_timer(&mut self, over: RoundOver, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_timer(over, cx));
    }
}

impl MajorityOfVector {
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Consistency, &mut Cx<'_, Consistency>),
    ) {
        for Output::Decided(decision) in cx.below(|cx| step(&mut self.below, cx)) {
            cx.output(Output::Decided(chosen(decision).into()));
        }
    }

    /// The processes of a group.
    pub fn processes(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let below = Consistency::processes(setup)?;
        let f = below.first().map_or(0, Consistency::faults);
        if setup.n > 0 && setup.n <= 2 * f {
            return Err(setup.bad("f", "the loyal processes must be a majority: N > 2f"));
        }
        Ok(below.into_iter().map(|below| MajorityOfVector { below }).collect())
    }
}

/// The choice of every process that has this vector.
fn chosen(decision: Decision) -> Option<Value> {
    let Decision::Vector(proposals) = decision else {
        unreachable!("interactive consistency decides on vectors")
    };
    let smallest = proposals.iter().flatten().min().copied();
    more_than_half(&proposals).flatten().or(smallest)
}

impl RoundBased for MajorityOfVector {
    fn rounds(&self) -> u32 {
        self.below.rounds()
    }

    fn at_most(&self) -> usize {
        self.below.at_most()
    }

    fn faults(&self) -> usize {
        self.below.faults()
    }
}

impl Corruptible for MajorityOfVector {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        self.below.lie(message, value)
    }
}

const PROMISES: &[&str] = &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION];
const SIGNED: Settings = &[("traitors", "p1"), ("adversary", "random"), ("generals", "signed")];

/// Consensus from generals, in the catalogue.
pub type ConsensusFromGenerals = Byzantine<Rounds<MajorityOfVector>>;

impl Synchronous for MajorityOfVector {
    const CARD: Card = Card {
        name: "consensus-from-generals",
        title: "Consensus from Byzantine generals, by interactive consistency",
        source: Source {
            author: "G. Coulouris, J. Dollimore, T. Kindberg, G. Blair",
            year: 2011,
            work: "Distributed Systems, 5th edition, 15.5",
        },
        idea: "All agree on the vector of proposals, and each takes the majority of it.",
        rules: &[
            Rule::on_input("Propose", "propose: propose it to interactive consistency"),
            Rule::on(
                &[
                    Trigger::Message("Order"),
                    Trigger::Message("Claim"),
                    Trigger::Message("Countersigned"),
                ],
                "on a message: hand it to interactive consistency",
            ),
            Rule::on_timer(
                "RoundOver",
                "on the vector: decide on the value of more than half, or else on the smallest",
            ),
        ],
        assumes: &[
            "synchronous rounds: all start at the same moment, and no message is late or lost",
            "N > 3f with oral messages, N > 2f with signed ones",
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
                set: &[
                    ("generals", "signed"),
                    ("traitors", "p2"),
                    ("adversary", "random"),
                    ("proposals", "7 7 5"),
                ],
                ..Scope::of(3)
            },
        ],
        counterexamples: &[Counterexample {
            property: UNANIMITY,
            scope: Scope {
                timing: AT_ONCE,
                set: &[
                    ("traitors", "p2"),
                    ("adversary", "equivocating"),
                    ("f", "1"),
                    ("proposals", "7 7 5"),
                ],
                ..Scope::of(3)
            },
            steps: 23,
            story: "N = 3f: p0 and p1 propose the same, but p2 keeps each from believing the other",
        }],
        costs: &[cost::in_all("N M(N, f), M(N, f) as of oral messages", |size| {
            Bounds::exactly(size.n * messages(size.n, size.k))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all(
            "N M(N, f), M(N, f) as of oral messages",
            |size| Bounds::exactly(size.n * multicasts(size.n, size.k)),
        )])],
        parameters: PARAMETERS,
        layers: &["rounds", "majority", "interactive consistency", "generals"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::processes(setup)
    }

    fn has_costs(setup: &Setup) -> bool {
        is_oral(setup)
    }
}
