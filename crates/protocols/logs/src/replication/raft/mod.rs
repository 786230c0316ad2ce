//! Raft: one leader, elected for a term, writes the log, and the others copy it.
//!
//! A follower that hears of no leader for a while campaigns in the next term, and leads if a
//! majority votes for it. A server votes once in a term, and only for a candidate whose log is at
//! least as up-to-date as its own: so a leader has every entry that was ever committed. The leader
//! appends the commands that it is asked to append, sends them to all, and takes an entry for
//! committed once a majority has it on disk; an entry of an earlier term only together with one of
//! its own term. A follower whose log differs takes the leader's.
//!
//! - Assumes: processes crash and start again with their disks; messages are lost, doubled, late
//!   and out of order. A server that lost its disk goes on copying, but votes no more.
//! - Guarantees: one leader in a term; the same log everywhere; requests are linearizable. They are
//!   answered as long as a majority of voters is up, and they hear each other quicker than the time
//!   before an election; or if one of them hears the others, and its log is as good as theirs.
//!   Reads by `lease` presume besides that clocks run alike.
//! - Cost: for each request 2(N − 1) messages, two hops until it is committed at the leader, and
//!   one write to the disk of each server; nothing is sent twice if nothing is lost. An election
//!   takes 2(N − 1) messages, and as many again to ask first.
//! - State: the log since the last snapshot; at most [`WINDOW`] entries that are not committed.
//!
//! The vote and the log go to the disk before another server hears of them. A leader may count its
//! own copy at once, because the messages that it sends because of it wait for its disk.
//!
//! Source: D. Ongaro, J. Ousterhout: In search of an understandable consensus algorithm. USENIX ATC
//! 2014. D. Ongaro: Consensus: bridging theory and practice. Stanford, 2014. Figures 2 and 13 and
//! sections 5 to 8 are those of the extended version of the first; "D" stands before sections of
//! the second.

mod append;
mod card;
mod change;
mod election;
mod judge;
mod leadership;
mod log;
mod message;
pub mod mutants;
mod reads;
mod records;
mod sending;
mod settings;
mod snapshot;
#[cfg(test)]
mod tests;

pub use card::Server;
pub use log::{Log, LogEntry, Position, Snapshot};
pub use message::{Message, Outcome, Record, Timer};
pub use settings::{Rules, Settings, Sound};

use leadership::Leadership;
use serde::{Deserialize, Serialize};
use settings::Limits;
use snapshot::Writing;
use std::marker::PhantomData;
use synod_core::replication::{Ask, BadSettings, Engine, Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol, Reductions};

/// A leader takes in no command while this many entries are not committed.
pub const WINDOW: usize = 4_096;

/// A server that keeps the rules `R`, with commands `C` and states `S`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Parts")]
pub struct Raft<C, S: Parts, R = Sound> {
    rules: PhantomData<R>,
    settings: Settings,
    limits: Limits,
    /// Figure 2, currentTerm.
    term: u64,
    /// Figure 2, votedFor: the candidate that got our vote in this term.
    vote: Option<ProcessId>,
    log: Log<C, S>,
    /// Figure 2, commitIndex: the log is known to be committed up to here.
    commit: u64,
    /// Figure 2, lastApplied: the layer above has applied the log up to here.
    applied: u64,
    role: Role<S>,
    /// A snapshot that is being written, part by part.
    writing: Option<Box<Writing<C, S>>>,
    /// Whether the disk was lost, and with it the votes that this server gave. It gives none again.
    lost_disk: bool,
}

/// The role of a server in its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
enum Role<S: Parts> {
    /// It copies what the leader writes.
    Follower {
        leader: Option<ProcessId>,
        /// Whether it heard a leader within the last election timeout. Then it votes for no other.
        heard_leader: bool,
    },
    /// It campaigns.
    Candidate {
        /// Whether it has asked for pre-votes only, and has not entered the next term.
        is_pre_vote: bool,
        votes: ProcessSet,
    },
    /// It writes the log.
    Leader(Box<Leadership<S>>),
}

