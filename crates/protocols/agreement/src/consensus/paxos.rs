//! Paxos, for one decision (Lamport, 1998).
//!
//! A proposer asks a quorum of acceptors to promise that they take part in no smaller ballot, and
//! to tell their last votes. Of these votes it takes the value of the greatest ballot; only if
//! there is no vote, its own value. Then it asks the acceptors to accept that value. A value that a
//! quorum has accepted in one ballot is chosen. Since any two quorums share an acceptor, every
//! later ballot finds it.
//!
//! - Assumes: no process lies. Messages may take any time, be lost, doubled and reordered;
//!   processes may crash and come back with their disks.
//! - Guarantees: agreement, once, validity, integrity. Termination only if one proposer is left
//!   alone and a quorum is up: two proposers that outbid each other never end (see the
//!   counterexamples).
//! - Cost, one proposer: N prepares, N promises, N accepts, and N · L accepted votes for L
//!   learners; of these, the 3 + L that a process says to itself are not sent. Four hops to a
//!   learner.
//! - State: an acceptor's promise and vote; a proposer's ballot; a vote of each process at a
//!   learner.
//!
//! By default every process is an acceptor, and more than half are a quorum; `acceptors` and
//! `quorums` say otherwise (see [`quorum_system`](super::quorum_system)). An acceptor writes its
//! promise or vote to its disk *before* it sends it. A process that starts again without its disk
//! (it has an earlier incarnation, and no record of it) does not know its promises: from then on it
//! neither votes nor proposes, and only learns. The same happens to a process that crashed before
//! its first promise; that costs an acceptor, but does no harm.
//!
//! Source: L. Lamport: The part-time parliament. ACM Transactions on Computer Systems 16(2), 1998;
//! and: Paxos made simple. ACM SIGACT News 32(4), 2001. The words 1a to 2b are those of the second.

mod card;
mod lie;
mod message;
mod normal;
mod setting;

use super::acceptor::{Acceptor, Reply, Vote};
use super::ballot::Ballot;
use super::learner::{Heard, Learner};
pub(super) use card::{ANYTHING, PARAMETERS, SAFETY, SOURCE};
pub use message::Message;
pub use setting::{Retry, Setting};

use serde::{Deserialize, Serialize};
use synod_core::byzantine::Byzantine;
use synod_core::family::consensus::{Decision, Input, Output, Value};
use synod_core::{Cx, Durable, ProcessId, ProcessSet, Protocol, Reductions, Setup, SetupError};

/// Paxos as it is in the catalogue: with traitors, if there are any.
pub type Paxos = Byzantine<PaxosProcess<true, true>>;

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A proposer begins another ballot.
    Retry,
}

/// Where a proposer stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Proposer {
    /// It has no ballot under way.
    Idle,
    /// It waits for promises.
    Preparing { ballot: Ballot, promised: ProcessSet, last: Option<Vote> },
    /// It has asked the acceptors to accept.
    Accepting { ballot: Ballot },
    /// Its ballot came too late: an acceptor has promised this greater one.
    Refused { by: Ballot },
}

/// One process. A process that is not `NUMBERED` ignores the ballots of the votes in promises; one
/// that does not `REMEMBER` has no disk, and acts after a crash as if it had never promised; the
/// quorums of one without `MEET` need not meet. All three are broken on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PaxosProcess<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool = true> {
    acceptor: Acceptor,
    learner: Learner,
    proposer: Proposer,
    /// The proposal of the application.
    proposal: Option<Value>,
    /// Whether it lost its disk, and therefore only learns.
    outsider: bool,
    setting: Setting,
}

/// The state that must survive a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    acceptor: Acceptor,
    proposal: Option<Value>,
}

