//! Synchronous rounds: each process sends, waits, and has then heard all others.
//!
//! Where no message takes longer than a known bound, a round is a time-out: messages that were sent
//! at its beginning have arrived at its end, and a process that was not heard by then has crashed,
//! or is silent. An algorithm made of rounds ([`RoundBased`]) need not know about time. At the end
//! of each round it gets all messages of the round, in an order that does not depend on the
//! network, and then the news that the round is over. Its next messages belong to the next round.
//!
//! - Assumes: all processes start at the same moment; clocks run alike; no message takes longer
//!   than `delay`. A process that starts again after a crash has missed rounds, and takes no part
//!   in later ones.
//! - Guarantees: all correct processes get the message of a correct one in the round in which it
//!   was sent.
//! - Cost: no messages; `delay` and a millisecond of time for each round.
//! - State: the messages of this round, and those of the next from processes whose time-outs ended
//!   a moment before ours; of each sender at most as many as the algorithm sends to one process in
//!   a round.
//!
//! Source: N. A. Lynch: Distributed Algorithms, 1996, chapter 2.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::identity;
use std::fmt;
use synod_basics::detector;
use synod_core::byzantine::{Byzantine, Corruptible, Sworn, TRAITORS};
use synod_core::card::{Card, Parameter, Size, Timing, Tolerance};
use synod_core::family::Consensus;
use synod_core::family::consensus::{Input, Output, Value, commander, proposals};
use synod_core::{Cx, ProcessId, Protocol, Setup, SetupError, Wire};

/// The parameter that [`faults`] reads.
pub const FAULTS: Parameter = Parameter {
    name: "f",
    meaning: "how many processes may be faulty, for which f + 1 rounds are made",
};

/// The number of processes that may be faulty: the parameter `f`, checked against `at_most`.
pub fn faults(setup: &Setup, default: usize, at_most: usize) -> Result<usize, SetupError> {
    match setup.number(FAULTS.name, default as u64)? {
        f if f <= at_most as u64 => Ok(f as usize),
        _ => Err(setup.bad(FAULTS.name, format!("among {} it is at most {at_most}", setup.n))),
    }
}

/// Worlds in which the time-outs of rounds are long enough.
pub const SYNCHRONOUS: Timing = Timing::Synchronous { delay_ms: 1 };

/// Worlds in which messages arrive at once. The moment of arrival within a round does not matter to
/// the algorithm, and these worlds are fewer.
pub const AT_ONCE: Timing = Timing::Synchronous { delay_ms: 0 };

/// The faults that rounds tolerate: reordered and duplicated messages.
pub const IN_TIME: Tolerance =
    Tolerance { delay_ms: Some(1), duplication: true, ..Tolerance::NOTHING };

/// An algorithm in rounds, seen from one process. At the end of a round it gets the messages of the
/// round ([`Protocol::on_message`]), and then [`RoundOver`]. It sets no timers of its own, and
/// sends no message when the last round is over.
pub trait RoundBased:
    Corruptible<Input = Input, Output = Output, Message: Ord, Timer = RoundOver>
{
    /// The number of rounds that it takes.
    fn rounds(&self) -> u32;

    /// The largest number of messages that it sends to one process in a round.
    fn at_most(&self) -> usize;

    /// The number of faults that it is made for, for the formulas on its card.
    fn faults(&self) -> usize;

    /// Whether the application at this process makes a proposal.
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }
}

/// An algorithm in rounds that stands in the catalogue.
pub trait Synchronous: RoundBased {
    /// Its card.
    const CARD: Card;

    /// The processes of a group.
    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// Whether the formulas on the card hold for a group of loyal processes with this setup.
    fn has_costs(_setup: &Setup) -> bool {
        true
    }
}

/// A round is over; the rounds are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RoundOver(pub u32);

/// A message with the round in which it was sent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InRound<M> {
    /// The round.
    pub round: u32,
    /// The message.
    pub it: M,
}

impl<M: Wire> Wire for InRound<M> {
    fn kind(&self) -> &'static str {
        self.it.kind()
    }

    fn label(&self) -> String {
        format!("{} (round {})", self.it.label(), self.round)
    }
}

impl<M: fmt::Debug> fmt::Debug for InRound<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} (round {})", self.it, self.round)
    }
}

