//! Multi-Paxos: a log, each place of which is decided by a Paxos of its own, under one leader.
//!
//! A process that hears of no leader for a while begins a ballot: it asks for promises, once for
//! all places of the log that are not yet decided (phase 1). A promise carries every vote of its
//! acceptor at these places. The new leader takes the value of the greatest ballot for each place,
//! and no command for the gaps between them, and has them accepted anew. Then it proposes new
//! commands at the next places, many at once (phase 2). A value that a majority has accepted in one
//! ballot is chosen. The next message of the leader says how far the log is chosen.
//!
//! - Assumes: processes crash and start again with their disks; messages are lost, doubled, late
//!   and out of order. A process that lost its disk goes on learning, but promises and accepts no
//!   more.
//! - Guarantees: one leader in a ballot; the same log everywhere; requests are linearizable. They
//!   are answered as long as one process and a majority hear each other, quicker than the election
//!   timeout; it need not be a majority in which all hear all.
//! - Cost: for each batch of requests 2(N − 1) messages, two hops until it is chosen at the leader,
//!   and one write to the disk of each process. A new leader: 2(N − 1) messages for phase 1, and as
//!   many to ask first; then it proposes anew every value that it does not know to be chosen.
//! - State: the log since the last snapshot; at most [`WINDOW`] places are open at a leader, and an
//!   acceptor has no vote farther than twice that beyond what it knows to be chosen.
//!
//! Unlike in Raft, logs have gaps, a leader need not have the longest log, and an entry has no term
//! of its own: it is accepted in the ballot of the current leader. A process may tell every other
//! process which entries are chosen, without the leader: no ballot can change them.
//!
//! Source: L. Lamport: The part-time parliament. ACM Transactions on Computer Systems 16(2), 1998;
//! and: Paxos made simple. ACM SIGACT News 32(4), 2001 (section 3; the words 1a to 2b are its). R.
//! van Renesse, D. Altinbuken: Paxos made moderately complex. ACM Computing Surveys 47(3), 2015.
//! Asking first, and a leader that resigns: H. Ng, S. Haridi, P. Carbone: Omni-Paxos. EuroSys 2023
//! (its cases of partial connectivity).

mod acceptor;
mod candidate;
mod card;
mod leader;
mod learner;
mod log;
mod message;
pub mod mutants;
mod reads;
mod settings;
mod snapshot;
#[cfg(test)]
mod tests;

pub use card::Server;
pub use log::{Log, Snapshot};
pub use message::{Chosen, Message, Record, Timer};
pub use settings::{Rules, Settings, Sound};

use candidate::Candidacy;
use leader::Leadership;
use serde::{Deserialize, Serialize};
use settings::Limits;
use snapshot::{Sending, Writing};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use synod_agreement::consensus::ballot::Ballot;
use synod_agreement::consensus::quorum::majority;
use synod_core::replication::{Ask, BadSettings, Engine, Entry, Event, Parts};
use synod_core::{Cx, Data, Durable, ProcessId, ProcessSet, Protocol};

/// A leader takes in no command while this many places are open.
pub const WINDOW: usize = 4_096;

/// A process that keeps the rules `R`, with commands `C` and states `S`: acceptor, learner, and
/// sometimes proposer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Parts")]
pub struct MultiPaxos<C, S: Parts, R = Sound> {
    rules: PhantomData<R>,
    settings: Settings,
    limits: Limits,
    /// n_p, for all places: it takes part in no smaller ballot.
    promised: Option<Ballot>,
    /// The chosen entries, and the votes beyond them.
    log: Log<C, S>,
    /// The last entry that the layer above has applied.
    applied: u64,
    /// A snapshot that is being written, part by part.
    writing: Option<Box<Writing<C, S>>>,
    /// Snapshots on their way to learners, in parts: one for each at most.
    sending: BTreeMap<ProcessId, Sending<S>>,
    role: Role<C>,
    /// The greatest ballot that was heard of in a refusal.
    seen: Option<Ballot>,
    /// Whether its disk was lost, and its promises with it: it must not vote again.
    lost_disk: bool,
}

