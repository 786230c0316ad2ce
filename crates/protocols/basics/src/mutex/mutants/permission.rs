//! Three ways to spoil [Ricart and Agrawala's algorithm](crate::mutex::ricart_agrawala). Each is
//! the right algorithm with one change of its messages or its clock: see [`Change`].

use crate::mutex::ricart_agrawala::{Message, RicartAgrawala};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope};
use synod_core::family::mutex::{Input, ME1, ME3, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Data, Never, ProcessId, Protocol, Setup, SetupError, Timestamp, Wire,
};

/// Timestamps are compared without the name of their process.
pub type NoTieBreak = Spoilt<TimesOnly>;
/// Replies do not carry the clock.
pub type BareReplies = Spoilt<ClockOnRequestsOnly>;
/// A fixed priority instead of timestamps.
pub type Priority = Spoilt<PriorityInsteadOfTime>;

/// The change that makes a mutant. The provided methods change nothing.
pub trait Change: Data {
    /// The card of the mutant.
    const CARD: Card;
    /// The message as the mutant sends it.
    type Message: Wire + From<Message> + Into<Message>;

    /// The message as the receiver understands it.
    fn understand(message: Self::Message) -> Message {
        message.into()
    }

    /// The clock of `me` at the start or after a step.
    fn clock(_me: ProcessId, step: Step) -> u64 {
        step.after
    }
}

/// The effect of a step on the clock of its process.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    before: u64,
    after: u64,
    /// The time of the request that was made or received, if it was such a step.
    request: Option<u64>,
}

/// The right algorithm, with a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spoilt<C> {
    inner: RicartAgrawala,
    change: PhantomData<C>,
}

impl<C: Change> Protocol for Spoilt<C> {
    type Input = Input;
    type Output = Output;
    type Message = C::Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let request = (input == Input::Enter).then_some(self.inner.clock);
        self.inner_step(request, cx, |inner, cx| inner.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: C::Message, cx: &mut Cx<'_, Self>) {
        let message = C::understand(message);
        let request = match &message {
            Message::Request(theirs) => Some(theirs.time),
            Message::Reply { .. } => None,
        };
        self.inner_step(request, cx, |inner, cx| inner.on_message(from, message, cx));
    }
}

impl<C: Change> Spoilt<C> {
    fn inner_step(
        &mut self,
        request: Option<u64>,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut RicartAgrawala, &mut Cx<'_, RicartAgrawala>),
    ) {
        let before = self.inner.clock;
        let outputs = cx.below(|cx| step(&mut self.inner, cx));
        let after = self.inner.clock;
        self.inner.clock = C::clock(cx.me(), Step { before, after, request });
        for output in outputs {
            cx.output(output);
        }
    }
}

impl<C: Change> Algorithm for Spoilt<C> {
    type Family = Mutex;

    const CARD: Card = C::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let mut processes = RicartAgrawala::assemble(setup)?;
        for (me, inner) in ProcessId::all(setup.n).zip(&mut processes) {
            let (before, after) = (inner.clock, inner.clock);
            inner.clock = C::clock(me, Step { before, after, request: None });
        }
        Ok(processes.into_iter().map(|inner| Spoilt { inner, change: PhantomData }).collect())
    }

    fn stamp(&mut self) -> u64 {
        self.inner.stamp()
    }

    fn witness(&mut self, stamp: u64) {
        self.inner.witness(stamp);
    }
}

/// Messages whose replies carry no clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bare<R> {
    /// May I enter? I rank like this.
    Request(R),
    /// You may.
    Reply,
}

impl<R: Data> Wire for Bare<R> {}

impl<R: From<Timestamp>> From<Message> for Bare<R> {
    fn from(message: Message) -> Self {
        match message {
            Message::Request(since) => Bare::Request(since.into()),
            Message::Reply { .. } => Bare::Reply,
        }
    }
}