/// The messages of a round, by sender.
type Heard<M> = BTreeMap<ProcessId, BTreeSet<M>>;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    /// In this round; in round 0 it has not started.
    In(u32),
    /// The last round is over.
    Over,
    /// It started again after a crash: it does not know which round it is.
    Absent,
}

/// One process of an algorithm in rounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Rounds<S: RoundBased> {
    algorithm: S,
    round_ms: u64,
    phase: Phase,
    heard: Heard<S::Message>,
    early: Heard<S::Message>,
}

impl<S: RoundBased> Protocol for Rounds<S> {
    type Input = Input;
    type Output = Output;
    type Message = InRound<S::Message>;
    type Timer = RoundOver;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if cx.incarnation() > 1 {
            self.phase = Phase::Absent;
            return;
        }
        self.begin(1, cx);
        self.run(cx, |algorithm, cx| algorithm.on_start(cx));
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        if let Phase::In(_) = self.phase {
            self.run(cx, |algorithm, cx| algorithm.on_input(input, cx));
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        if !cx.is_member(from) {
            return cx.accuse(from, "is not one of us");
        }
        let InRound { round, it } = message;
        let heard = match self.phase {
            Phase::Absent => return,
            Phase::In(now) if round == now => &mut self.heard,
            Phase::In(now) if round == now.saturating_add(1) && now < self.algorithm.rounds() => {
                &mut self.early
            }
            Phase::In(now) if round > now => {
                return cx.accuse(from, "is in a round that has not come");
            }
            Phase::In(_) | Phase::Over => return cx.accuse(from, "spoke after its round"),
        };
        let said = heard.entry(from).or_default();
        if said.len() < self.algorithm.at_most() || said.contains(&it) {
            said.insert(it);
        } else {
            cx.accuse(from, "said more than there is to say in a round");
        }
    }

    fn on_timer(&mut self, RoundOver(round): RoundOver, cx: &mut Cx<'_, Self>) {
        // Messages that came early belong to the round that begins now.
        let heard = std::mem::replace(&mut self.heard, std::mem::take(&mut self.early));
        if round < self.algorithm.rounds() {
            self.begin(round + 1, cx);
        } else {
            self.phase = Phase::Over;
        }
        self.run(cx, |algorithm, cx| {
            for (from, said) in heard {
                said.into_iter().for_each(|message| algorithm.on_message(from, message, cx));
            }
            algorithm.on_timer(RoundOver(round), cx);
        });
    }
}

impl<S: RoundBased> Rounds<S> {
    fn begin(&mut self, round: u32, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::In(round);
        cx.set_timer(RoundOver(round), self.round_ms);
    }

    /// Runs a step of the algorithm; its messages belong to the present round.
    fn run(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut S, &mut Cx<'_, S>)) {
        let round = match self.phase {
            Phase::In(round) => round,
            Phase::Over | Phase::Absent => self.algorithm.rounds() + 1,
        };
        let algorithm = &mut self.algorithm;
        cx.through(None, in_round(round), identity, identity, |cx| step(algorithm, cx));
    }

    /// The algorithm inside.
    pub fn algorithm(&self) -> &S {
        &self.algorithm
    }
}

impl<S: RoundBased> Corruptible for Rounds<S> {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        let it = self.algorithm.lie(&message.it, value)?;
        Some(InRound { round: message.round, it })
    }
}

/// Says of which round a message is.
fn in_round<M>(round: u32) -> impl Fn(M) -> InRound<M> {
    move |it| InRound { round, it }
}

impl<S: Synchronous> Sworn for Rounds<S> {
    type Family = Consensus;

    const CARD: Card = S::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        // A message that comes at the last possible moment is still in time.
        let round_ms = detector::delay_ms(setup)? + 1;
        proposals(setup)?;
        commander(setup)?;
        let in_rounds = |algorithm| Rounds {
            algorithm,
            round_ms,
            phase: Phase::In(0),
            heard: Heard::new(),
            early: Heard::new(),
        };
        Ok(S::group(setup)?.into_iter().map(in_rounds).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.algorithm.takes_part(me)
    }

    fn size(processes: &[Byzantine<Self>]) -> Size {
        let faults = processes.first().map_or(0, |first| first.process().algorithm.faults());
        Size { n: processes.len(), k: faults }
    }

    fn begins_round(_timer: &RoundOver) -> bool {
        true
    }

    fn has_costs(setup: &Setup) -> bool {
        setup.text(TRAITORS.name).is_none() && S::has_costs(setup)
    }
}
