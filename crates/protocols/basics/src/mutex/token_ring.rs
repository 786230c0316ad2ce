//! Mutual exclusion by a token that goes round a ring.
//!
//! Only the process that has the token may enter. A process that does not want to enter passes the
//! token on at once; a process that wants to keeps it until it leaves. So every process has its
//! turn, in the order of the ring, which is not the order of the requests.
//!
//! - Assumes: reliable links; no process crashes (a crash breaks the ring, and may take the token
//!   along).
//! - Guarantees: ME1, because there is one token; ME2. Not ME3.
//! - Cost: the token travels for ever while no process is inside. From request to entry 0 to N
//!   hops, from exit to the entry of another 1 to N − 1.
//! - State: one word.
//!
//! Source: G. Le Lann: Distributed systems, towards a formal approach. IFIP Congress, 1977.

use super::cost;
use serde::{Deserialize, Serialize};
use synod_core::card::{Bounds, Card, Counterexample, Parameter, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Invariant, Never, ProcessId, Protocol, Rule, Setup, SetupError, Snapshot, Wire,
};

/// The only message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The permission to enter.
    Token,
}

impl Wire for Message {}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter, and the token is elsewhere.
    Released,
    /// It waits for the token.
    Wanted,
    /// It is inside, and keeps the token.
    Held,
    /// It has the token without wanting it: before the start, or alone in its ring.
    Resting,
}

/// One process of the algorithm. With `PASSES_ON` it is right; without, a process that leaves keeps
/// the token: the mutant [`token-ring-keeper`](super::mutants::token_ring).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RingProcess<const PASSES_ON: bool> {
    /// The process that comes after this one in the ring.
    next: ProcessId,
    state: State,
}

/// One process of the right version.
pub type TokenRing = RingProcess<true>;

impl<const PASSES_ON: bool> Protocol for RingProcess<PASSES_ON> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if self.state == State::Resting {
            self.pass_on(cx);
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, Message::Token: Message, cx: &mut Cx<'_, Self>) {
        match self.state {
            State::Released => self.pass_on(cx),
            State::Wanted => self.hold(cx),
            State::Held | State::Resting => cx.accuse(from, "sent a second token"),
        }
    }
}

impl<const PASSES_ON: bool> RingProcess<PASSES_ON> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        match self.state {
            State::Released => self.state = State::Wanted,
            State::Resting => self.hold(cx),
            State::Wanted | State::Held => panic!("enter while already wanting or holding"),
        }
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Held, "exit without holding");
        match PASSES_ON {
            true => self.pass_on(cx),
            false => self.state = State::Resting,
        }
    }

    fn hold(&mut self, cx: &mut Cx<'_, Self>) {
        self.state = State::Held;
        cx.output(Output::Entered);
    }

    fn pass_on(&mut self, cx: &mut Cx<'_, Self>) {
        // Alone in its ring, the process would send the token to itself for ever.
        if self.next == cx.me() {
            self.state = State::Resting;
        } else {
            self.state = State::Released;
            cx.send(self.next, Message::Token);
        }
    }

    fn has_token(&self) -> bool {
        matches!(self.state, State::Held | State::Resting)
    }

    /// A group in the ring that the setup names.
    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let ring = setup.ring("ring")?;
        let mut processes = vec![RingProcess { next: ring[0], state: State::Released }; setup.n];
        for (process, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            processes[process.index()].next = *next;
        }
        processes[ring[0].index()].state = State::Resting;
        Ok(processes)
    }

    /// There is exactly one token.
    pub(super) const ONE_TOKEN: Invariant<Self> = Invariant {
        name: "one-token",
        statement: "there is exactly one token, at a process or on its way",
        holds: there_is_one_token,
    };
}

impl Algorithm for TokenRing {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "token-ring",
        aliases: &["ring-mutex"],
        title: "mutual exclusion by a token in a ring",
        source: Source {
            author: "G. Le Lann",
            year: 1977,
            work: "Distributed systems: towards a formal approach, IFIP Congress",
        },
        idea: "A token goes round; the process that has it may enter, and passes it on \
               afterwards.",
        rules: &[
            Rule::on_start("start: the first process has the token, and passes it on"),
            Rule::on_input("Enter", "enter: wait for the token"),
            Rule::on_message(
                "Token",
                "on the token: if we wait for it, we are inside; else pass it on",
            ),
            Rule::on_input("Exit", "exit: pass the token on"),
        ],
        assumes: &["reliable links", "no process crashes"],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(2) },
            steps: 5,
            story: "the token is on its way from p0 to p1; p0 asks and tells p1, p1 asks because \
                    of it, and the token reaches p1 first",
        }],
        costs: &[
            cost::entry_messages("0 to N", |size| Bounds::between(0, size.n)),
            cost::entry_hops("0 to N", |size| Bounds::between(0, size.n)),
            cost::relay_hops("1 to N - 1", |size| Bounds::between(1, size.n.max(2) - 1)),
        ],
        parameters: &[Parameter {
            name: "ring",
            meaning: "the processes in the order of the ring, the token starts at the first, \
                      e.g. p0 p2 p1 (default: by name)",
        }],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Self::ONE_TOKEN]
    }
}

fn there_is_one_token<const PASSES_ON: bool>(
    snapshot: &Snapshot<'_, RingProcess<PASSES_ON>>,
) -> bool {
    let at_processes = snapshot.processes().filter(|p| p.has_token()).count();
    at_processes + snapshot.in_flight().len() == 1
}
