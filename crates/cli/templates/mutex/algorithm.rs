//! Mutual exclusion by a key, kept by p0.
//!
//! The keeper lends the key to whoever asks first; the others wait in a queue. A process with the
//! key is inside, and gives the key back when it leaves.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, ME2. Not ME3: a request can overtake another that happened before it.
//! - Cost: 3 messages per entry, whatever N.
//! - State: one word at each process; the queue of the keeper has at most N names.
//!
//! Source: the template of `synod new`. Replace the algorithm and these lines by your own; every
//! claim that you make on the card is then tested.

use super::cost;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Card, Counterexample, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Wire};

/// The process that keeps the key. It makes no requests itself.
pub const KEEPER: ProcessId = ProcessId(0);

/// What travels between the processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To the keeper: may I have the key?
    Ask,
    /// The key itself, to whoever is first, and back.
    Key,
}

impl Wire for Message {}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Outside,
    /// It asked, and waits for the key.
    Waiting,
    /// It has the key.
    Inside,
}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MyAlgorithm {
    state: State,
    /// At the keeper: who has the key, then who waits for it, in order of arrival.
    queue: VecDeque<ProcessId>,
}

impl Protocol for MyAlgorithm {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.ask(cx),
            Input::Exit => self.give_back(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Ask => self.on_ask(from, cx),
            Message::Key if cx.me() == KEEPER => self.on_key_back(from, cx),
            Message::Key => self.on_key(from, cx),
        }
    }
}

impl MyAlgorithm {
    fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Outside, "only who is outside can ask to enter");
        self.state = State::Waiting;
        cx.send(KEEPER, Message::Ask);
    }

    fn give_back(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Inside, "only who is inside can leave");
        self.state = State::Outside;
        cx.send(KEEPER, Message::Key);
    }

    /// Whoever has the key may ask again: its next request can overtake the key on its way back.
    fn on_ask(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        let waits = self.queue.iter().skip(1).any(|waiting| *waiting == from);
        if cx.me() != KEEPER || waits {
            return cx.accuse(from, "asked somebody else than the keeper, or twice");
        }
        self.queue.push_back(from);
        if self.queue.len() == 1 {
            cx.send(from, Message::Key);
        }
    }

    fn on_key_back(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.queue.front() != Some(&from) {
            return cx.accuse(from, "gave back a key that it did not have");
        }
        self.queue.pop_front();
        if let Some(next) = self.queue.front() {
            cx.send(*next, Message::Key);
        }
    }

    fn on_key(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.state != State::Waiting || from != KEEPER {
            return cx.accuse(from, "sent a key that is not its own, or that nobody asked for");
        }
        self.state = State::Inside;
        cx.output(Output::Entered);
    }
}

impl Algorithm for MyAlgorithm {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "my-algorithm",
        title: "mutual exclusion by a key",
        source: Source { author: "folklore", year: 1974, work: "the template of synod new" },
        idea: "One process keeps the key; who wants to enter borrows it.",
        rules: &[
            Rule::on_input("Enter", "enter: ask the keeper, wait for the key"),
            Rule::on_message(
                "Ask",
                "keeper, when asked: queue the process; if it is the first, send it the key",
            ),
            Rule::on_message("Key", "on the key: enter"),
            Rule::on_input("Exit", "exit: send the key back"),
            Rule::on_message(
                "Key",
                "keeper, when the key is back: send it to the next of the queue, if there is one",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME1, ME2],
        counterexamples: &[Counterexample {
            property: ME3,
            scope: Scope { tells: 1, ..Scope::of(3) },
            steps: 6,
            story: "p1 asks and then tells p2; p2 asks because of it, is heard first, and gets \
                    the key first",
        }],
        costs: &[
            cost::per_entry("3", |_| Bounds::exactly(3)),
            cost::entry_messages("2", |_| Bounds::exactly(2)),
            cost::entry_hops("2", |_| Bounds::exactly(2)),
            cost::relay_hops("2", |_| Bounds::exactly(2)),
        ],
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![MyAlgorithm { state: State::Outside, queue: VecDeque::new() }; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != KEEPER
    }
}