impl<R: Into<Timestamp>> From<Bare<R>> for Message {
    fn from(message: Bare<R>) -> Self {
        match message {
            Bare::Request(rank) => Message::Request(rank.into()),
            Bare::Reply => Message::Reply { clock: 0 },
        }
    }
}

/// The change of [`NoTieBreak`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TimesOnly;

impl Change for TimesOnly {
    const CARD: Card = Card {
        name: "ra-no-tie-break",
        aliases: &[],
        title: "Ricart and Agrawala's algorithm without a tie-break",
        counterexamples: &[Counterexample {
            property: ME1,
            scope: Scope::of(2),
            steps: 6,
            story: "both ask at time 1; neither is earlier than the other, so both reply",
        }],
        parameters: RicartAgrawala::CARD.parameters,
        mutant: Some(Mutant {
            of: "ricart-agrawala",
            change: "timestamps are compared without the name of their process: a reply is put \
                     off only if one's own time is smaller",
            breaks: ME1,
        }),
        ..SPOILT
    };

    type Message = Message;

    /// With the smallest of all names in the request, the receiver loses every tie.
    fn understand(message: Message) -> Message {
        match message {
            Message::Request(theirs) => Message::Request(Timestamp::new(theirs.time, ProcessId(0))),
            reply @ Message::Reply { .. } => reply,
        }
    }
}

/// The change of [`BareReplies`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClockOnRequestsOnly;

impl Change for ClockOnRequestsOnly {
    const CARD: Card = Card {
        name: "ra-bare-replies",
        aliases: &[],
        title: "Ricart and Agrawala's algorithm with a clock on requests only",
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { rounds: Rounds::Times(3), ..Scope::of(2) },
            steps: 12,
            story: "p1 asks at time 3, and its reply to p0's earlier request overtakes its \
                    own request; p0 enters, leaves, and asks again with time 3 at most, because \
                    the reply did not tell it the time",
        }],
        parameters: RicartAgrawala::CARD.parameters,
        mutant: Some(Mutant {
            of: "ricart-agrawala",
            change: "replies do not carry the clock",
            breaks: ME3,
        }),
        ..SPOILT
    };

    type Message = Bare<Timestamp>;

    /// Only making and receiving a request are events.
    fn clock(_me: ProcessId, step: Step) -> u64 {
        step.request.map_or(step.before, |time| step.before.max(time).saturating_add(1))
    }
}

/// The change of [`Priority`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PriorityInsteadOfTime;

/// The priority of a process: its name, and the larger goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rank(ProcessId);

impl From<Timestamp> for Rank {
    fn from(since: Timestamp) -> Self {
        Rank(since.process)
    }
}

/// The right algorithm takes a rank for the time of a request, which is always the same: the
/// higher the rank, the earlier.
impl From<Rank> for Timestamp {
    fn from(Rank(process): Rank) -> Self {
        Timestamp::new((1 << 32) - u64::from(process.0), process)
    }
}

impl Change for PriorityInsteadOfTime {
    const CARD: Card = Card {
        name: "ra-priority",
        aliases: &[],
        title: "Ricart and Agrawala's algorithm with priorities",
        counterexamples: &[Counterexample {
            property: ME1,
            scope: Scope::of(3),
            steps: 10,
            story: "p0 asks, and p1 and p2 reply; before p0 has the replies p1 asks, and p0 \
                    replies because p1 has the higher priority: both enter",
        }],
        mutant: Some(Mutant {
            of: "ricart-agrawala",
            change: "the process with the higher priority goes first, whenever it asked",
            breaks: ME1,
        }),
        ..SPOILT
    };

    type Message = Bare<Rank>;

    fn clock(me: ProcessId, _step: Step) -> u64 {
        Timestamp::from(Rank(me)).time - 1
    }
}

/// The part of the card that these mutants share.
const SPOILT: Card = Card {
    source: RicartAgrawala::CARD.source,
    idea: RicartAgrawala::CARD.idea,
    assumes: RicartAgrawala::CARD.assumes,
    layers: &["the change", "ricart-agrawala"],
    ..Card::BLANK
};
