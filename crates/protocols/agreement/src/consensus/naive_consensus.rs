//! Consensus in an asynchronous system: the first attempt, and why it must fail.
//!
//! Each process sends its proposal to all others, waits for N − f proposals, its own included, and
//! decides on the smallest. With f = 0 it waits for all, and for ever if one has crashed. With f >
//! 0 it does not wait for the slowest; then two processes may have heard different proposals, and
//! decide differently, although none has crashed. A process that waits cannot tell a slow process
//! from a crashed one.
//!
//! Fischer, Lynch and Paterson proved that this is no matter of skill: no deterministic algorithm
//! can promise both agreement and termination in an asynchronous system in which even one process
//! may crash. An algorithm that succeeds knows more about time (synchronous rounds, failure
//! detectors), tosses coins, or promises termination only while the network behaves, as Paxos does.
//!
//! - Assumes: reliable links in any order; with f = 0, that no process crashes.
//! - Guarantees: agreement, validity and termination with f = 0; with f > 0 only validity and
//!   termination.
//! - Cost: N(N − 1) messages, one hop.
//! - State: the proposals of all.
//!
//! Source: M. Fischer, N. Lynch, M. Paterson: Impossibility of distributed consensus with one
//! faulty process. JACM 32(2), 1985.

use super::cost;
use super::rounds::{FAULTS, faults};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::byzantine::{ADVERSARY, Byzantine, Corruptible, LIES, SCRIPT, Sworn, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, OtherCosts, Scope, Size, Source, Tolerance, Variant,
};
use synod_core::family::Consensus;
use synod_core::family::consensus::{
    AGREEMENT, Decision, Input, ONCE, Output, PROPOSALS, TERMINATION, UNANIMITY, VALIDITY, Value,
    proposals,
};
use synod_core::{Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Wire};

/// The proposal of a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Proposal(pub Value);

impl Wire for Proposal {}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    /// It collects proposals.
    Waiting(BTreeMap<ProcessId, Value>),
    /// It has decided.
    Decided,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Naive {
    f: usize,
    state: State,
}

impl Protocol for Naive {
    type Input = Input;
    type Output = Output;
    type Message = Proposal;
    type Timer = Never;

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        cx.multicast(Proposal(value));
        self.hear(cx.me(), value, cx);
    }

    fn on_message(&mut self, from: ProcessId, Proposal(value): Proposal, cx: &mut Cx<'_, Self>) {
        if cx.is_member(from) {
            self.hear(from, value, cx);
        } else {
            cx.accuse(from, "is not one of us");
        }
    }
}

impl Naive {
    fn hear(&mut self, from: ProcessId, value: Value, cx: &mut Cx<'_, Self>) {
        let State::Waiting(heard) = &mut self.state else { return };
        heard.entry(from).or_insert(value);
        // A process that decided before it sent its own proposal would leave the others waiting for
        // it.
        if heard.contains_key(&cx.me()) && heard.len() + self.f >= cx.group_size() {
            let smallest = *heard.values().min().expect("at least this one was heard");
            self.state = State::Decided;
            cx.output(Output::Decided(Decision::Value(smallest)));
        }
    }
}

impl Corruptible for Naive {
    fn lie(&self, Proposal(_): &Proposal, value: Value) -> Option<Proposal> {
        Some(Proposal(value))
    }
}

const IMPATIENT: &[(&str, &str)] = &[("f", "1")];

/// The naïve consensus, in the catalogue.
pub type NaiveConsensus = Byzantine<Naive>;

impl Sworn for Naive {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "naive-consensus",
        aliases: &["FLP"],
        title: "Asynchronous consensus by waiting for N - f proposals",
        source: Source {
            author: "M. Fischer, N. Lynch, M. Paterson",
            year: 1985,
            work: "Impossibility of distributed consensus with one faulty process, JACM 32(2)",
        },
        idea: "Wait for N - f proposals, and decide on the smallest. A process that waits for all \
               waits for ever if one crashes; processes that do not wait may disagree.",
        rules: &[
            Rule::on_input("Propose", "propose: multicast the value"),
            Rule::on_message(
                "Proposal",
                "on a proposal: keep it; when there are N - f, our own included, decide on the \
                 smallest",
            ),
        ],
        assumes: &["reliable links in any order", "no process crashes"],
        tolerates: Tolerance { duplication: true, ..Tolerance::NOTHING },
        promises: &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION],
        variants: &[Variant {
            set: IMPATIENT,
            tolerates: Tolerance { duplication: true, ..Tolerance::NOTHING },
            promises: &[ONCE, VALIDITY, UNANIMITY, TERMINATION],
        }],
        usual: Some(2),
        proved: &[
            Scope::of(2),
            Scope { duplicates: 1, ..Scope::of(3) },
            Scope { crashes: 1, set: IMPATIENT, ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: TERMINATION,
                scope: Scope { crashes: 1, ..Scope::of(2) },
                steps: 2,
                story: "p0 crashes before it proposes, and p1, which waits for all, waits for \
                        ever",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { set: IMPATIENT, ..Scope::of(3) },
                steps: 5,
                story: "a process that does not wait for the slowest misses its proposal, though \
                        none crashes: p0 and another decide on the proposal of p0, and the third \
                        decides before it arrives",
            },
        ],
        costs: &[cost::in_all("N(N - 1)", |size| Bounds::exactly(size.n * (size.n - 1)))],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all("N", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { size.n })
        })])],
        parameters: &[FAULTS, PROPOSALS, TRAITORS, ADVERSARY, LIES, SCRIPT],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        proposals(setup)?;
        let f = faults(setup, 0, setup.n.saturating_sub(1))?;
        Ok(vec![Naive { f, state: State::Waiting(BTreeMap::new()) }; setup.n])
    }

    fn size(processes: &[Byzantine<Self>]) -> Size {
        Size { n: processes.len(), k: processes.first().map_or(0, |first| first.process().f) }
    }
}
