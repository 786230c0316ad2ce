//! Cheap Paxos, for one decision (Lamport and Massa, 2004).
//!
//! To survive f crashes Paxos needs 2f + 1 acceptors; here f + 1 of them, the *main* ones, do all
//! the work, and the f *auxiliary* ones are asked only when a main one does not answer. All main
//! ones together are a quorum. If one is missing, the others and the auxiliaries complete the
//! ballot that was begun. If none was begun, they agree to drop the missing one: a smaller
//! *configuration*, of which all main ones are a quorum again, takes over in the next instance.
//!
//! - Assumes: as Paxos.
//! - Guarantees: as Paxos. It ends if a main process that proposes is left alone for long enough,
//!   and the processes that are up are a quorum of the last configuration.
//! - Cost, one proposer: f accepts and (f + 1)(N - 1) votes, two hops; auxiliaries send no message.
//! - State: the configuration; for its instance, the state of Paxos. Instances before it are over.
//!
//! A configuration of k main and k - 1 auxiliary acceptors has quorums of k, and any two of these
//! share one. The old configuration must *choose* the new one, as it would choose a value. If two
//! processes made their quorums smaller by themselves, each could go on without the other.
//!
//! Source: L. Lamport, M. Massa: Cheap Paxos. Dependable Systems and Networks, 2004.

mod card;
mod configuration;
mod message;
mod setting;

use super::acceptor::{Acceptor, Reply, Vote};
use super::ballot::Ballot;
use super::learner::{Heard, Learner};
use super::quorum::majority;
pub(super) use card::{PARAMETERS, SOURCE};
pub use configuration::Configuration;
pub use message::{Command, Message};
use setting::Setting;

use serde::{Deserialize, Serialize};
use synod_core::family::consensus::{Decision, Input, Output, Value};
use synod_core::{Cx, Durable, ProcessId, ProcessSet, Protocol, Setup, SetupError};

/// Cheap Paxos as it is in the catalogue.
pub type CheapPaxos = CheapProcess<true>;

/// The least time that a leader waits for answers; it waits up to twice as long.
const TIMEOUT_MS: u64 = 100;

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A main process does not answer.
    Retry,
}

/// Where a leader stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Leader {
    Idle,
    /// It asks all members, also the auxiliary ones, for promises.
    Preparing {
        ballot: Ballot,
        promised: ProcessSet,
        last: Option<Vote<Command>>,
    },
}

/// One process. If configurations are not `AGREED`, each makes its own smaller: broken on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CheapProcess<const AGREED: bool> {
    configuration: Configuration,
    acceptor: Acceptor<Command>,
    learner: Learner<Command>,
    leader: Leader,
    proposal: Option<Value>,
    decided: bool,
    /// Whether it lost its disk, and therefore only learns.
    outsider: bool,
    setting: Setting,
}

/// The state that must survive a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    configuration: Configuration,
    acceptor: Acceptor<Command>,
    proposal: Option<Value>,
}

impl<const AGREED: bool> Protocol for CheapProcess<AGREED> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let unwritten = self.acceptor.promised.is_none() && self.configuration.instance == 0;
        self.outsider = cx.incarnation() > 1 && unwritten;
        if self.proposal.is_some() {
            self.wait(cx);
        }
    }

    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if !self.decided && !self.outsider {
            self.proposal = Some(value);
            self.lead(cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if !message.is_sound(from, cx.group_size()) {
            return cx.accuse(from, "sent a ballot or a configuration that cannot be");
        }
        let theirs = message.configuration();
        if theirs.instance < self.configuration.instance {
            return self.on_late(from, &message, cx);
        }
        if theirs.instance > self.configuration.instance {
            self.enter(theirs.clone(), cx);
        }
        match message {
            Message::Prepare(_, ballot) => self.on_prepare(from, ballot, cx),
            Message::Promise(_, ballot, last) => self.on_promise(from, ballot, last, cx),
            Message::Accept(_, vote) => self.vote(vote, cx),
            Message::Accepted(_, vote) => self.learn(from, vote, cx),
            Message::Moved(_) => {}
        }
    }

    fn on_timer(&mut self, Timer::Retry: Timer, cx: &mut Cx<'_, Self>) {
        if !AGREED {
            // The mutant: a process that does not answer does not count.
            self.configuration.keep_only(cx.me());
        }
        self.begin(cx);
    }
}

impl<const AGREED: bool> CheapProcess<AGREED> {
    /// Asks the main processes to accept, if this is the first of them: no ballot is smaller than
    /// its first, so no value can have been accepted before, and it needs no promises. The other
    /// proposers wait, and step in.
    fn lead(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(value) = self.proposal.filter(|_| !self.decided) else { return };
        let is_first = self.configuration.first() == Some(cx.me());
        if is_first && self.acceptor.promised.is_none() {
            let ballot = Ballot { round: 1, owner: cx.me() };
            let vote = Vote { ballot, value: Command::Decide(value) };
            let mains = self.configuration.mains.clone();
            cx.multicast_to(mains, Message::Accept(self.configuration.clone(), vote));
            self.vote(vote, cx);
        }
        self.wait(cx);
    }

