//! Ricart and Agrawala's algorithm as courses derive it: with ticket numbers.
//!
//! To enter, a process takes a number larger than any that it has *received* and sends it to all
//! others; it goes in when all have replied. A process that is requesting itself replies only to
//! smaller numbers, ties broken by name, and to the others when it has left. It works only if
//! saying "I am requesting" and taking the number are one step: [`Version`] is where the course's
//! earlier attempts differ from this one.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, ME2. Not ME3: neither replies nor other messages carry a number, and a
//!   process forgets its own.
//! - Cost: 2(N − 1) messages per entry; one hop from exit to entry.
//! - State: two numbers, which grow while there is contention, and two sets of at most N − 1
//!   names. Outstanding numbers differ by at most N − 1, so [`bounded`] numbers will do.
//!
//! Sources: G. Ricart, A. Agrawala: An optimal algorithm for mutual exclusion in computer networks.
//! CACM 24(1), 1981. M. Ben-Ari: Principles of Concurrent and Distributed Programming, 2nd ed.
//! 2006, chapter 10.

pub mod bounded;

use super::cost;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::marker::PhantomData;
use synod_core::card::{Bounds, Card, Counterexample, OtherCosts, Parameter, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Data, Invariant, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError,
    Snapshot, Timestamp, Wire,
};

/// The version that is right.
pub type RicartAgrawalaTickets = Tickets<Right>;

/// The places where the versions of the course differ. The provided items are those of the right
/// version.
pub trait Version: Data {
    /// The card of the version.
    const CARD: Card;

    /// The order of "I am requesting" and "my number is".
    const HALVES: Halves = Halves::Together;

    /// The invariants that the explorer checks in every state.
    const INVARIANTS: &'static [Invariant<Tickets<Self>>] = &[];

    /// Whether the numbers that a process takes itself count as received.
    const COUNTS_OWN: bool = false;

    /// The number of a new request.
    fn number(highest: u64, _cx: &mut Cx<'_, Tickets<Self>>) -> u64 {
        highest.saturating_add(1)
    }

    /// How a number compares with another, in a group of `n`.
    fn compare(number: u64, other: u64, _n: usize) -> Ordering {
        number.cmp(&other)
    }

    /// Whether the other request goes first, if both processes are requesting.
    fn precedes(theirs: Timestamp, ours: Timestamp, n: usize) -> bool {
        let by_number = Self::compare(theirs.time, ours.time, n);
        by_number.then(theirs.process.cmp(&ours.process)).is_lt()
    }

    /// Whether a process in this state compares a request with its own number at all; otherwise
    /// it replies at once.
    fn is_requesting(state: &State) -> bool {
        *state != State::Released
    }
}

/// Whether a process says that it is requesting and takes its number in one step or in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// In one step.
    Together,
    /// In two steps, the flag first; messages may arrive in between.
    FlagFirst,
    /// In two steps, the number first.
    NumberFirst,
}

/// The version that is right.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Right;

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// May I enter?
    Request {
        /// The ticket.
        number: u64,
    },
    /// You may, as far as I am concerned.
    Reply,
}

impl Wire for Message {}

/// The pause between the two halves, in a version that has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The second half is due. The explorer delays it as long as it likes.
    SecondHalf,
}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It is between the two halves.
    Preparing,
    /// It asked, and waits for replies.
    Wanted {
        /// The processes that have not replied yet.
        missing: ProcessSet,
    },
    /// It is inside.
    Held,
}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tickets<V> {
    my_number: u64,
    /// The largest number received. The numbers that this process took itself do not count.
    highest: u64,
    state: State,
    /// The processes that get our reply when we leave.
    deferred: ProcessSet,
    version: PhantomData<V>,
}

impl<V: Version> Protocol for Tickets<V> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request { number } => self.on_request(from, number, cx),
            Message::Reply => self.on_reply(from, cx),
        }
    }

    fn on_timer(&mut self, Timer::SecondHalf: Timer, cx: &mut Cx<'_, Self>) {
        if V::HALVES == Halves::FlagFirst {
            self.my_number = V::number(self.highest, cx);
        }
        self.ask(cx);
    }
}