impl<C: Data, S: Parts> Raft<C, S> {
    /// A server before its first start.
    pub fn new(settings: Settings) -> Result<Self, BadSettings> {
        settings.check()?;
        Ok(Raft::limited(settings, Limits::NONE, 0, &[]))
    }
}

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// A server that is in this term, with empty entries of these terms in its log.
    fn limited(settings: Settings, limits: Limits, term: u64, terms: &[u64]) -> Self {
        let mut log = Log::new(settings.voters.clone());
        terms.iter().for_each(|term| log.push(LogEntry { term: *term, entry: Entry::Nothing }));
        Raft {
            rules: PhantomData,
            log,
            settings,
            limits,
            term,
            vote: None,
            commit: 0,
            applied: 0,
            writing: None,
            role: Role::Follower { leader: None, heard_leader: false },
            lost_disk: false,
        }
    }

    /// The current term.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// Its log.
    pub fn log(&self) -> &Log<C, S> {
        &self.log
    }

    /// The last entry that is known to be committed.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// Whether it leads.
    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// Whether these are a majority of the voters.
    fn is_majority(&self, these: &ProcessSet) -> bool {
        let voters = self.log.voters();
        2 * voters.iter().filter(|at| these.contains(*at)).count() > voters.len()
    }

    /// Figure 2, all servers: while commitIndex > lastApplied, the layer above applies the next
    /// entry.
    fn apply(&mut self, cx: &mut Cx<'_, Self>) {
        while self.applied < self.commit {
            self.applied += 1;
            let entry = self.log.entry(self.applied).expect("what is not applied is kept");
            cx.output(Event::Committed { index: self.applied, entry: entry.entry.clone() });
        }
    }

    /// Enters a later term, as a follower.
    fn enter(&mut self, term: u64, cx: &mut Cx<'_, Self>) {
        (self.term, self.vote) = (term, None);
        self.save_ballot(cx);
        let led = self.leads();
        self.follow(None, cx);
        if led {
            self.await_election(cx);
        }
    }

    /// Follows the leader of the current term, or waits to hear of one.
    fn follow(&mut self, leader: Option<ProcessId>, cx: &mut Cx<'_, Self>) {
        let role = Role::Follower { leader, heard_leader: leader.is_some() };
        let before = std::mem::replace(&mut self.role, role);
        if let Role::Leader(leadership) = before {
            leadership.resign(cx);
        } else if self.role == before {
            return;
        }
        cx.output(Event::Follows { term: self.term, leader });
    }
}

