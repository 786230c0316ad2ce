//! Election in a ring (Chang and Roberts, 1979).
//!
//! Identifiers travel round a ring. A process lets greater ones pass, puts its own in the place of
//! a smaller one if it has not taken part yet, and otherwise discards the smaller one. So only the
//! greatest comes home. Its owner is elected, and sends the result round the ring.
//!
//! - Assumes: all identifiers differ; links are reliable and keep the order of messages; no process
//!   crashes. (A process that has crashed before is simply not in the ring.)
//! - Guarantees: E1, E2, E3, E1-self, E1-agree and E1-always. Without ordered links not E2: a new
//!   election may overtake the result of the last one, and a process that still takes part in the
//!   last one discards it.
//! - Cost: 2N + d messages, one after the other, if one process starts, and the greatest is d hops
//!   further: 3N − 1 at most. If all start, N for the news, and for each process the way to the
//!   next greater one: 2N − 1 in ascending order, N(N + 1)/2 in descending order, N·H(N) on
//!   average.
//! - State: one word. A process knows only its neighbours.
//!
//! The identifier may be any quality that a process fixes before it takes part: its load, or the
//! version of its copy, and its number behind that, because two may be equally good.
//!
//! The elected process stops its `Elected` message when it comes home. Otherwise the message would
//! travel for ever, as [`chang-roberts-endless`](super::mutants::chang_roberts) shows.
//!
//! Source: E. Chang, R. Roberts: An improved algorithm for decentralized extrema-finding in
//! circular configurations of processes. CACM 22(5), 1979.

use super::cost;
use super::ring::{Neighbours, ORDERED, RING, neighbours};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use synod_core::card::{Bounds, Card, Counterexample, Order, Parameter, Scope, Source};
use synod_core::family::election::{
    E1, E1_AGREE, E1_ALWAYS, E1_SELF, E2, E3, Election, IDS, Input, LOADS, Output, QUALITY,
    STARTERS, TIES, VERSIONS, ids, starters,
};
use synod_core::{
    Algorithm, Cx, Invariant, Never, ProcessId, Protocol, Rule, Setup, SetupError, Snapshot, Wire,
};

/// The messages that travel round the ring.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// This is the greatest identifier so far.
    Election(u64),
    /// The process with this identifier is elected.
    Elected(u64),
}

impl Wire for Message {}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// It takes part in an election, and does not know the result.
    Participant,
    /// It takes part in no election.
    NonParticipant {
        /// The result of the last election, if there was one.
        elected: Option<u64>,
    },
}

/// One process of the algorithm. With `DISCARD`, `STOP` and `FIXED` it is right; without, it is one
/// of the [mutants](super::mutants::chang_roberts).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RingProcess<const DISCARD: bool, const STOP: bool, const FIXED: bool = true> {
    id: u64,
    neighbours: Neighbours,
    role: Role,
    is_starter: bool,
}

/// One process of the right version.
pub type ChangRoberts = RingProcess<true, true>;

impl<const DISCARD: bool, const STOP: bool, const FIXED: bool> Protocol
    for RingProcess<DISCARD, STOP, FIXED>
{
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, Input::Start: Input, cx: &mut Cx<'_, Self>) {
        // A process that takes part already will learn the result of the election that is under
        // way.
        if self.role != Role::Participant {
            self.take_part(cx);
            self.propose(self.id, cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if from != self.neighbours.previous {
            return cx.accuse(from, "sent against the direction of the ring");
        }
        match message {
            Message::Election(id) => self.on_election(id, cx),
            Message::Elected(id) => self.on_elected(id, cx),
        }
    }
}

impl<const DISCARD: bool, const STOP: bool, const FIXED: bool> RingProcess<DISCARD, STOP, FIXED> {
    fn on_election(&mut self, id: u64, cx: &mut Cx<'_, Self>) {
        let takes_part = self.role == Role::Participant;
        if !FIXED {
            // Work makes it busier, so that its quality falls by one.
            self.id = self.id.saturating_sub(QUALITY);
        }
        match id.cmp(&self.id) {
            Ordering::Equal => self.win(cx),
            Ordering::Less if !takes_part => {
                self.take_part(cx);
                self.propose(self.id, cx);
            }
            // Our own identifier is on its way already, and beats this one everywhere.
            Ordering::Less if DISCARD => {}
            Ordering::Less | Ordering::Greater => {
                if !takes_part {
                    self.take_part(cx);
                }
                self.propose(id, cx);
            }
        }
    }

    fn on_elected(&mut self, id: u64, cx: &mut Cx<'_, Self>) {
        if id != self.id {
            self.conclude(id, cx);
        }
        if id != self.id || !STOP {
            cx.send(self.neighbours.next, Message::Elected(id));
        }
    }

    fn take_part(&mut self, cx: &mut Cx<'_, Self>) {
        self.role = Role::Participant;
        cx.output(Output::Undecided);
    }

    fn propose(&mut self, id: u64, cx: &mut Cx<'_, Self>) {
        // Alone in the ring, its identifier is home already.
        if self.neighbours.next == cx.me() {
            self.conclude(id, cx);
        } else {
            cx.send(self.neighbours.next, Message::Election(id));
        }
    }

    /// Our identifier has passed every process, so it is the greatest.
    fn win(&mut self, cx: &mut Cx<'_, Self>) {
        self.conclude(self.id, cx);
        cx.send(self.neighbours.next, Message::Elected(self.id));
    }

    fn conclude(&mut self, id: u64, cx: &mut Cx<'_, Self>) {
        self.role = Role::NonParticipant { elected: Some(id) };
        cx.output(Output::Elected(id));
    }

    /// Builds the processes of the ring; the same for the mutants.
    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let (ids, starters) = (ids(setup)?, starters(setup)?);
        let around = neighbours(setup)?.into_iter().zip(ids).zip(ProcessId::all(setup.n));
        let process = |((neighbours, id), me)| RingProcess {
            id,
            neighbours,
            role: Role::NonParticipant { elected: None },
            is_starter: starters.contains(me),
        };
        Ok(around.map(process).collect())
    }

    pub(super) fn is_starter(&self) -> bool {
        self.is_starter
    }
}