/// The role of a process beside accepting and learning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data")]
enum Role<C> {
    /// It waits for a leader, or has heard of one lately.
    Follower { leader: Option<ProcessId> },
    /// It asks whether the others hear of a leader.
    Asking { ballot: Ballot, granted: ProcessSet },
    /// It asks for promises: phase 1.
    Preparing(Box<Candidacy<C>>),
    /// It proposes: phase 2.
    Leader(Box<Leadership<C>>),
}

impl<C: Data, S: Parts> MultiPaxos<C, S> {
    /// A process before its first start.
    pub fn new(settings: Settings) -> Result<Self, BadSettings> {
        settings.check()?;
        Ok(MultiPaxos::limited(settings, Limits::NONE))
    }
}

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    fn limited(settings: Settings, limits: Limits) -> Self {
        MultiPaxos {
            rules: PhantomData,
            settings,
            limits,
            promised: None,
            log: Log::default(),
            applied: 0,
            writing: None,
            sending: BTreeMap::new(),
            role: Role::Follower { leader: None },
            seen: None,
            lost_disk: false,
        }
    }

    /// The greatest ballot that it has promised.
    pub fn promised(&self) -> Option<Ballot> {
        self.promised
    }

    /// Its log.
    pub fn log(&self) -> &Log<C, S> {
        &self.log
    }

    /// Whether it leads, as far as it knows.
    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// The ballot in which it proposes, or wants to.
    fn own_ballot(&self) -> Option<Ballot> {
        match self.role {
            Role::Preparing(_) | Role::Leader(_) => self.promised,
            Role::Follower { .. } | Role::Asking { .. } => None,
        }
    }

    /// Writes a record. Messages that are sent after it wait for the disk.
    fn save(&mut self, record: Record<C, S>, cx: &mut Cx<'_, Self>) {
        if self.limits.forgetful {
            return;
        }
        if self.limits.writes_whole {
            return self.save_all(cx);
        }
        cx.persist(&record);
        if let Some(writing) = &mut self.writing {
            writing.records += 1;
        }
    }

    /// Writes down everything, in the place of all that was written before.
    fn save_all(&mut self, cx: &mut Cx<'_, Self>) {
        self.writing = None;
        if !self.limits.forgetful {
            let (promised, log, lost_disk) = (self.promised, self.log.clone(), self.lost_disk);
            cx.checkpoint(&Record::Whole { promised, log, lost_disk });
        }
    }

    /// While records are read back: the log, and the one that begins with a snapshot, if that gets
    /// so far.
    fn replayed_logs(&mut self) -> impl Iterator<Item = &mut Log<C, S>> {
        let next = self.writing.as_mut().and_then(|writing| writing.log.as_mut());
        [&mut self.log].into_iter().chain(next)
    }

    /// Follows a leader, or waits to hear of one.
    fn follow(&mut self, leader: Option<ProcessId>, cx: &mut Cx<'_, Self>) {
        let before = std::mem::replace(&mut self.role, Role::Follower { leader });
        if let Role::Leader(leadership) = before {
            leadership.resign(cx);
        } else if self.role == before {
            return;
        }
        let term = self.promised.map_or(0, |ballot| ballot.number(cx.group_size()));
        cx.output(Event::Follows { term, leader });
    }
}

/// Whether these are a quorum of the group.
fn is_quorum<C: Data, S: Parts, R: Rules>(
    these: &ProcessSet,
    cx: &Cx<'_, MultiPaxos<C, S, R>>,
) -> bool {
    these.len() >= majority(cx.group_size())
}

