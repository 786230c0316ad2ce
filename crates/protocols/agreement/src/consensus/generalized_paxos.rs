//! Generalized Paxos (Lamport, 2005).
//!
//! Acceptors do not vote for a value but for a growing *history* of commands. In the fast ballot
//! each acceptor appends the commands to its history as they come; learners learn the part that the
//! histories of a fast quorum share. If the commands commute, it does not matter that they come in
//! different orders. If they interfere, two acceptors may hold histories that cannot be continued
//! to the same one: a *collision*. Then the coordinator asks for promises, takes the history that
//! may have been learned, appends all other commands, and leads a classic ballot from then on.
//!
//! - Assumes: as Fast Paxos, but without disks: a crashed process does not come back.
//! - Guarantees: learned histories are compatible, grow, and hold proposed commands only. Without
//!   faults, all commands are learned.
//! - Cost of a command: N - 1 proposals and N(N - 1) votes, two hops; after a collision four more
//!   hops.
//! - State: a history of at most N commands, one of each process; at a learner that of each
//!   acceptor.
//!
//! The common part of a quorum is ⊓ of its histories, and the learned history is ⊔ of these over
//! all quorums. The code need not go through the quorums: a command is in the result just if enough
//! acceptors have it with the same past.
//!
//! Source: L. Lamport: Generalized consensus and Paxos. Technical report MSR-TR-2005-33, 2005.

mod card;
mod common;

use super::ballot::Ballot;
use super::quorum::Quorums;
use common::common;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use synod_core::family::generalized::{Command, History, Input, Output, commands};
use synod_core::{Cx, Never, ProcessId, Protocol, Setup, SetupError, Wire};

/// A history, accepted in a ballot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Vote {
    /// The ballot in which it was accepted.
    pub ballot: Ballot,
    /// The accepted history.
    pub history: History,
}

impl fmt::Debug for Vote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {:?}", self.ballot, self.history)
    }
}

/// The messages between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// From a proposer, to all.
    Propose(Command),
    /// 1a.
    Prepare(Ballot),
    /// 1b, with the last vote.
    Promise(Ballot, Vote),
    /// 2a of the classic ballot; each one continues the one before.
    Accept(Vote),
    /// 2b, to all processes.
    Accepted(Vote),
}

impl Wire for Message {}

/// Where the coordinator stands. The other processes keep watching.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Leader {
    /// The fast ballot goes well.
    Watching,
    /// There was a collision.
    Preparing { ballot: Ballot, promises: BTreeMap<ProcessId, Vote> },
    /// It leads the classic ballot, with this vote.
    Leading(Vote),
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GeneralizedPaxos {
    promised: Ballot,
    accepted: Vote,
    /// The commands that this process has heard of.
    known: BTreeSet<Command>,
    /// The last vote of each process.
    votes: BTreeMap<ProcessId, Vote>,
    learned: History,
    leader: Leader,
    /// Whether it has crashed before, and therefore only learns.
    outsider: bool,
    quorums: Quorums,
    /// The fast ballot; its owner is the coordinator.
    first: Ballot,
    proposes: bool,
}

impl Protocol for GeneralizedPaxos {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.outsider = cx.incarnation() > 1;
    }

    fn on_input(&mut self, Input::Propose(command): Input, cx: &mut Cx<'_, Self>) {
        assert_eq!(command.of, cx.me(), "an application proposes its own command");
        cx.multicast(Message::Propose(command));
        self.on_propose(command, cx);
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if !message.is_sound(from, cx.group_size()) {
            return cx.accuse(from, "sent a ballot or a command that cannot be");
        }
        match message {
            Message::Propose(command) => self.on_propose(command, cx),
            Message::Prepare(ballot) => self.on_prepare(from, ballot, cx),
            Message::Promise(ballot, vote) => self.on_promise(from, ballot, vote, cx),
            Message::Accept(vote) => self.on_accept(vote, cx),
            Message::Accepted(vote) => self.learn(from, vote, cx),
        }
    }
}

impl Message {
    /// Whether an honest process can have sent this: only the owner leads a ballot, and every
    /// command belongs to a process of the group.
    fn is_sound(&self, from: ProcessId, n: usize) -> bool {
        let is_known = |vote: &Vote| {
            vote.ballot.is_sound(n) && vote.history.commands().iter().all(|c| c.of.index() < n)
        };
        from.index() < n
            && match self {
                Message::Propose(command) => command.of == from,
                Message::Prepare(ballot) => ballot.is_sound(n) && ballot.owner == from,
                Message::Promise(ballot, vote) => is_known(vote) && vote.ballot < *ballot,
                Message::Accept(vote) => is_known(vote) && vote.ballot.owner == from,
                Message::Accepted(vote) => is_known(vote),
            }
    }
}

impl GeneralizedPaxos {
    /// In the fast ballot every acceptor appends the command; in the classic one the coordinator
    /// does.
    fn on_propose(&mut self, command: Command, cx: &mut Cx<'_, Self>) {
        let is_new = !self.known.iter().any(|known| known.of == command.of);
        if self.outsider || !is_new {
            return;
        }
        self.known.insert(command);
        if self.promised == self.first {
            let history = self.accepted.history.then(command);
            self.vote(Vote { ballot: self.first, history }, cx);
        }
        if let Leader::Leading(vote) = &self.leader {
            let history = vote.history.then(command);
            self.lead(Vote { history, ..vote.clone() }, cx);
        }
    }

