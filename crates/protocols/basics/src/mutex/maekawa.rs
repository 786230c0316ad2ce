//! Mutual exclusion by voting (Maekawa, 1985).
//!
//! To enter, a process needs the votes of its voting set only, itself included. A voter that has
//! given its vote away keeps further requests in a queue until the vote comes back. Any two sets
//! have a member in common, and that member votes for one candidate at a time.
//!
//! - Assumes: reliable links in any order; no process crashes.
//! - Guarantees: ME1 alone. Not ME2: three processes that have one of two votes each wait for ever.
//!   Not ME3: a voter votes in the order in which requests arrive, not in the order in which they
//!   were made. `maekawa-sanders` repairs both.
//! - Cost: 3(K − 1) messages per entry, where K is about √N. From exit to entry, two hops: the vote
//!   goes home and on to the next; one, if the vote is that of one of the two.
//! - State: the voting set, the votes still missing, and a queue of at most K requests.
//!
//! A process talks to itself without the network: such messages are handled on the spot.
//!
//! Source: M. Maekawa: A √N algorithm for mutual exclusion in decentralized systems. ACM TOCS
//! 3(2), 1985; the pseudocode follows Coulouris, Dollimore, Kindberg and Blair, chapter 15.

use super::cost::relay_hops;
use super::voting::{ALONE, ENTRY_HOPS, ENTRY_MESSAGES, SETS, each_in_one_place};
use super::voting_sets::VotingSets;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Card, Cost, Counterexample, Load, Scope, Size, Source};
use synod_core::family::mutex::{Input, ME1, ME2, ME3, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Invariant, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError,
    Snapshot, Wire,
};

/// The messages between candidates and voters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// May I have your vote?
    Request,
    /// You have it.
    Reply,
    /// Here it is back.
    Release,
}

impl Wire for Message {}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// It does not want to enter.
    Released,
    /// It asked, and waits for the votes that are missing.
    Wanted {
        /// The voters that have not voted for it yet.
        missing: ProcessSet,
    },
    /// It is inside.
    Held,
}

/// One process of the algorithm. With `OWN_VOTE` it is right: a process needs its own vote like
/// any other. Without, it is the mutant [`maekawa-000`](super::mutants::maekawa_000).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MaekawaProcess<const OWN_VOTE: bool> {
    /// The voting set of this process.
    voters: ProcessSet,
    state: State,
    /// The candidate that has the vote of this process.
    voted: Option<ProcessId>,
    /// The candidates that asked for the vote in the meantime, first come first served.
    queue: VecDeque<ProcessId>,
}

/// One process of the right version.
pub type Maekawa = MaekawaProcess<true>;

impl<const OWN_VOTE: bool> Protocol for MaekawaProcess<OWN_VOTE> {
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
            Message::Request => self.on_request(from, cx),
            Message::Reply => self.on_reply(from, cx),
            Message::Release => self.on_release(from, cx),
        }
    }
}

