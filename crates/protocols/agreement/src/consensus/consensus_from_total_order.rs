//! Consensus from totally ordered multicast: each process decides on the first value that it
//! delivers.
//!
//! To propose is to multicast. All processes deliver the same messages in the same order, so all
//! have the same first message. So totally ordered multicast is no easier than consensus: no
//! asynchronous system has it either, if processes may crash and the others shall go on. Here, if
//! the sequencer crashes, no further process decides.
//!
//! - Assumes: the assumptions of the multicast below, a sequencer over a carrier.
//! - Guarantees: agreement, validity, integrity; termination only if the sequencer does not crash.
//! - Cost: that of N multicasts: N(N − 1) messages and N − 1 more, because the sequencer need not
//!   send its own to itself. The first suffices to decide.
//! - State: that of the multicast, and whether the process has decided.
//!
//! Source: G. Coulouris, J. Dollimore, T. Kindberg, G. Blair: Distributed Systems, 5th edition,
//! 2011, 15.5. That the two are equivalent: T. D. Chandra, S. Toueg: Unreliable failure detectors
//! for reliable distributed systems. JACM 43(2), 1996.

use super::cost;
use serde::{Deserialize, Serialize};
use synod_basics::multicast::carrier::{self, Carrier, OVER};
use synod_basics::multicast::sequencer::{self, SEQUENCER, Sequencer, Turn};
use synod_basics::multicast::{Deliver, Multicast};
use synod_core::byzantine::{ADVERSARY, Byzantine, Corruptible, LIES, SCRIPT, Sworn, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Scope, Source, Tolerance, Variant,
};
use synod_core::family::Consensus;
use synod_core::family::consensus::{
    AGREEMENT, Decision, Input, ONCE, Output, PROPOSALS, TERMINATION, UNANIMITY, VALIDITY, Value,
    proposals,
};
use synod_core::{Cx, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger};

/// Totally ordered multicast of proposals.
type TotalOrder = Sequencer<Value, Carrier<Turn<Value>>>;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FirstDelivered {
    below: TotalOrder,
    has_decided: bool,
}

impl Protocol for FirstDelivered {
    type Input = Input;
    type Output = Output;
    type Message = <TotalOrder as Protocol>::Message;
    type Timer = <TotalOrder as Protocol>::Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_start(cx));
    }

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_input(Multicast(value), cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.step(cx, |below, cx| below.on_timer(timer, cx));
    }
}

impl FirstDelivered {
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut TotalOrder, &mut Cx<'_, TotalOrder>),
    ) {
        for Deliver { payload: value, .. } in cx.below(|cx| step(&mut self.below, cx)) {
            if !self.has_decided {
                self.has_decided = true;
                cx.output(Output::Decided(Decision::Value(value)));
            }
        }
    }
}

/// Lies to the sequencer about its proposal.
impl Corruptible for FirstDelivered {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        match message {
            sequencer::Message::Submit(_) => Some(sequencer::Message::Submit(value)),
            sequencer::Message::Carried(_) => None,
        }
    }
}

const SAFE: &[&str] = &[AGREEMENT, ONCE, VALIDITY, UNANIMITY];

/// Consensus from totally ordered multicast, in the catalogue.
pub type ConsensusFromTotalOrder = Byzantine<FirstDelivered>;

impl Sworn for FirstDelivered {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "consensus-from-total-order",
        title: "Consensus from totally ordered multicast",
        source: Source {
            author: "T. D. Chandra, S. Toueg",
            year: 1996,
            work: "Unreliable failure detectors for reliable distributed systems, JACM 43(2)",
        },
        idea: "Multicast your proposal, and decide on the first one that is delivered.",
        rules: &[
            Rule::on_input("Propose", "propose: multicast the value, in total order"),
            sequencer::ORDER,
            Rule::on(
                &[Trigger::Message("Data"), Trigger::Message("Again"), Trigger::Message("Submit")],
                "on the first delivery: decide on its value",
            ),
            carrier::REPAIR,
        ],
        assumes: &["a totally ordered multicast: here a sequencer that does not crash"],
        promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: Tolerance { duplication: false, ..carrier::RELIABLE },
                promises: SAFE,
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
            },
        ],
        proved: &[
            Scope::of(2),
            Scope::of(3),
            Scope { crashes: 1, set: &[("over", "reliable")], ..Scope::of(2) },
        ],
        counterexamples: &[Counterexample {
            property: TERMINATION,
            scope: Scope { crashes: 1, ..Scope::of(2) },
            steps: 2,
            story: "the sequencer crashes before it has numbered a message",
        }],
        costs: &[cost::in_all("N^2 - 1", |size| Bounds::exactly(size.n * size.n - 1))],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all("2N - 1", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { 2 * size.n - 1 })
        })])],
        parameters: &[OVER, SEQUENCER, PROPOSALS, TRAITORS, ADVERSARY, LIES, SCRIPT],
        layers: &["first delivered", "sequencer", "basic"],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        proposals(setup)?;
        let below = TotalOrder::from_setup(&ProcessSet::all(setup.n), setup)?;
        Ok(vec![FirstDelivered { below, has_decided: false }; setup.n])
    }

    fn has_costs(setup: &Setup) -> bool {
        let is_usual = setup.text(OVER.name).is_none_or(|over| over == "basic");
        is_usual && setup.text(TRAITORS.name).is_none()
    }
}
