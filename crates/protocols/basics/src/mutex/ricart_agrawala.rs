//! Mutual exclusion by permission (Ricart and Agrawala, 1981).
//!
//! To enter, a process asks every other for permission and waits for all of them. A process that
//! is inside, or that asked earlier, answers only when it has left. "Earlier" is the total order
//! of Lamport timestamps, so of any two that want to enter exactly one waits for the other.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, ME2, ME3. For ME3 *every* message carries the clock, replies and the
//!   application's own included; otherwise a later request can bear a smaller timestamp.
//! - Cost: 2(N − 1) messages per entry, N on a multicast network; one hop from exit to entry.
//! - State: one timestamp and two sets of at most N − 1 names.
//!
//! Source: G. Ricart, A. Agrawala: An optimal algorithm for mutual exclusion in computer networks.
//! CACM 24(1), 1981.

pub mod crash;

use super::cost;
use serde::{Deserialize, Serialize};
use synod_core::card::{Bounds, Card, OtherCosts, Parameter, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Invariant, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError,
    Snapshot, Timestamp, Wire,
};

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// May I enter? I asked at this time.
    Request(Timestamp),
    /// You may, as far as I am concerned.
    Reply {
        /// The sender's logical clock.
        clock: u64,
    },
}

impl Wire for Message {}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It asked, and waits for the permissions that are missing.
    Wanted {
        /// When it asked.
        since: Timestamp,
        /// The processes that have not answered yet.
        missing: ProcessSet,
    },
    /// It is inside.
    Held,
}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RicartAgrawala {
    pub(super) clock: u64,
    state: State,
    /// The processes that get our permission when we leave.
    deferred: ProcessSet,
}

impl Protocol for RicartAgrawala {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request(theirs) => self.on_request(from, theirs, cx),
            Message::Reply { clock } => self.on_reply(from, clock, cx),
        }
    }
}

impl RicartAgrawala {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Released, "enter while already wanting or holding");
        let since = Timestamp::new(self.stamp(), cx.me());
        let missing = ProcessSet::all_but(cx.group_size(), cx.me());
        self.state = State::Wanted { since, missing };
        cx.multicast(Message::Request(since));
        self.enter_if_permitted(cx);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Held, "exit without holding");
        self.state = State::Released;
        for waiting in std::mem::take(&mut self.deferred).iter() {
            self.reply(waiting, cx);
        }
    }

    fn on_request(&mut self, from: ProcessId, theirs: Timestamp, cx: &mut Cx<'_, Self>) {
        self.witness(theirs.time);
        let we_go_first = match &self.state {
            State::Held => true,
            State::Wanted { since, .. } => *since < theirs,
            State::Released => false,
        };
        if we_go_first {
            self.deferred.insert(from);
        } else {
            self.reply(from, cx);
        }
    }

    fn on_reply(&mut self, from: ProcessId, clock: u64, cx: &mut Cx<'_, Self>) {
        self.witness(clock);
        let expected = match &mut self.state {
            State::Wanted { missing, .. } => missing.remove(from),
            State::Released | State::Held => false,
        };
        if expected {
            self.enter_if_permitted(cx);
        } else {
            cx.accuse(from, "gave a permission that nobody had asked for");
        }
    }

    fn enter_if_permitted(&mut self, cx: &mut Cx<'_, Self>) {
        if matches!(&self.state, State::Wanted { missing, .. } if missing.is_empty()) {
            self.state = State::Held;
            cx.output(Output::Entered);
        }
    }

    fn reply(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        // ME3 needs the clock on replies, too: the mutant `ra-bare-replies` leaves it out.
        let clock = self.stamp();
        cx.send(to, Message::Reply { clock });
    }

    fn request(&self) -> Option<Timestamp> {
        match &self.state {
            State::Wanted { since, .. } => Some(*since),
            State::Released | State::Held => None,
        }
    }
}

impl Algorithm for RicartAgrawala {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "ricart-agrawala",
        aliases: &["ra", "permission"],
        title: "Ricart and Agrawala's mutual exclusion by permission",
        source: Source {
            author: "G. Ricart, A. Agrawala",
            year: 1981,
            work: "An optimal algorithm for mutual exclusion in computer networks, CACM 24(1)",
        },
        idea: "Ask every other process for permission; one that is inside, or that asked earlier, \
               answers later.",
        rules: &[
            Rule::on_input(
                "Enter",
                "enter: advance the clock, send a request with its time to all others, wait for \
                 all answers",
            ),
            Rule::on_message(
                "Request",
                "on a request: if inside, or if our own request is earlier, answer later; else now",
            ),
            Rule::on_message("Reply", "on a reply: if it was the last one missing, we are inside"),
            Rule::on_input("Exit", "exit: answer every process that was put off"),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME1, ME2, ME3],
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
        parameters: &[Parameter {
            name: "clocks",
            meaning: "the logical clock of each process at the start, e.g. 0 4 6 (default: all 0)",
        }],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let clocks = setup.number_each("clocks")?.unwrap_or_else(|| vec![0; setup.n]);
        let process =
            |clock| RicartAgrawala { clock, state: State::Released, deferred: ProcessSet::EMPTY };
        Ok(clocks.into_iter().map(process).collect())
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "somebody-defers-nobody",
            statement: "the process with the latest outstanding request puts no other off",
            holds: the_latest_request_defers_nobody,
        }]
    }

    // A liar can claim the last time there is: the clock then stands still there.
    fn stamp(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    fn witness(&mut self, stamp: u64) {
        self.clock = self.clock.max(stamp).saturating_add(1);
    }
}

fn the_latest_request_defers_nobody(snapshot: &Snapshot<'_, RicartAgrawala>) -> bool {
    let requests = snapshot.processes().filter_map(|p| Some((p.request()?, &p.deferred)));
    requests.max_by_key(|(request, _)| *request).is_none_or(|(_, deferred)| deferred.is_empty())
}