/// The card's source, for the mutants too.
pub(super) const SOURCE: Source = Source {
    author: "E. Chang, R. Roberts",
    year: 1979,
    work: "An improved algorithm for decentralized extrema-finding in circular configurations of \
           processes, CACM 22(5)",
};

/// The parameters of the right version and of the mutants.
pub(super) const PARAMETERS: &[Parameter] = &[IDS, LOADS, VERSIONS, TIES, RING, STARTERS];

impl Algorithm for ChangRoberts {
    type Family = Election;

    const CARD: Card = Card {
        name: "chang-roberts",
        aliases: &["ring-election", "cr"],
        title: "Chang and Roberts's election in a ring",
        source: SOURCE,
        idea: "Identifiers go round a ring, smaller ones are discarded; the owner of the one that \
               comes home is elected.",
        rules: &[
            Rule::on_input("Start", "start: take part, send our identifier to the next"),
            Rule::on_message("Election", "on a greater identifier: take part, pass it on"),
            Rule::on_message(
                "Election",
                "on a smaller one: discard it if we take part; else take part and send ours \
                 instead",
            ),
            Rule::on_message("Election", "on our own: we are elected; tell the next"),
            Rule::on_message(
                "Elected",
                "on the news that another is elected: note it, and pass it on",
            ),
            Rule::on_message(
                "Elected",
                "on the news that we are elected: every process has heard it; stop it",
            ),
        ],
        assumes: &[
            "all identifiers differ",
            "reliable links that keep the order of messages",
            "no process of the ring crashes",
        ],
        tolerates: ORDERED,
        promises: &[E1, E2, E3, E1_SELF, E1_AGREE, E1_ALWAYS],
        usual: Some(2),
        counterexamples: COUNTEREXAMPLES,
        costs: &[
            cost::one_starts("2N + d, 0 <= d < N", |size| match size.n {
                1 => Bounds::exactly(0),
                n => Bounds::between(2 * n, 3 * n - 1),
            }),
            cost::all_start("3N - 1 to N(N + 1)/2 + N", |size| match size.n {
                1 => Bounds::exactly(0),
                n => Bounds::between(3 * n - 1, n * (n + 1) / 2 + n),
            }),
            cost::result_hops("2N, N for the greatest", |size| match size.n {
                1 => Bounds::exactly(0),
                n => Bounds::between(n, 2 * n),
            }),
        ],
        parameters: PARAMETERS,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.is_starter()
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "one-announcement",
            statement: "at most one elected message is on its way",
            holds: there_is_one_announcement,
        }]
    }
}

fn there_is_one_announcement(snapshot: &Snapshot<'_, ChangRoberts>) -> bool {
    let messages = snapshot.in_flight().into_iter();
    messages.filter(|(_, _, message)| matches!(message, Message::Elected(_))).count() <= 1
}

const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample {
        property: E2,
        scope: Scope { order: Order::Fifo, crashes: 1, ..Scope::of(2) },
        steps: 2,
        story: "p0 starts, and p1 crashes when the identifier arrives: no identifier ever comes \
                home",
    },
    Counterexample {
        property: E2,
        scope: Scope::of(3),
        steps: 10,
        story: "p2 is elected and p0 knows it; the new election that p0 starts overtakes the news \
                on the link to p1, which still takes part in the old one and discards it",
    },
    Counterexample {
        property: E1_SELF,
        scope: Scope { order: Order::Fifo, set: &[("ids", "5 5")], ..Scope::of(2) },
        steps: 4,
        story: "p0 and p1 have the same identifier; each takes the other's for its own, come home",
    },
    Counterexample {
        property: E1_SELF,
        scope: Scope {
            order: Order::Fifo,
            set: &[("loads", "40 40"), ("ties", "none")],
            ..Scope::of(2)
        },
        steps: 4,
        story: "p0 and p1 are equally loaded, and no number decides between them: both are elected",
    },
];
