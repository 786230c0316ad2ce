//! Generals from consensus: the commander sends its order to all, and they agree on the order that
//! they received.
//!
//! In the first round the commander sends its order. Consensus follows, in which each process
//! proposes the order that it received; a process without an order proposes nothing. If the
//! commander is correct, all propose the same order, and consensus cannot decide on another.
//!
//! - Assumes: the assumptions of the consensus below: with flooding, at most f processes crash and
//!   none lies; with consensus from generals, at most f are traitors.
//! - Guarantees: termination, agreement, obedience.
//! - Cost: a round and N − 1 messages more than consensus.
//! - State: that of consensus.
//!
//! Source: G. Coulouris, J. Dollimore, T. Kindberg, G. Blair: Distributed Systems, 5th edition,
//! 2011, 15.5.

use super::consensus_from_generals::MajorityOfVector;
use super::cost;
use super::either::Either;
use super::interactive_consistency::GENERALS;
use super::oral_messages::TIE;
use super::rounds::{
    AT_ONCE, FAULTS, IN_TIME, RoundBased, RoundOver, Rounds, SYNCHRONOUS, Synchronous,
};
use super::sync_consensus::{EMPTY, Flooding};
use crate::seal::{KEYS, SEAL};
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_basics::detector::parameter::DELAY;
use synod_core::byzantine::{ADVERSARY, Byzantine, Corruptible, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, OtherCosts, Parameter, Scope, Settings, Source,
    Tolerance, Variant,
};
use synod_core::family::consensus::{
    AGREEMENT, COMMANDER, Input, OBEDIENCE, ONCE, Output, PROPOSALS, TERMINATION, Value, commander,
};
use synod_core::{Cx, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, Wire};

/// The parameter that names the consensus below.
pub const OVER: Parameter = Parameter {
    name: "over",
    meaning: "the consensus below: flooding or generals (default: flooding)",
};

/// Consensus among processes that crash, or among traitors.
type Consensus = Either<Flooding, MajorityOfVector>;

/// The messages between processes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// From the commander, in the first round.
    Order(Value),
    /// A message of the consensus that follows.
    Consensus(<Consensus as Protocol>::Message),
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Message::Order(_) => "Order",
            Message::Consensus(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Order(_) => synod_core::sight::short(&format!("{self:?}"), self.kind()),
            Message::Consensus(message) => message.label(),
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Order(value) => write!(f, "Order({value})"),
            Message::Consensus(message) => message.fmt(f),
        }
    }
}

impl From<<Consensus as Protocol>::Message> for Message {
    fn from(message: <Consensus as Protocol>::Message) -> Self {
        Message::Consensus(message)
    }
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OrderThenConsensus {
    commander: ProcessId,
    /// The order that we received in the first round, until we propose it.
    order: Option<Value>,
    /// Whether the first round is over.
    agrees: bool,
    below: Consensus,
}

impl Protocol for OrderThenConsensus {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = RoundOver;

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if cx.me() == self.commander && !self.agrees {
            self.order = Some(value);
            cx.multicast(Message::Order(value));
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Order(value) if from == self.commander && !self.agrees => {
                self.order = self.order.or(Some(value));
            }
            Message::Order(_) => cx.accuse(from, "gives an order that is not its to give"),
            Message::Consensus(message) if self.agrees => {
                self.step(cx, |below, cx| below.on_message(from, message, cx));
            }
            Message::Consensus(_) => cx.accuse(from, "proposes before it can have an order"),
        }
    }

    /// The rounds of consensus are numbered from our second.
    fn on_timer(&mut self, RoundOver(round): RoundOver, cx: &mut Cx<'_, Self>) {
        if self.agrees {
            return self.step(cx, |below, cx| below.on_timer(RoundOver(round - 1), cx));
        }
        self.agrees = true;
        self.step(cx, |below, cx| below.on_start(cx));
        if let Some(value) = self.order.take() {
            self.step(cx, |below, cx| below.on_input(Input::Propose(value), cx));
        }
    }
}

impl OrderThenConsensus {
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut Consensus, &mut Cx<'_, Consensus>),
    ) {
        for decided in cx.below(|cx| step(&mut self.below, cx)) {
            cx.output(decided);
        }
    }
}

impl RoundBased for OrderThenConsensus {
    fn rounds(&self) -> u32 {
        self.below.rounds() + 1
    }

    fn at_most(&self) -> usize {
        self.below.at_most()
    }

    fn faults(&self) -> usize {
        self.below.faults()
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me == self.commander
    }
}