impl<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool> Protocol
    for PaxosProcess<NUMBERED, REMEMBER, MEET>
{
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> =
        Reductions { normalise: Some(normal::normalise), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        // A process that has a record has promised a ballot, because its first record is a promise.
        self.outsider = REMEMBER && cx.incarnation() > 1 && self.acceptor.promised.is_none();
        if self.proposal.is_some() {
            self.begin(None, cx);
        }
    }

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if self.learner.decided().is_none() && !self.outsider {
            self.proposal = Some(value);
            self.begin(None, cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if !message.is_sound(from, cx.group_size()) {
            return cx.accuse(from, "sent a ballot that cannot be");
        }
        match message {
            Message::Prepare(ballot) => self.on_prepare(from, ballot, cx),
            Message::Promise(ballot, vote) => self.on_promise(from, ballot, vote, cx),
            Message::Accept(vote) => self.on_accept(from, vote, cx),
            Message::Accepted(vote) => self.learn(from, vote, cx),
            Message::Refusal(ballot, promised) => self.on_refusal(ballot, promised, cx),
        }
    }

    fn on_timer(&mut self, Timer::Retry: Timer, cx: &mut Cx<'_, Self>) {
        let refused_by = match self.proposer {
            Proposer::Refused { by } => Some(by),
            _ => None,
        };
        if !self.setting.gives_up(self.acceptor.promised) {
            self.begin(refused_by, cx);
        }
    }
}

impl<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>
    PaxosProcess<NUMBERED, REMEMBER, MEET>
{
    /// 1a: begins a ballot above all that this process knows of. Its own acceptor promises first,
    /// and the promise is on the disk before others hear of the ballot: so no ballot is begun
    /// twice.
    fn begin(&mut self, refused_by: Option<Ballot>, cx: &mut Cx<'_, Self>) {
        let ballot = Ballot::above(self.acceptor.promised.max(refused_by), cx.me());
        let Some(ballot) = ballot.filter(|ballot| ballot.round <= self.setting.ballots) else {
            self.proposer = Proposer::Idle;
            return;
        };
        let Reply::Agreed(last) = self.acceptor.prepare(ballot) else {
            unreachable!("it is above what was promised")
        };
        let me = [cx.me()].into_iter();
        let promised = me.filter(|me| self.setting.quorums.has(*me)).collect();
        self.proposer = Proposer::Preparing { ballot, promised, last };
        self.save(cx);
        cx.multicast_to(self.setting.quorums.acceptors().clone(), Message::Prepare(ballot));
        self.setting.await_answers(cx);
        self.go_on(cx);
    }

    /// 1b.
    fn on_prepare(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        if !self.votes(cx) {
            return;
        }
        match self.acceptor.prepare(ballot) {
            Reply::Agreed(last) => {
                self.save(cx);
                cx.send(from, Message::Promise(ballot, last));
            }
            Reply::Known => {}
            Reply::Refused(promised) => self.refuse(from, ballot, promised, cx),
        }
    }

    /// Tells the proposer which greater ballot is promised. A proposer that never retries has no
    /// use for that.
    fn refuse(&self, from: ProcessId, of: Ballot, promised: Ballot, cx: &mut Cx<'_, Self>) {
        if self.setting.retry != Retry::Never {
            cx.send(from, Message::Refusal(of, promised));
        }
    }

    fn on_promise(
        &mut self,
        from: ProcessId,
        of: Ballot,
        vote: Option<Vote>,
        cx: &mut Cx<'_, Self>,
    ) {
        // Otherwise the promise comes too late.
        if let Proposer::Preparing { ballot, promised, last } = &mut self.proposer
            && *ballot == of
            && self.setting.quorums.has(from)
            && promised.insert(from)
        {
            // The vote of the greatest ballot: if a value was chosen before, this vote is for it.
            *last = if NUMBERED { vote.max(*last) } else { last.or(vote) };
            self.go_on(cx);
        }
    }

    /// 2a: when a quorum has promised, asks all to accept the value of the greatest vote among the
    /// promises, or else our own.
    fn go_on(&mut self, cx: &mut Cx<'_, Self>) {
        let Proposer::Preparing { ballot, promised, last } = &self.proposer else { return };
        if !self.setting.quorums.can_prepare(promised) {
            return;
        }
        let own = self.proposal.expect("only a process with a proposal prepares");
        let vote = Vote { ballot: *ballot, value: last.map_or(own, |last| last.value) };
        self.proposer = Proposer::Accepting { ballot: vote.ballot };
        cx.multicast_to(self.setting.quorums.acceptors().clone(), Message::Accept(vote));
        self.vote(vote, cx);
    }

    /// 2b, in a ballot of another proposer.
    fn on_accept(&mut self, from: ProcessId, vote: Vote, cx: &mut Cx<'_, Self>) {
        if let Some(promised) = self.vote(vote, cx) {
            self.refuse(from, vote.ballot, promised, cx);
        }
    }

    /// 2b: accepts and tells the learners, or returns the greater ballot that it has promised.
    fn vote(&mut self, vote: Vote, cx: &mut Cx<'_, Self>) -> Option<Ballot> {
        if !self.votes(cx) {
            return None;
        }
        match self.acceptor.accept(vote) {
            Reply::Agreed(()) => {
                self.save(cx);
                cx.multicast_to(self.setting.learners.clone(), Message::Accepted(vote));
                self.learn(cx.me(), vote, cx);
                None
            }
            Reply::Known => None,
            Reply::Refused(promised) => Some(promised),
        }
    }

    fn on_refusal(&mut self, of: Ballot, by: Ballot, cx: &mut Cx<'_, Self>) {
        let (Proposer::Preparing { ballot, .. } | Proposer::Accepting { ballot }) = self.proposer
        else {
            return;
        };
        if ballot == of {
            self.proposer = Proposer::Refused { by };
            match self.setting.retry {
                Retry::Backoff => self.setting.back_off(by.round, cx),
                Retry::AtOnce => self.begin(Some(by), cx),
                Retry::Never => {}
            }
        }
    }

    fn learn(&mut self, from: ProcessId, vote: Vote, cx: &mut Cx<'_, Self>) {
        let quorums = &self.setting.quorums;
        if !self.setting.learners.contains(cx.me()) || !quorums.has(from) {
            return;
        }
        match self.learner.hear_from(from, vote, |those| quorums.can_accept(those)) {
            Heard::Nothing => {}
            Heard::Contradiction => cx.accuse(from, "accepted another value in the same ballot"),
            Heard::Chosen(value) => {
                self.proposer = Proposer::Idle;
                self.proposal = None;
                cx.cancel_timer(Timer::Retry);
                cx.output(Output::Decided(Decision::Value(value)));
            }
        }
    }

    /// Whether this process is an acceptor that knows its promises.
    fn votes(&self, cx: &Cx<'_, Self>) -> bool {
        self.setting.quorums.has(cx.me()) && !self.outsider
    }

    /// Writes the record. Messages that follow wait for the disk.
    fn save(&self, cx: &mut Cx<'_, Self>) {
        if REMEMBER && self.setting.durable.contains(cx.me()) {
            cx.checkpoint(&Record { acceptor: self.acceptor, proposal: self.proposal });
        }
    }

    /// The acceptor of this process: its promise and its last vote.
    pub fn acceptor(&self) -> &Acceptor {
        &self.acceptor
    }

    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let setting = Setting::from_setup(setup, MEET)?;
        let process = PaxosProcess {
            acceptor: Acceptor::default(),
            learner: Learner::default(),
            proposer: Proposer::Idle,
            proposal: None,
            outsider: false,
            setting,
        };
        Ok(vec![process; setup.n])
    }

    pub(super) fn is_proposer(&self, me: ProcessId) -> bool {
        self.setting.proposers.contains(me)
    }
}

impl<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool> Durable
    for PaxosProcess<NUMBERED, REMEMBER, MEET>
{
    type Record = Record;

    fn replay(&mut self, record: Record) {
        self.acceptor = record.acceptor;
        self.proposal = record.proposal;
    }
}