impl<const OWN_VOTE: bool> MaekawaProcess<OWN_VOTE> {
    fn enter(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Released, "enter while already wanting or holding");
        self.state = State::Wanted { missing: self.voters.clone() };
        self.send_to_voters(Message::Request, cx);
        self.enter_if_elected(cx);
    }

    fn exit(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Held, "exit without holding");
        self.state = State::Released;
        self.send_to_voters(Message::Release, cx);
    }

    fn on_request(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.queue.contains(&from) {
            cx.accuse(from, "asked again while its request was waiting");
        } else if self.puts_off(from, cx.me()) {
            self.queue.push_back(from);
        } else {
            self.vote_for(from, cx);
        }
    }

    /// The rule of the right version is: while our vote is given away. (Then it covers the time
    /// when we are inside, because we have our own vote then.)
    fn puts_off(&self, from: ProcessId, me: ProcessId) -> bool {
        let as_printed = match self.state {
            State::Held => true,
            State::Wanted { .. } => me < from,
            State::Released => false,
        };
        self.voted.is_some() || (!OWN_VOTE && as_printed)
    }

    fn on_reply(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        let expected = match &mut self.state {
            State::Wanted { missing } => missing.remove(from),
            State::Released | State::Held => false,
        };
        if expected {
            self.enter_if_elected(cx);
        } else {
            cx.accuse(from, "gave a vote that nobody had asked for");
        }
    }

    fn on_release(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.voted != Some(from) {
            return cx.accuse(from, "gave back a vote that it did not have");
        }
        self.voted = None;
        if let Some(next) = self.queue.pop_front() {
            self.vote_for(next, cx);
        }
    }

    fn vote_for(&mut self, candidate: ProcessId, cx: &mut Cx<'_, Self>) {
        self.voted = Some(candidate);
        self.send(candidate, Message::Reply, cx);
    }

    fn enter_if_elected(&mut self, cx: &mut Cx<'_, Self>) {
        if matches!(&self.state, State::Wanted { missing } if missing.is_empty()) {
            self.state = State::Held;
            cx.output(Output::Entered);
        }
    }

    fn send_to_voters(&mut self, message: Message, cx: &mut Cx<'_, Self>) {
        // A copy, because a message to ourselves is handled on the spot and may change `self`.
        for voter in self.voters.clone().iter() {
            self.send(voter, message, cx);
        }
    }

    /// A message to ourselves needs no network.
    fn send(&mut self, to: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }

    /// Where the process stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The candidate that has the vote of this process.
    pub fn voted(&self) -> Option<ProcessId> {
        self.voted
    }

    /// The candidates that wait for the vote of this process.
    pub fn queue(&self) -> impl Iterator<Item = ProcessId> + '_ {
        self.queue.iter().copied()
    }

    /// Whether a member of our voting set has voted for us.
    fn has_vote_of(&self, voter: ProcessId) -> bool {
        match &self.state {
            State::Released => false,
            State::Wanted { missing } => !missing.contains(voter),
            State::Held => true,
        }
    }

    pub(in crate::mutex) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let sets = VotingSets::from_setup(setup)?;
        let process = |me| {
            let mut voters = sets.of(me);
            if !OWN_VOTE {
                voters.remove(me);
            }
            MaekawaProcess { voters, state: State::Released, voted: None, queue: VecDeque::new() }
        };
        Ok(ProcessId::all(setup.n).map(process).collect())
    }

    pub(in crate::mutex) fn voting_size(processes: &[Self]) -> Size {
        let asked = processes.first().map_or(0, |process| process.voters.len());
        Size { n: processes.len(), k: asked + usize::from(!OWN_VOTE) }
    }
}

pub(in crate::mutex) const SOURCE: Source = Source {
    author: "M. Maekawa",
    year: 1985,
    work: "A √N algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2)",
};

impl Algorithm for Maekawa {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "maekawa",
        aliases: &["voting"],
        title: "Maekawa's mutual exclusion by voting",
        source: SOURCE,
        idea: "Ask only a voting set; any two sets overlap, and a member votes for one at a time.",
        rules: &[
            Rule::on_input(
                "Enter",
                "enter: ask every member of the voting set, oneself included, and wait for all \
                 votes",
            ),
            Rule::on_message(
                "Request",
                "on a request: if the vote is given away, queue the request; else give the vote",
            ),
            Rule::on_message("Reply", "on a reply: if it was the last vote missing, we are inside"),
            Rule::on_input("Exit", "exit: give every vote back"),
            Rule::on_message(
                "Release",
                "on a release: give the vote to the first in the queue, if there is one",
            ),
        ],
        assumes: &["reliable links, in any order", "no process crashes"],
        promises: &[ME1],
        counterexamples: &[
            Counterexample {
                property: ME2,
                scope: Scope::of(3),
                steps: 6,
                story: "all three ask at once and have their own vote; p0 holds off p2, p1 holds \
                        off p0, p2 holds off p1, and none of them ever gives up the vote that it \
                        has",
            },
            Counterexample {
                property: ME3,
                scope: Scope { tells: 1, ..Scope::of(3) },
                steps: 6,
                story: "p0 asks, then tells p1, which asks too; p1 has its own vote and that of \
                        p2 before the request of p0 arrives",
            },
        ],
        costs: &[
            ALONE,
            ENTRY_MESSAGES,
            ENTRY_HOPS,
            // Saturated, it deadlocks; a relay costs the same under any load.
            Cost { load: Load::Any, ..relay_hops("1 to 2", |_| Bounds::between(1, 2)) },
        ],
        parameters: &[SETS],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn size(processes: &[Self]) -> Size {
        Self::voting_size(processes)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "one-vote",
            statement: "a vote is in one place: at home, on its way, or with one candidate",
            holds: every_vote_is_in_one_place,
        }]
    }
}

fn every_vote_is_in_one_place(snapshot: &Snapshot<'_, Maekawa>) -> bool {
    let with_candidates = snapshot.processes().flat_map(|candidate| {
        candidate.voters.iter().filter(|voter| candidate.has_vote_of(*voter))
    });
    let on_their_way =
        snapshot.in_flight().into_iter().filter_map(|(from, to, message)| match message {
            Message::Request => None,
            Message::Reply => Some(from),
            Message::Release => Some(to),
        });
    let given = snapshot.processes().map(|voter| voter.voted.is_some());
    each_in_one_place(given, with_candidates.chain(on_their_way))
}