impl<C: Data, S: Parts, R: Rules> Protocol for MultiPaxos<C, S, R> {
    type Input = Ask<C, S>;
    type Output = Event<C, S>;
    type Message = Message<C, S>;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if cx.has_lost_disk() {
            self.lost_disk = true;
            self.save_all(cx);
        }
        self.role = Role::Follower { leader: None };
        // A crash cut it off.
        self.writing = None;
        self.applied = self.log.first_kept();
        if let Some(state) = self.log.snapshot().state.clone() {
            cx.output(Event::Restored { index: self.applied, state });
        }
        self.apply(cx);
        self.await_leader(cx);
    }

    fn on_input(&mut self, ask: Ask<C, S>, cx: &mut Cx<'_, Self>) {
        match ask {
            Ask::Append(command) => self.propose(Entry::Command(command), cx),
            Ask::Read(number) => self.read(number, cx),
            Ask::Compact { index, state } => self.compact(index, state, cx),
            Ask::Transfer(to) => self.transfer(to, cx),
            // The group is the same for ever.
            Ask::Reconfigure(_) => {}
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<C, S>, cx: &mut Cx<'_, Self>) {
        if from == cx.me() || !message.is_sound(from, cx.group_size()) {
            return cx.accuse(from, "sent a message that no process can send");
        }
        match message {
            Message::Ask { ballot } => self.on_ask(from, ballot, cx),
            Message::Granted { ballot } => self.on_granted(from, ballot, cx),
            Message::Prepare { ballot, after } => self.on_prepare(from, ballot, after, cx),
            Message::Promise { ballot, votes, chosen } => {
                self.on_promise(from, ballot, votes, chosen, cx);
            }
            Message::Accept { ballot, after, entries, commit } => {
                if self.hears_leader(from, ballot, cx) {
                    self.on_accept(from, after, entries, commit, cx);
                }
            }
            Message::Accepted { ballot, after, last } => {
                self.on_accepted(from, ballot, after, last, cx);
            }
            Message::Heartbeat { ballot, commit, round } => {
                if self.hears_leader(from, ballot, cx) {
                    self.on_heartbeat(from, commit, round, cx);
                }
            }
            Message::Alive { ballot, round } => self.on_alive(from, ballot, round, cx),
            Message::Refused { promised } => self.on_refused(promised, cx),
            Message::Lacks { after } => self.on_lacks(from, after, cx),
            Message::Learn(chosen) => self.on_learn(from, chosen, cx),
            Message::Install { snapshot, commit } => self.on_install(from, snapshot, commit, cx),
            Message::Stand { ballot } => self.on_stand(from, ballot, cx),
            Message::InstallPart { index, part, commit } => {
                self.on_install_part(from, index, part, commit, cx);
            }
            Message::LacksPart { index, number } => self.on_lacks_part(from, index, number, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Election => self.on_election_due(cx),
            Timer::Heartbeat => self.on_heartbeat_due(cx),
            Timer::Flush => self.flush(cx),
            Timer::Snapshot => self.go_on_writing(cx),
        }
    }
}

impl<C: Data, S: Parts, R: Rules> Durable for MultiPaxos<C, S, R> {
    type Record = Record<C, S>;

    fn replay(&mut self, record: Record<C, S>) {
        match record {
            Record::Promise(ballot) => self.promised = Some(ballot),
            Record::Accept { ballot, after, entries, commit } => {
                self.promised = Some(ballot);
                for log in self.replayed_logs() {
                    log.accept(ballot, after, &entries);
                    log.choose(None, commit);
                }
            }
            Record::Learn { after, entries } => {
                for log in self.replayed_logs() {
                    log.choose(None, after);
                    log.learn(after, entries.clone());
                }
            }
            Record::Whole { promised, log, lost_disk } => {
                (self.promised, self.log, self.lost_disk) = (promised, log, lost_disk);
                self.writing = None;
            }
            Record::Begin { promised, index, lost_disk } => {
                (self.promised, self.lost_disk) = (promised, lost_disk);
                self.replay_begin(index);
            }
            Record::Part(part) => self.replay_part(part),
        }
    }
}

impl<C: Data, S: Parts, R: Rules> Engine<C, S> for MultiPaxos<C, S, R> {
    fn whom_to_ask(&self, me: ProcessId, _tries: u32) -> ProcessSet {
        let leader = match &self.role {
            Role::Leader(_) => Some(me),
            Role::Follower { leader } => *leader,
            Role::Asking { .. } | Role::Preparing(_) => None,
        };
        leader.into_iter().collect()
    }

    fn answers(&self, _me: ProcessId) -> bool {
        self.leads()
    }

    fn room(&self) -> usize {
        match &self.role {
            Role::Leader(leadership) => WINDOW.saturating_sub(leadership.open(self.log.commit())),
            _ => 0,
        }
    }
}
