//! Fast Paxos, for one decision (Lamport, 2006).
//!
//! The first ballot is *fast*: the coordinator has promises the acceptors that they may accept
//! *any* value, so a proposer sends its value to them directly, and each accepts the first that it
//! gets. If a fast quorum accepts the same, it is chosen, two hops after it was proposed. If two
//! values collide, the coordinator, which hears the votes too, takes the votes for the promises of
//! the next ballot, picks the value that may have been chosen (or any, if none may), and goes on as
//! in Paxos.
//!
//! - Assumes: as Paxos; quorums of which any classic and any two fast ones share an acceptor.
//! - Guarantees: as Paxos. With one proposer, or without faults, it ends.
//! - Cost: N - 1 proposals and N(N - 1) votes, two hops; one more hop and N(N - 1) more votes after
//!   a collision that the coordinator sees.
//! - State: as Paxos, and the first proposal that the process heard.
//!
//! Counting shows why the pick is right. A value may have been chosen in the fast ballot if the
//! processes that voted for it and those that the coordinator has not heard from are a fast quorum
//! together. Two values cannot both be such, because any two fast quorums and the classic quorum
//! that the coordinator heard from share a process.
//!
//! Source: L. Lamport: Fast Paxos. Distributed Computing 19(2), 2006.

mod card;
mod message;
mod pick;
mod setting;

use super::acceptor::{Acceptor, Reply, Vote};
use super::ballot::Ballot;
use super::learner::{Heard, Learner};
pub(super) use card::{PARAMETERS, SOURCE};
pub use message::Message;
pub use setting::Setting;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::family::consensus::{Decision, Input, Output, Value};
use synod_core::{Cx, Durable, ProcessId, Protocol, Setup, SetupError};

/// Fast Paxos as it is in the catalogue.
pub type FastPaxos = FastProcess<true>;

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The process begins a classic ballot.
    Retry,
}

/// Where the leader of a ballot stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Leader {
    /// It leads no ballot.
    Idle,
    /// It waits for promises, and keeps the votes in them.
    Preparing { ballot: Ballot, promises: BTreeMap<ProcessId, Option<Vote>> },
    /// It has asked the acceptors to accept one value, or any.
    Asked(Ballot),
}

/// One process. `CHECKED` quorums intersect as they must; in the mutant without it, fast ones are
/// too small.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FastProcess<const CHECKED: bool> {
    acceptor: Acceptor,
    /// Whether the promised ballot is fast, and this acceptor has not voted in it yet.
    open: bool,
    /// The first proposal that this process heard.
    heard: Option<Value>,
    learner: Learner,
    leader: Leader,
    /// Whether it lost its disk, and therefore only learns.
    outsider: bool,
    setting: Setting,
}

/// The state that must survive a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    acceptor: Acceptor,
    open: bool,
    heard: Option<Value>,
}

impl<const CHECKED: bool> Protocol for FastProcess<CHECKED> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        // An acceptor that was given the first ballot before the start has promised it without a
        // record.
        let first = self.acceptor.promised.is_none_or(|promised| promised == self.setting.first());
        self.outsider = cx.incarnation() > 1 && first && self.acceptor.accepted.is_none();
        if cx.incarnation() == 1 && self.setting.must_ask(cx.me()) {
            self.begin(self.setting.first(), cx);
        }
        if self.heard.is_some() && !self.outsider {
            self.setting.wait(cx);
        }
    }

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if self.learner.decided().is_none() && !self.outsider {
            cx.multicast(Message::Propose(value));
            self.on_propose(value, cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if !message.is_sound(from, cx.group_size()) {
            return cx.accuse(from, "sent a ballot that cannot be");
        }
        match message {
            Message::Propose(value) => self.on_propose(value, cx),
            Message::Prepare(ballot) => self.on_prepare(from, ballot, cx),
            Message::Promise(ballot, vote) => self.on_promise(from, ballot, vote, cx),
            Message::Any(ballot) => self.on_any(ballot, cx),
            Message::Accept(vote) => self.vote(vote, cx),
            Message::Accepted(vote) => self.learn(from, vote, cx),
        }
    }

    fn on_timer(&mut self, Timer::Retry: Timer, cx: &mut Cx<'_, Self>) {
        // The ballot after the fast one is reserved: the coordinator leads it without asking for
        // promises.
        let taken = self.setting.recovery();
        let next = Ballot::above(self.acceptor.promised.max(Some(taken)), cx.me());
        if let Some(ballot) = next.filter(|ballot| self.setting.allows(*ballot)) {
            self.begin(ballot, cx);
            self.setting.wait(cx);
        }
    }
}

impl<const CHECKED: bool> FastProcess<CHECKED> {
    /// 1a.
    fn begin(&mut self, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        let Reply::Agreed(last) = self.acceptor.prepare(ballot) else { return };
        self.open = false;
        self.leader =
            Leader::Preparing { ballot, promises: [(cx.me(), last)].into_iter().collect() };
        self.save(cx);
        cx.multicast(Message::Prepare(ballot));
        self.go_on(cx);
    }

    /// An acceptor that may accept any value accepts the first that is proposed. Every process
    /// learns of the proposal, and sees to it that it is decided.
    fn on_propose(&mut self, value: Value, cx: &mut Cx<'_, Self>) {
        if self.learner.decided().is_some() || self.heard.is_some() || self.outsider {
            return;
        }
        self.heard = Some(value);
        self.setting.wait(cx);
        self.vote_any(cx);
        self.go_on(cx);
    }