impl<C: Data, S: Parts, R: Rules> Protocol for Raft<C, S, R> {
    type Input = Ask<C, S>;
    type Output = Event<C, S>;
    type Message = Message<C, S>;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::ignores), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if cx.has_lost_disk() {
            self.lost_disk = true;
            self.save_all(cx);
        }
        // Before this life we may have promised a leader to wait for it.
        let heard_leader = self.settings.leases && cx.incarnation() > 1;
        self.role = Role::Follower { leader: None, heard_leader };
        let Snapshot { last, state, .. } = self.log.snapshot().clone();
        (self.commit, self.applied) = (last.index, last.index);
        // A crash cut it off.
        self.writing = None;
        if let Some(state) = state {
            cx.output(Event::Restored { index: last.index, state });
        }
        self.await_election(cx);
    }

    fn on_input(&mut self, ask: Ask<C, S>, cx: &mut Cx<'_, Self>) {
        match ask {
            Ask::Append(command) => self.append(Entry::Command(command), cx),
            Ask::Read(number) => self.read(number, cx),
            Ask::Compact { index, state } => self.compact(index, state, cx),
            Ask::Reconfigure(voters) => self.reconfigure(voters, cx),
            Ask::Transfer(to) => self.transfer(to, cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<C, S>, cx: &mut Cx<'_, Self>) {
        if message.is_far() {
            return cx.accuse(from, "sent a number that no run reaches");
        }
        // Section 6: a server that hears the leader disregards candidates.
        if self.is_disturbance(&message) {
            return;
        }
        // Figure 2, all servers: a message of a later term converts its receiver to follower.
        if let Some(term) = message.term().filter(|term| *term > self.term) {
            self.enter(term, cx);
        }
        match message {
            // D 9.6: pre-votes.
            Message::RequestVote { term, pre: true, last, .. } => {
                self.on_request_pre_vote(from, term, last, cx);
            }
            // Figure 2, RequestVote RPC.
            Message::RequestVote { term, last, .. } => self.on_request_vote(from, term, last, cx),
            // Figure 2, candidates: votes from a majority of servers.
            Message::Vote { term, pre, granted } => self.on_vote(from, term, pre, granted, cx),
            // Figure 2, AppendEntries RPC.
            Message::Append { term, after, entries, commit, round } => {
                if self.hears_leader(from, term, round, cx) {
                    self.on_append(from, after, entries, commit, round, cx);
                }
            }
            // Figure 13, InstallSnapshot RPC.
            Message::Install { term, snapshot, round } => {
                if self.hears_leader(from, term, round, cx) {
                    self.on_install(from, snapshot, round, cx);
                }
            }
            // Figure 2, leaders: update nextIndex and matchIndex, and retry if the logs differ.
            Message::Appended { term, outcome, round } if term == self.term => {
                self.on_appended(from, outcome, round, cx);
            }
            // D 3.10: leadership transfer.
            Message::TimeoutNow { term } if term == self.term => self.on_timeout_now(from, cx),
            // Figure 13, in chunks.
            Message::InstallPart { term, last, voters, part, round } => {
                if self.hears_leader(from, term, round, cx) {
                    self.on_install_part(from, (last, voters), part, round, cx);
                }
            }
            Message::PartTaken { term, last, next, round } if term == self.term => {
                self.on_part_taken(from, last, next, round, cx);
            }
            Message::Appended { .. } | Message::PartTaken { .. } | Message::TimeoutNow { .. } => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            // Figure 2, followers and candidates: the election timeout elapses.
            Timer::Election => self.on_election_due(cx),
            // Figure 2, leaders: repeat during idle periods.
            Timer::Heartbeat => self.on_heartbeat_due(cx),
            Timer::Flush => self.flush(cx),
            // D 6.4.1: reads by a lease.
            Timer::Lease(round) => self.on_lease_over(round),
            Timer::Snapshot => self.go_on_writing(cx),
        }
    }
}

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Terms only grow, and no server is a candidate twice in one, nor leads twice in it.
    fn ignores(&self, _from: ProcessId, message: &Message<C, S>) -> bool {
        let waits_for = |term: u64, role: bool| term > self.term || term == self.term && role;
        match message {
            Message::Vote { term, pre: false, granted } => {
                let campaigns = matches!(self.role, Role::Candidate { is_pre_vote: false, .. });
                !waits_for(*term, *granted && campaigns)
            }
            Message::Appended { term, .. } => !waits_for(*term, self.leads()),
            Message::TimeoutNow { term } => *term < self.term,
            _ => false,
        }
    }
}

impl<C: Data, S: Parts, R: Rules> Engine<C, S> for Raft<C, S, R> {
    fn whom_to_ask(&self, me: ProcessId, _tries: u32) -> ProcessSet {
        let leader = match &self.role {
            Role::Leader(_) => Some(me),
            Role::Follower { leader, .. } => *leader,
            Role::Candidate { .. } => None,
        };
        leader.into_iter().collect()
    }

    fn answers(&self, _me: ProcessId) -> bool {
        self.leads()
    }

    fn room(&self) -> usize {
        match self.role {
            Role::Leader(_) => {
                WINDOW.saturating_sub((self.log.last_index() - self.commit) as usize)
            }
            _ => 0,
        }
    }
}
