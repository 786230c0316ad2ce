//! Mutual exclusion by passing a token on request (Ricart and Agrawala 1983; Suzuki and Kasami
//! 1985).
//!
//! One token exists, and only its holder may enter: at once and without any message, as often as it
//! likes, until another process asks. To get the token, a process numbers its request and sends it
//! to all others, because it cannot know which of them is the holder. The token carries how many
//! requests of each process have been granted; a larger number in a request means that its process
//! is waiting. The holder sends the token straight to one of those, and the choice must be fair:
//! see [`choice`].
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1, because there is one token; ME2, because the choice is fair. Not ME3.
//! - Cost: 0 messages if the process has the token already, otherwise N (N − 1 requests and the
//!   token); one hop from exit to entry.
//! - State: N numbers at each process and N in the token. They count requests: unbounded.
//!
//! Sources: G. Ricart, A. Agrawala: author's response to "On mutual exclusion in computer
//! networks". CACM 26(2), 1983. I. Suzuki, T. Kasami: A distributed mutual exclusion algorithm.
//! TOCS 3(4), 1985.

pub mod choice;

pub use choice::{Choice, RicartAgrawalaToken, SuzukiKasami};

use serde::{Deserialize, Serialize};
use synod_core::family::mutex::{Input, Mutex, Output};
use synod_core::{
    Algorithm, Card, Cx, Invariant, Never, ProcessId, Protocol, Reductions, Setup, SetupError,
    Snapshot, Wire,
};

/// The permission to enter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Token<C> {
    /// How many requests of each process have been granted.
    pub granted: Vec<u64>,
    /// The rule that chooses the next holder, with its state.
    pub choice: C,
}

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message<C> {
    /// I need the token.
    Request {
        /// The process that asks.
        process: ProcessId,
        /// The number of its requests, this one included.
        number: u64,
    },
    /// Here it is.
    Token(Token<C>),
}

impl<C: Choice> Wire for Message<C> {}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State<C> {
    /// It does not want to enter, and the token is elsewhere.
    Released,
    /// It does not want to enter, but it has the token.
    Idle(Token<C>),
    /// It asked for the token.
    Wanted,
    /// It is inside.
    Held(Token<C>),
}

/// One process of the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenPassing<C> {
    state: State<C>,
    /// The number of requests that this process has made.
    my_number: u64,
    /// The largest request number known of each other process.
    requested: Vec<u64>,
}

impl<C: Choice> Protocol for TokenPassing<C> {
    type Input = Input;
    type Output = Output;
    type Message = Message<C>;
    type Timer = Never;

    const REDUCTIONS: Reductions<Self> =
        Reductions { normalise: Some(normalise), ..Reductions::NONE };

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter => self.enter(cx),
            Input::Exit => self.exit(cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<C>, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request { process, number } if process == from => {
                self.on_request(from, number, cx);
            }
            Message::Request { .. } => cx.accuse(from, "asked in the name of another"),
            Message::Token(token) => self.on_token(from, token, cx),
        }
    }
}