    /// 1a: asks all members, also the auxiliary ones.
    fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        let next = Ballot::above(self.acceptor.promised, cx.me());
        let next = next.filter(|ballot| ballot.round <= self.setting.ballots);
        let is_main = self.configuration.mains.contains(cx.me());
        let (Some(ballot), true) = (next, is_main && self.proposal.is_some()) else { return };
        let Reply::Agreed(last) = self.acceptor.prepare(ballot) else { return };
        let promised = [cx.me()].into_iter().collect();
        self.leader = Leader::Preparing { ballot, promised, last };
        self.save(cx);
        let members = self.configuration.members(cx.group_size());
        cx.multicast_to(members, Message::Prepare(self.configuration.clone(), ballot));
        self.wait(cx);
        self.go_on(cx);
    }

    /// 1b.
    fn on_prepare(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        if self.outsider {
            return;
        }
        if let Reply::Agreed(last) = self.acceptor.prepare(ballot) {
            self.save(cx);
            cx.send(from, Message::Promise(self.configuration.clone(), ballot, last));
        }
    }

    fn on_promise(
        &mut self,
        from: ProcessId,
        of: Ballot,
        vote: Option<Vote<Command>>,
        cx: &mut Cx<'_, Self>,
    ) {
        if let Leader::Preparing { ballot, promised, last } = &mut self.leader
            && *ballot == of
            && promised.insert(from)
        {
            *last = vote.max(*last);
            self.go_on(cx);
        }
    }

    /// 2a: completes the ballot that the votes tell of. If there are none, and a main process is
    /// missing, drops that process.
    fn go_on(&mut self, cx: &mut Cx<'_, Self>) {
        let Leader::Preparing { ballot, promised, last } = &self.leader else { return };
        if promised.len() < self.configuration.quorum() {
            return;
        }
        let own = self.proposal.expect("only a process with a proposal prepares");
        // A missing main process is dropped before a value is decided, so that the main ones alone
        // are a quorum again.
        let missing = self.configuration.mains.iter().find(|main| !promised.contains(*main));
        let free = || missing.map_or(Command::Decide(own), Command::Drop);
        let vote = Vote { ballot: *ballot, value: last.map_or_else(free, |last| last.value) };
        self.leader = Leader::Idle;
        let members = self.configuration.members(cx.group_size());
        cx.multicast_to(members, Message::Accept(self.configuration.clone(), vote));
        self.vote(vote, cx);
    }

    /// 2b.
    fn vote(&mut self, vote: Vote<Command>, cx: &mut Cx<'_, Self>) {
        if self.outsider {
            return;
        }
        if let Reply::Agreed(()) = self.acceptor.accept(vote) {
            self.save(cx);
            cx.multicast(Message::Accepted(self.configuration.clone(), vote));
            self.learn(cx.me(), vote, cx);
        }
    }

    fn learn(&mut self, from: ProcessId, vote: Vote<Command>, cx: &mut Cx<'_, Self>) {
        if !self.configuration.members(cx.group_size()).contains(from) {
            return cx.accuse(from, "voted, and is no member");
        }
        match self.learner.hear(from, vote, self.configuration.quorum()) {
            Heard::Nothing => {}
            Heard::Contradiction => cx.accuse(from, "accepted another value in the same ballot"),
            Heard::Chosen(Command::Drop(main)) => {
                if let Some(next) = self.configuration.without(main) {
                    self.enter(next, cx);
                    self.lead(cx);
                }
            }
            Heard::Chosen(Command::Decide(value)) => {
                self.decided = true;
                self.proposal = None;
                self.leader = Leader::Idle;
                cx.cancel_timer(Timer::Retry);
                cx.output(Output::Decided(Decision::Value(value)));
            }
        }
    }

    /// Enters the next instance. The one before is over: it chose this configuration.
    fn enter(&mut self, configuration: Configuration, cx: &mut Cx<'_, Self>) {
        self.configuration = configuration;
        self.acceptor = Acceptor::default();
        self.learner = Learner::default();
        self.leader = Leader::Idle;
        if !self.outsider {
            self.save(cx);
        }
    }

    /// Tells a process that is behind the current configuration.
    fn on_late(&mut self, from: ProcessId, message: &Message, cx: &mut Cx<'_, Self>) {
        if matches!(message, Message::Prepare(..) | Message::Accept(..)) {
            cx.send(from, Message::Moved(self.configuration.clone()));
        }
    }

    fn wait(&self, cx: &mut Cx<'_, Self>) {
        if self.setting.retries && !self.decided {
            let more = u64::from(cx.choose(4)) * TIMEOUT_MS / 4;
            cx.set_timer(Timer::Retry, TIMEOUT_MS + more);
        }
    }

    /// Writes the record. Messages that follow wait for the disk.
    fn save(&self, cx: &mut Cx<'_, Self>) {
        if self.setting.durable {
            let configuration = self.configuration.clone();
            cx.checkpoint(&Record {
                configuration,
                acceptor: self.acceptor,
                proposal: self.proposal,
            });
        }
    }

    pub(super) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let mains = ProcessSet::all(majority(setup.n));
        let process = CheapProcess {
            configuration: Configuration { instance: 0, mains },
            acceptor: Acceptor::default(),
            learner: Learner::default(),
            leader: Leader::Idle,
            proposal: None,
            decided: false,
            outsider: false,
            setting: Setting::from_setup(setup)?,
        };
        Ok(vec![process; setup.n])
    }

    pub(super) fn is_proposer(&self, me: ProcessId) -> bool {
        self.setting.proposers.contains(me) && self.configuration.mains.contains(me)
    }
}

impl<const AGREED: bool> Durable for CheapProcess<AGREED> {
    type Record = Record;

    fn replay(&mut self, record: Record) {
        self.configuration = record.configuration;
        self.acceptor = record.acceptor;
        self.proposal = record.proposal;
    }
}
