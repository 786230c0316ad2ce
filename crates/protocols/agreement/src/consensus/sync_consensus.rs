//! Consensus in f + 1 synchronous rounds, by flooding.
//!
//! In every round a process tells all others the values that it learned in the round before, at
//! first its own. A process that crashes may have told only some; but if at most f processes crash,
//! then none crashes in at least one of f + 1 rounds, and after that round all have the same
//! values. Each decides on the smallest, or by another function that all share: the greatest, or
//! the majority, for which each value travels with the name of its proposer.
//!
//! - Assumes: synchronous rounds, reliable links; at most `f` processes crash, also in the middle
//!   of a multicast. No process lies.
//! - Guarantees: termination, agreement, validity. Not with more than f crashes, not with a message
//!   that is late, and not with traitors: see the counterexamples on the card.
//! - Cost: f + 1 rounds; (f + 1)N(N − 1) messages, or 2N(N − 1) if a process without new values
//!   sends no message: without crashes, all values are known after the first round, and passed on
//!   in the second. Each process sends every value once.
//! - State: the values proposed, at most N, and those of them that are not sent yet.
//!
//! The textbook decides on the smallest of Values^{f+1}. With its own numbering, Values^1 is a
//! process's value, so values that arrive in round r are in Values^{r+1}, and those of the last
//! round are in Values^{f+2}; without that the algorithm is wrong on the textbook's own example
//! (see the [mutants](super::mutants)).
//!
//! Sources: D. Dolev, H. R. Strong: Authenticated algorithms for Byzantine agreement. SIAM Journal
//! on Computing 12(4), 1983. G. Coulouris, J. Dollimore, T. Kindberg, G. Blair: Distributed
//! Systems, 5th edition, 2011, figure 15.17. That fewer rounds never suffice: M. Fischer, N. Lynch:
//! A lower bound for the time to assure interactive consistency. Information Processing Letters
//! 14(4), 1982.

use super::cost;
use super::decision::{DECIDE, DecisionFunction};
use super::rounds::{
    AT_ONCE, FAULTS, IN_TIME, RoundBased, RoundOver, Rounds, SYNCHRONOUS, Synchronous, faults,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use synod_basics::detector::parameter::DELAY;
use synod_core::byzantine::{ADVERSARY, Byzantine, Corruptible, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, OtherCosts, Parameter, Scope, Source, Tolerance, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, Input, ONCE, Output, PROPOSALS, TERMINATION, UNANIMITY, VALIDITY, Value,
};
use synod_core::{Cx, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, Wire};

/// The message of a round.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The values that the sender learned in the last round.
    Values(BTreeSet<Value>),
    /// The same with the names of their proposers, where they are counted.
    Votes(BTreeMap<ProcessId, Value>),
}

impl Wire for Message {}

/// One process of the algorithm. One mutant does not count the values of the last round, and
/// another makes only f rounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flooding<const COUNTS_LAST: bool = true, const ONE_MORE: bool = true> {
    /// The number of processes, and thus of values if no process lies.
    n: usize,
    f: usize,
    /// Whether it sends a message even without new values.
    sends_nothing: bool,
    /// Values^r, in round r.
    values: BTreeSet<Value>,
    /// Those of them that are not sent yet: Values^r − Values^{r-1}.
    unsent: BTreeSet<Value>,
    decision: DecisionFunction,
    /// In their place, where they are counted: the value of each process, and those not sent yet.
    votes: BTreeMap<ProcessId, Value>,
    unsent_votes: BTreeMap<ProcessId, Value>,
}

impl<const COUNTS_LAST: bool, const ONE_MORE: bool> Protocol for Flooding<COUNTS_LAST, ONE_MORE> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = RoundOver;

    /// The application proposes in the first round.
    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        match self.decision.counts() {
            true => self.count(cx.me(), value),
            false => self.learn(value),
        }
        self.flood(cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Values(values) if values.len() > self.n => {
                cx.accuse(from, "tells of more values than processes can propose");
            }
            Message::Values(values) if !self.decision.counts() => {
                values.into_iter().for_each(|value| self.learn(value));
            }
            Message::Votes(votes) if self.decision.counts() => {
                votes.into_iter().for_each(|(process, value)| self.count(process, value));
            }
            Message::Values(_) | Message::Votes(_) => {
                cx.accuse(from, "decides by another function");
            }
        }
    }

    fn on_timer(&mut self, RoundOver(round): RoundOver, cx: &mut Cx<'_, Self>) {
        if round < self.rounds() {
            self.flood(cx);
        } else {
            self.decide(cx);
        }
    }
}