/// Lies about the order, and in consensus as a traitor does there.
impl Corruptible for OrderThenConsensus {
    fn lie(&self, message: &Message, value: Value) -> Option<Message> {
        match message {
            Message::Order(_) => Some(Message::Order(value)),
            Message::Consensus(message) => self.below.lie(message, value).map(Message::Consensus),
        }
    }
}

const PROMISES: &[&str] = &[AGREEMENT, ONCE, OBEDIENCE, TERMINATION];
const TOLERATES: Tolerance = Tolerance { crashes: Crashes::Minority, ..IN_TIME };
const AMONG_TRAITORS: Settings =
    &[("over", "generals"), ("traitors", "p1"), ("adversary", "random")];

/// Generals from consensus, in the catalogue.
pub type GeneralsFromConsensus = Byzantine<Rounds<OrderThenConsensus>>;

impl Synchronous for OrderThenConsensus {
    const CARD: Card = Card {
        name: "generals-from-consensus",
        title: "Byzantine generals from consensus",
        source: Source {
            author: "G. Coulouris, J. Dollimore, T. Kindberg, G. Blair",
            year: 2011,
            work: "Distributed Systems, 5th edition, 15.5",
        },
        idea: "The commander sends its order to all, and then all agree on the order that they \
               received.",
        rules: &[
            Rule::on_input(
                "Propose",
                "propose, at the commander: send the order to all, in round 1",
            ),
            Rule::on_message("Order", "on an order of the commander, in round 1: keep it"),
            Rule::on_timer(
                "RoundOver",
                "when round 1 is over: propose the order of the commander to consensus, if one \
                 came",
            ),
            Rule::on(
                &[Trigger::Message("Order"), Trigger::Message("Claim"), Trigger::Message("Values")],
                "on a message of a later round: hand it to consensus",
            ),
            Rule::on_timer("RoundOver", "when consensus has decided: that is the decision"),
        ],
        assumes: &[
            "synchronous rounds: all start at the same moment, and no message is late or lost",
            "over flooding: at most f processes crash, and none lies; over generals: N > 3f, where \
             f is the number of traitors",
        ],
        tolerates: TOLERATES,
        promises: PROMISES,
        variants: &[Variant { set: AMONG_TRAITORS, tolerates: IN_TIME, promises: PROMISES }],
        usual: Some(1),
        proved: &[
            Scope { timing: SYNCHRONOUS, crashes: 1, set: &[("f", "1")], ..Scope::of(2) },
            Scope { timing: AT_ONCE, crashes: 1, set: &[("f", "1")], ..Scope::of(3) },
            Scope { timing: AT_ONCE, set: &[("over", "generals"), ("f", "0")], ..Scope::of(3) },
        ],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope {
                timing: AT_ONCE,
                set: &[
                    ("f", "1"),
                    ("traitors", "p0"),
                    ("adversary", "scripted"),
                    ("script", "p1:truth p1:truth p1:1 p2:truth"),
                    ("proposals", "5 6 7"),
                ],
                ..Scope::of(3)
            },
            steps: 29,
            story: "over flooding no process may lie: in the last round p0 tells p1 of a smaller \
                    value, and there is no time to pass it on",
        }],
        costs: &[cost::in_all("(N - 1)(1 + (f + 1)N)", |size| {
            Bounds::exactly((size.n - 1) * (1 + (size.k + 1) * size.n))
        })],
        other_costs: &[OtherCosts::over_multicast(&[cost::in_all("1 + (f + 1)N", |size| {
            Bounds::exactly(if size.n == 1 { 0 } else { 1 + (size.k + 1) * size.n })
        })])],
        parameters: &[
            OVER, FAULTS, EMPTY, GENERALS, TIE, SEAL, KEYS, COMMANDER, PROPOSALS, DELAY, TRAITORS,
            ADVERSARY, LIES, SCRIPT,
        ],
        layers: &["rounds", "order", "consensus"],
        ..Card::BLANK
    };

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let commander = commander(setup)?;
        let below: Vec<Consensus> = match setup.choice(OVER.name, &["flooding", "generals"])? {
            "flooding" => Flooding::processes(setup)?.into_iter().map(Either::One).collect(),
            _ => MajorityOfVector::processes(setup)?.into_iter().map(Either::Other).collect(),
        };
        let process = |below| OrderThenConsensus { commander, order: None, agrees: false, below };
        Ok(below.into_iter().map(process).collect())
    }

    fn has_costs(setup: &Setup) -> bool {
        <Flooding>::has_costs(setup) && setup.text(OVER.name).is_none_or(|over| over == "flooding")
    }
}