    /// 1b.
    fn on_prepare(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        if self.outsider {
            return;
        }
        if let Reply::Agreed(last) = self.acceptor.prepare(ballot) {
            self.open = false;
            self.save(cx);
            cx.send(from, Message::Promise(ballot, last));
        }
    }

    fn on_promise(
        &mut self,
        from: ProcessId,
        of: Ballot,
        last: Option<Vote>,
        cx: &mut Cx<'_, Self>,
    ) {
        if let Leader::Preparing { ballot, promises } = &mut self.leader
            && *ballot == of
            && promises.insert(from, last).is_none()
        {
            self.go_on(cx);
        }
    }

    /// 2a: a quorum has promised. The leader opens a fast ballot for any value; in a classic one,
    /// it picks the value that may have been chosen.
    fn go_on(&mut self, cx: &mut Cx<'_, Self>) {
        let Leader::Preparing { ballot, promises } = &self.leader else { return };
        let ballot = *ballot;
        if promises.len() < self.setting.quorums.classic() {
            return;
        }
        if ballot == self.setting.first() {
            self.leader = Leader::Asked(ballot);
            cx.multicast(Message::Any(ballot));
            return self.on_any(ballot, cx);
        }
        let votes = promises.values().copied().flatten();
        let picked = pick::pick(votes, promises.len(), &self.setting).or(self.heard);
        if let Some(value) = picked {
            self.ask(Vote { ballot, value }, cx);
        }
    }

    fn ask(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) {
        self.leader = Leader::Asked(vote.ballot);
        cx.multicast(Message::Accept(vote));
        self.vote(vote, cx);
    }

    fn on_any(&mut self, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        let is_promised = self.acceptor.promised == Some(ballot);
        let is_new = self.acceptor.accepted.is_none_or(|last| last.ballot < ballot);
        if is_promised && is_new && !self.outsider && ballot == self.setting.first() {
            self.open = true;
            self.vote_any(cx);
        }
    }

    /// 2b of a fast ballot.
    fn vote_any(&mut self, cx: &mut Cx<'_, Self>) {
        if let (true, Some(value), Some(ballot)) = (self.open, self.heard, self.acceptor.promised) {
            self.vote(Vote { ballot, value }, cx);
        }
    }

    /// 2b.
    fn vote(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) {
        if self.outsider {
            return;
        }
        if let Reply::Agreed(()) = self.acceptor.accept(vote) {
            self.open = false;
            self.save(cx);
            cx.multicast(Message::Accepted(vote));
            self.learn(cx.me(), vote, cx);
        }
    }

    fn learn(&mut self, from: ProcessId, vote: Vote, cx: &mut Cx<'_, Self>) {
        let heard = match vote.ballot == self.setting.first() {
            true => self.learner.count(from, vote, self.setting.quorums.fast()),
            false => self.learner.hear(from, vote, self.setting.quorums.classic()),
        };
        match heard {
            Heard::Nothing => self.recover(cx),
            Heard::Contradiction => cx.accuse(from, "accepted another value in the same ballot"),
            Heard::Chosen(value) => {
                self.leader = Leader::Idle;
                cx.cancel_timer(Timer::Retry);
                cx.output(Output::Decided(Decision::Value(value)));
            }
        }
    }

    /// Coordinated recovery: if no value can still get a fast quorum, the votes serve as promises
    /// of the next ballot. (An acceptor that has voted in a ballot will not vote in it again, nor
    /// in a smaller one; and no ballot lies between the two.)
    fn recover(&mut self, cx: &mut Cx<'_, Self>) {
        let first = self.setting.first();
        if first.owner != cx.me() || self.acceptor.promised != Some(first) || self.outsider {
            return;
        }
        let fast = self.learner.votes().filter(|(_, vote)| vote.ballot == first);
        let votes: Vec<Vote> = fast.map(|(_, vote)| vote).collect();
        let ballot = self.setting.recovery();
        if pick::collide(&votes, &self.setting) && self.setting.allows(ballot) {
            let value = pick::pick(votes.iter().copied(), votes.len(), &self.setting);
            let value = value.expect("there are votes");
            self.ask(Vote { ballot, value }, cx);
        }
    }

    /// Writes the record. Messages that follow wait for the disk.
    fn save(&self, cx: &mut Cx<'_, Self>) {
        if self.setting.durable {
            let (acceptor, open, heard) = (self.acceptor, self.open, self.heard);
            cx.checkpoint(&Record { acceptor, open, heard });
        }
    }

    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let setting = Setting::from_setup(setup, CHECKED)?;
        let given = setting.is_given();
        let promised = given.then_some(setting.first());
        let process = FastProcess {
            acceptor: Acceptor { promised, accepted: None },
            open: given,
            heard: None,
            learner: Learner::default(),
            leader: Leader::Idle,
            outsider: false,
            setting,
        };
        Ok(vec![process; setup.n])
    }

    pub(super) fn is_proposer(&self, me: ProcessId) -> bool {
        self.setting.proposers.contains(me)
    }
}

impl<const CHECKED: bool> Durable for FastProcess<CHECKED> {
    type Record = Record;

    fn replay(&mut self, record: Record) {
        self.acceptor = record.acceptor;
        self.open = record.open;
        self.heard = record.heard;
    }
}