impl<const COUNTS_LAST: bool, const ONE_MORE: bool> Flooding<COUNTS_LAST, ONE_MORE> {
    /// Liars cannot fill the memory: honest processes propose at most n values.
    fn learn(&mut self, value: Value) {
        if self.values.len() < self.n && self.values.insert(value) {
            self.unsent.insert(value);
        }
    }

    /// The same, where values are counted. The first value of a process counts.
    fn count(&mut self, process: ProcessId, value: Value) {
        if process.index() < self.n && !self.votes.contains_key(&process) {
            self.votes.insert(process, value);
            self.unsent_votes.insert(process, value);
        }
    }

    fn flood(&mut self, cx: &mut Cx<'_, Self>) {
        let has_news = !self.unsent.is_empty() || !self.unsent_votes.is_empty();
        if self.sends_nothing || has_news {
            cx.multicast(match self.decision.counts() {
                true => Message::Votes(mem::take(&mut self.unsent_votes)),
                false => Message::Values(mem::take(&mut self.unsent)),
            });
        }
    }

    /// Decides when the last round is over. The values of that round are still in `unsent`.
    fn decide(&mut self, cx: &mut Cx<'_, Self>) {
        let (mut values, mut votes) = (self.values.clone(), self.votes.clone());
        if !COUNTS_LAST {
            values.retain(|value| !self.unsent.contains(value));
            votes.retain(|process, _| !self.unsent_votes.contains_key(process));
        }
        cx.output(Output::Decided(self.decision.of(&values, &votes).into()));
    }

    /// The processes of a group.
    pub fn processes(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let others = setup.n.saturating_sub(1);
        let f = faults(setup, others / 2, others)?;
        let sends_nothing = setup.choice(EMPTY.name, &["sent", "suppressed"])? == "sent";
        let process = Flooding {
            n: setup.n,
            f,
            sends_nothing,
            values: BTreeSet::new(),
            unsent: BTreeSet::new(),
            decision: DecisionFunction::from_setup(setup)?,
            votes: BTreeMap::new(),
            unsent_votes: BTreeMap::new(),
        };
        Ok(vec![process; setup.n])
    }

    /// The values that it knows.
    pub fn values(&self) -> &BTreeSet<Value> {
        &self.values
    }
}

impl<const COUNTS_LAST: bool, const ONE_MORE: bool> RoundBased for Flooding<COUNTS_LAST, ONE_MORE> {
    fn rounds(&self) -> u32 {
        let rounds = if ONE_MORE { self.f + 1 } else { self.f };
        rounds.max(1) as u32
    }

    fn at_most(&self) -> usize {
        1
    }

    fn faults(&self) -> usize {
        self.f
    }
}

/// Lies about the values that it learned.
impl<const COUNTS_LAST: bool, const ONE_MORE: bool> Corruptible
    for Flooding<COUNTS_LAST, ONE_MORE>
{
    fn lie(&self, message: &Message, value: Value) -> Option<Message> {
        Some(match message {
            Message::Values(_) => Message::Values([value].into()),
            Message::Votes(votes) => {
                Message::Votes(votes.keys().map(|process| (*process, value)).collect())
            }
        })
    }
}

/// The parameter that decides about messages without values.
pub const EMPTY: Parameter = Parameter {
    name: "empty",
    meaning: "the message of a process that learned no new value: sent or suppressed (default: \
              sent)",
};

/// The parameters of the algorithm.
pub(super) const PARAMETERS: &[Parameter] =
    &[FAULTS, EMPTY, DECIDE, PROPOSALS, DELAY, TRAITORS, ADVERSARY, LIES, SCRIPT];

pub(super) const SOURCE: Source = Source {
    author: "D. Dolev, H. R. Strong",
    year: 1983,
    work: "Authenticated algorithms for Byzantine agreement, SIAM Journal on Computing 12(4)",
};

pub(super) const ASSUMES: &[&str] = &[
    "synchronous rounds: all start at the same moment, and no message is late or lost",
    "at most f processes crash, and none lies",
];

/// The faults that the algorithm tolerates.
pub(super) const TOLERATES: Tolerance = Tolerance { crashes: Crashes::Minority, ..IN_TIME };

const PROMISES: &[&str] = &[AGREEMENT, ONCE, VALIDITY, UNANIMITY, TERMINATION];