impl<C: Choice> TokenPassing<C> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        match self.leave_state() {
            State::Released => {
                self.my_number += 1;
                self.state = State::Wanted;
                cx.multicast(Message::Request { process: cx.me(), number: self.my_number });
            }
            State::Idle(token) => self.hold(token, cx),
            State::Wanted | State::Held(_) => panic!("enter while already wanting or holding"),
        }
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        let State::Held(mut token) = self.leave_state() else { panic!("exit without holding") };
        // Every later holder compares our requests with this number, and so knows that we no longer
        // wait.
        token.granted[cx.me().index()] = self.my_number;
        self.state = State::Idle(token);
        self.send_token(cx);
    }

    fn on_request(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        let known = &mut self.requested[from.index()];
        // Links do not keep the order: an older request may arrive after a newer one.
        *known = number.max(*known);
        self.send_token(cx);
    }

    fn on_token(&mut self, from: ProcessId, token: Token<C>, cx: &mut Cx<'_, Self>) {
        let n = cx.group_size();
        // Indexing with the numbers of a forged token would panic, so they are checked first.
        if token.granted.len() != n || !token.choice.fits(n) {
            cx.accuse(from, "sent a token of another group");
        } else if matches!(self.state, State::Wanted) {
            self.hold(token, cx);
        } else {
            cx.accuse(from, "sent a token that nobody had asked for");
        }
    }

    fn hold(&mut self, token: Token<C>, cx: &mut Cx<'_, Self>) {
        self.state = State::Held(token);
        cx.output(Output::Entered);
    }

    /// Sends the token to a waiting process, if we have it and are not inside.
    fn send_token(&mut self, cx: &mut Cx<'_, Self>) {
        let State::Idle(token) = &mut self.state else { return };
        let waiting = cx.others().filter(|p| self.requested[p.index()] > token.granted[p.index()]);
        let Some(next) = token.choice.next(cx.me(), &waiting.collect()) else { return };
        if let State::Idle(token) = self.leave_state() {
            cx.send(next, Message::Token(token));
        }
    }

    /// Takes the state out, to be moved into another; leaves `Released`.
    fn leave_state(&mut self) -> State<C> {
        std::mem::replace(&mut self.state, State::Released)
    }

    /// Whether an `enter` would succeed at once.
    pub(in crate::mutex) fn is_idle_with_token(&self) -> bool {
        matches!(self.state, State::Idle(_))
    }

    fn token(&self) -> Option<&Token<C>> {
        match &self.state {
            State::Idle(token) | State::Held(token) => Some(token),
            State::Released | State::Wanted => None,
        }
    }

    fn token_mut(&mut self) -> Option<&mut Token<C>> {
        match &mut self.state {
            State::Idle(token) | State::Held(token) => Some(token),
            State::Released | State::Wanted => None,
        }
    }
}

impl<C: Choice> Algorithm for TokenPassing<C> {
    type Family = Mutex;

    const CARD: Card = C::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let process = |state| TokenPassing { state, my_number: 0, requested: vec![0; setup.n] };
        let mut processes = vec![process(State::Released); setup.n];
        let token = Token { granted: vec![0; setup.n], choice: C::default() };
        processes[0] = process(State::Idle(token));
        Ok(processes)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "one-token",
            statement: "there is exactly one token, at a process or on its way",
            holds: there_is_one_token,
        }]
    }
}

/// Counts the requests of each process from the last one granted.
///
/// Nothing that can happen changes, because the numbers about a process are used in no other
/// way than these: they are compared with what the token says was granted to it
/// (`requested > granted`), the larger of two is kept, and its own is increased by one and
/// becomes what was granted. All of this commutes with subtracting the same number from all
/// of them. A number that was already granted would become negative; it becomes 0 instead,
/// and that makes no difference either: what was granted never decreases, so no comparison
/// will tell it from the number granted last.
fn normalise<C: Choice>(
    processes: &mut [&mut TokenPassing<C>],
    in_flight: &mut [&mut Message<C>],
) -> bool {
    let Some(granted) = take_granted(processes, in_flight) else { return false };
    for (index, process) in processes.iter_mut().enumerate() {
        process.my_number = process.my_number.saturating_sub(granted[index]);
        for (requested, granted) in process.requested.iter_mut().zip(&granted) {
            *requested = requested.saturating_sub(*granted);
        }
    }
    for message in in_flight {
        if let Message::Request { process, number } = message {
            *number = number.saturating_sub(granted[process.index()]);
        }
    }
    true
}

/// Takes the granted numbers out of the only token, and leaves zeros there. `None` if there is not
/// exactly one token: with two, no single number can be subtracted on both sides of every
/// comparison.
fn take_granted<C: Choice>(
    processes: &mut [&mut TokenPassing<C>],
    in_flight: &mut [&mut Message<C>],
) -> Option<Vec<u64>> {
    let held = processes.iter_mut().filter_map(|process| process.token_mut());
    let travelling = in_flight.iter_mut().filter_map(|message| match &mut **message {
        Message::Token(token) => Some(token),
        Message::Request { .. } => None,
    });
    let mut tokens = held.chain(travelling);
    let (only, another) = (tokens.next()?, tokens.next());
    if another.is_some() {
        return None;
    }
    let nothing = vec![0; only.granted.len()];
    Some(std::mem::replace(&mut only.granted, nothing))
}

fn there_is_one_token<C: Choice>(snapshot: &Snapshot<'_, TokenPassing<C>>) -> bool {
    let at_processes = snapshot.processes().filter(|p| p.token().is_some()).count();
    let travelling =
        snapshot.in_flight().into_iter().filter(|m| matches!(m.2, Message::Token(_))).count();
    at_processes + travelling == 1
}