impl<V: Version> Tickets<V> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Released, "enter while already wanting or holding");
        if V::HALVES != Halves::FlagFirst {
            self.my_number = V::number(self.highest, cx);
        }
        if V::HALVES == Halves::Together {
            self.ask(cx);
        } else {
            self.state = State::Preparing;
            // Between the halves messages may arrive, so the second half is an event of its own.
            cx.set_timer(Timer::SecondHalf, 0);
        }
    }

    fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        if V::COUNTS_OWN {
            self.highest = self.my_number;
        }
        self.state = State::Wanted { missing: ProcessSet::all_but(cx.group_size(), cx.me()) };
        cx.multicast(Message::Request { number: self.my_number });
        self.enter_if_permitted(cx);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Held, "exit without holding");
        self.state = State::Released;
        for waiting in std::mem::take(&mut self.deferred).iter() {
            cx.send(waiting, Message::Reply);
        }
    }

    fn on_request(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        let n = cx.group_size();
        if V::compare(number, self.highest, n).is_gt() {
            self.highest = number;
        }
        let (theirs, ours) = (Timestamp::new(number, from), self.ticket(cx.me()));
        if !V::is_requesting(&self.state) || V::precedes(theirs, ours, n) {
            cx.send(from, Message::Reply);
        } else {
            self.deferred.insert(from);
        }
    }

    fn on_reply(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        match &mut self.state {
            State::Wanted { missing } if missing.contains(from) => {
                missing.remove(from);
                self.enter_if_permitted(cx);
            }
            _ => cx.accuse(from, "gave a permission that nobody had asked for"),
        }
    }

    fn enter_if_permitted(&mut self, cx: &mut Cx<'_, Self>) {
        if matches!(&self.state, State::Wanted { missing } if missing.is_empty()) {
            self.state = State::Held;
            cx.output(Output::Entered);
        }
    }

    fn ticket(&self, me: ProcessId) -> Timestamp {
        Timestamp::new(self.my_number, me)
    }

    /// The processes that this one keeps waiting.
    pub fn deferred(&self) -> &ProcessSet {
        &self.deferred
    }
}

impl<V: Version> Algorithm for Tickets<V> {
    type Family = Mutex;

    const CARD: Card = V::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let highest = setup.number_each("highest")?.unwrap_or_else(|| vec![0; setup.n]);
        let process = |highest| Tickets {
            my_number: 0,
            highest,
            state: State::Released,
            deferred: ProcessSet::EMPTY,
            version: PhantomData,
        };
        Ok(highest.into_iter().map(process).collect())
    }

    fn invariants() -> &'static [Invariant<Self>] {
        V::INVARIANTS
    }
}

impl Version for Right {
    const CARD: Card = Card {
        name: "ricart-agrawala-tickets",
        aliases: &["ra-tickets", "ra-r3"],
        title: "Ricart and Agrawala's mutual exclusion with tickets",
        rules: &[
            Rule::on_input(
                "Enter",
                "enter: take a number larger than all received, send it to all others, wait for \
                 all replies",
            ),
            Rule::on_message(
                "Request",
                "on a request: if requesting with a smaller number, reply later; else now",
            ),
            Rule::on_message("Reply", "on a reply: if it was the last one missing, we are inside"),
            Rule::on_input("Exit", "exit: reply to every process that was put off"),
        ],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(2) },
            steps: 6,
            story: "p1 asks with number 1 and tells p0, which has received no number yet and asks \
                    with 1 too; p0 wins the tie",
        }],
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
        ..TICKETS
    };

    const INVARIANTS: &'static [Invariant<Tickets<Right>>] = &[
        Invariant {
            name: "tickets-close",
            statement: "the numbers of outstanding requests differ by at most N - 1",
            holds: outstanding_tickets_are_close,
        },
        Invariant {
            name: "somebody-defers-nobody",
            statement: "the process with the latest outstanding ticket puts no other off",
            holds: the_latest_ticket_defers_nobody,
        },
        Invariant {
            name: "a-pair-defers-once",
            statement: "all processes together put off at most N(N - 1)/2 requests",
            holds: each_pair_defers_at_most_once,
        },
    ];
}

fn outstanding<'a>(
    snapshot: &'a Snapshot<'_, RicartAgrawalaTickets>,
) -> impl Iterator<Item = (Timestamp, &'a RicartAgrawalaTickets)> {
    let all = ProcessId::all(snapshot.size()).zip(snapshot.processes());
    all.filter(|(_, process)| Right::is_requesting(&process.state))
        .map(|(name, process)| (process.ticket(name), process))
}

fn outstanding_tickets_are_close(snapshot: &Snapshot<'_, RicartAgrawalaTickets>) -> bool {
    let numbers = || outstanding(snapshot).map(|(ticket, _)| ticket.time);
    let (smallest, largest) = (numbers().min(), numbers().max());
    let difference = largest.unwrap_or(0) - smallest.unwrap_or(0);
    difference < snapshot.size() as u64
}

fn the_latest_ticket_defers_nobody(snapshot: &Snapshot<'_, RicartAgrawalaTickets>) -> bool {
    let latest = outstanding(snapshot).max_by_key(|(ticket, _)| *ticket);
    latest.is_none_or(|(_, process)| process.deferred.is_empty())
}

fn each_pair_defers_at_most_once(snapshot: &Snapshot<'_, RicartAgrawalaTickets>) -> bool {
    let n = snapshot.size();
    let total: usize = snapshot.processes().map(|process| process.deferred.len()).sum();
    total <= n * (n - 1) / 2
}

/// The part of the card that all versions share.
pub(super) const TICKETS: Card = Card {
    source: Source {
        author: "G. Ricart, A. Agrawala; M. Ben-Ari",
        year: 2006,
        work: "Principles of Concurrent and Distributed Programming, 2nd ed., chapter 10",
    },
    idea: "Take a number and ask all others; a process that is requesting with a smaller one \
           replies later.",
    assumes: &["reliable links, in any order", "no process crashes"],
    parameters: &[Parameter {
        name: "highest",
        meaning: "the largest number that each process has received before the start, \
                  e.g. 9 19 14 (default: all 0)",
    }],
    ..Card::BLANK
};