/// Consensus by flooding, in the catalogue.
pub type SyncConsensus = Byzantine<Rounds<Flooding>>;

impl Synchronous for Flooding {
    const CARD: Card = Card {
        name: "sync-consensus",
        aliases: &["flooding", "dolev-strong-crash"],
        title: "Consensus in f + 1 synchronous rounds",
        source: SOURCE,
        idea: "Each process tells all others the values that it learned in the last round. In one \
               of f + 1 rounds no process crashes, and then all know the same values.",
        rules: &[
            Rule::on_input("Propose", "propose: multicast the value, in round 1"),
            Rule::on(
                &[Trigger::Message("Values"), Trigger::Message("Votes")],
                "on values (with their proposers, if they are counted): keep those that are new",
            ),
            Rule::on_timer(
                "RoundOver",
                "when a round is over: multicast its new values, in the next round",
            ),
            Rule::on_timer(
                "RoundOver",
                "when round f + 1 is over: decide on the smallest value (or the greatest, or that of \
                 the majority), those of this round included",
            ),
        ],
        assumes: ASSUMES,
        tolerates: TOLERATES,
        promises: PROMISES,
        variants: &[
            Variant { set: &[("empty", "suppressed")], tolerates: TOLERATES, promises: PROMISES },
            Variant { set: &[("decide", "maximum")], tolerates: TOLERATES, promises: PROMISES },
            Variant { set: &[("decide", "majority")], tolerates: TOLERATES, promises: PROMISES },
        ],
        usual: Some(4),
        proved: &[
            Scope { timing: SYNCHRONOUS, crashes: 1, set: &[("f", "1")], ..Scope::of(2) },
            Scope {
                timing: SYNCHRONOUS,
                crashes: 1,
                duplicates: 1,
                set: &[("f", "1")],
                ..Scope::of(2)
            },
            Scope { timing: SYNCHRONOUS, crashes: 1, set: &[("f", "1")], ..Scope::of(3) },
            Scope { timing: AT_ONCE, crashes: 2, set: &[("f", "2")], ..Scope::of(3) },
            Scope { timing: AT_ONCE, crashes: 1, set: &[("f", "1")], ..Scope::of(4) },
            Scope {
                timing: AT_ONCE,
                crashes: 1,
                set: &[("f", "1"), ("decide", "maximum")],
                ..Scope::of(3)
            },
            Scope {
                timing: AT_ONCE,
                crashes: 1,
                set: &[("f", "1"), ("decide", "majority"), ("proposals", "7 5 5")],
                ..Scope::of(3)
            },
        ],
        counterexamples: &[
            Counterexample {
                property: AGREEMENT,
                scope: Scope { timing: AT_ONCE, crashes: 1, set: &[("f", "0")], ..Scope::of(3) },
                steps: 10,
                story: "more than f crash: in the only round p0 crashes when it has told p1 but \
                        not p2",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope {
                    timing: AT_ONCE,
                    crashes: 1,
                    set: &[("f", "0"), ("decide", "majority"), ("proposals", "7 5 7")],
                    ..Scope::of(3)
                },
                steps: 10,
                story: "more than f crash, and a majority is no better: p0 crashes when it has told \
                        p1 but not p2; of three votes 7 has two, of two it has one",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { timing: AT_ONCE, late: 1, ..Scope::of(2) },
                steps: 8,
                story: "a message is late: the proposal of p0 reaches p1 when its round is over",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope {
                    timing: AT_ONCE,
                    set: &[
                        ("f", "1"),
                        ("traitors", "p0"),
                        ("adversary", "scripted"),
                        ("script", "p1:silence p1:1 p2:silence"),
                        ("proposals", "5 6 7"),
                    ],
                    ..Scope::of(3)
                },
                steps: 21,
                story: "p0 lies: in the last round it tells p1 of a smaller value, and there is no \
                        time to pass it on",
            },
        ],
        costs: &[cost::in_all("(f + 1)N(N - 1)", |size| {
            Bounds::exactly((size.k + 1) * size.n * (size.n - 1))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all("(f + 1)N", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { (size.k + 1) * size.n })
        })])],
        parameters: PARAMETERS,
        layers: &["rounds", "flooding"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::processes(setup)
    }

    fn has_costs(setup: &Setup) -> bool {
        setup.text(EMPTY.name).is_none_or(|empty| empty == "sent")
    }
}