    /// 1a: ends the fast ballot after a collision.
    fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        let next = Ballot::above(Some(self.promised), cx.me()).expect("there are enough ballots");
        self.promised = next;
        let promises = [(cx.me(), self.accepted.clone())].into_iter().collect();
        self.leader = Leader::Preparing { ballot: next, promises };
        cx.multicast(Message::Prepare(next));
        self.go_on(cx);
    }

    /// 1b.
    fn on_prepare(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        if ballot > self.promised && !self.outsider {
            self.promised = ballot;
            cx.send(from, Message::Promise(ballot, self.accepted.clone()));
        }
    }

    fn on_promise(&mut self, from: ProcessId, of: Ballot, vote: Vote, cx: &mut Cx<'_, Self>) {
        if let Leader::Preparing { ballot, promises } = &mut self.leader
            && *ballot == of
            && promises.insert(from, vote).is_none()
        {
            self.go_on(cx);
        }
    }

    /// 2a: takes the history that may have been learned, and appends all other commands that it
    /// knows of.
    fn go_on(&mut self, cx: &mut Cx<'_, Self>) {
        let Leader::Preparing { ballot, promises } = &self.leader else { return };
        if promises.len() < self.quorums.classic() {
            return;
        }
        // The processes that did not answer may all have been in a fast quorum. The rest of that
        // quorum, at least this many, has answered.
        let asked_of_a_quorum = promises.len() + self.quorums.fast() - self.quorums.group();
        let fast = promises.values().filter(|vote| vote.ballot == self.first);
        let histories: Vec<&History> = fast.map(|vote| &vote.history).collect();
        let safe = common(&histories, asked_of_a_quorum).unwrap_or_default();
        let others = promises.values().flat_map(|vote| vote.history.commands()).chain(&self.known);
        let history = others.fold(safe, |history, command| history.then(*command));
        let vote = Vote { ballot: *ballot, history };
        self.lead(vote, cx);
    }

    fn lead(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) {
        self.leader = Leader::Leading(vote.clone());
        cx.multicast(Message::Accept(vote.clone()));
        self.on_accept(vote, cx);
    }

    /// 2b of a classic ballot: accepts a history that continues the one accepted in this ballot
    /// before.
    fn on_accept(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) {
        let continues = self.accepted.ballot < vote.ballot
            || self.accepted.history != vote.history
                && self.accepted.history.is_prefix_of(&vote.history);
        if vote.ballot >= self.promised && vote.ballot > self.first && continues && !self.outsider {
            self.promised = vote.ballot;
            self.vote(vote, cx);
        }
    }

    fn vote(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) {
        self.accepted = vote.clone();
        cx.multicast(Message::Accepted(vote.clone()));
        self.learn(cx.me(), vote, cx);
    }

    fn learn(&mut self, from: ProcessId, vote: Vote, cx: &mut Cx<'_, Self>) {
        let ballot = vote.ballot;
        // Votes of a ballot only grow, and may arrive in any order.
        let is_old = |last: &Vote| {
            last.ballot > ballot
                || last.ballot == ballot && vote.history.is_prefix_of(&last.history)
        };
        if self.votes.get(&from).is_some_and(is_old) {
            return;
        }
        self.votes.insert(from, vote);
        let quorum =
            if ballot == self.first { self.quorums.fast() } else { self.quorums.classic() };
        let votes = self.votes.values().filter(|vote| vote.ballot == ballot);
        let histories: Vec<&History> = votes.map(|vote| &vote.history).collect();
        let news = common(&histories, quorum).and_then(|chosen| chosen.join(&self.learned));
        match news {
            None => return cx.accuse(from, "voted for what contradicts what is learned"),
            Some(news) if news != self.learned => {
                self.learned = news.clone();
                cx.output(Output::Learned(news));
            }
            Some(_) => {}
        }
        self.look_for_collision(cx);
    }

    /// Begins a classic ballot if two histories cannot be continued to the same one: a fast quorum
    /// that holds both will learn no more.
    fn look_for_collision(&mut self, cx: &mut Cx<'_, Self>) {
        let watches = self.leader == Leader::Watching && self.first.owner == cx.me();
        let fast = || self.votes.values().filter(|vote| vote.ballot == self.first);
        let collides = |one: &Vote| fast().any(|v| !v.history.is_compatible_with(&one.history));
        if watches && !self.outsider && fast().any(collides) {
            self.begin(cx);
        }
    }

    fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let first = Ballot { round: 1, owner: setup.process("coordinator", ProcessId(0))? };
        let process = |command: Option<Command>| GeneralizedPaxos {
            promised: first,
            accepted: Vote { ballot: first, history: History::default() },
            known: BTreeSet::new(),
            votes: BTreeMap::new(),
            learned: History::default(),
            leader: Leader::Watching,
            outsider: false,
            quorums: Quorums::of(setup.n),
            first,
            proposes: command.is_some(),
        };
        Ok(commands(setup)?.into_iter().map(process).collect())
    }
}
