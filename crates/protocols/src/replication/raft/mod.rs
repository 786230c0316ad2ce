//! Raft: one leader, elected for a term, writes the log, and the others copy it.
//!
//! A follower that hears of no leader for a while stands for election in a new term, and leads if a
//! majority votes for it. Everybody votes once in a term, and only for a log that is at least as good
//! as its own: so whoever leads has everything that was ever committed. The leader appends what it is
//! asked to, sends it to all, and takes it for committed once a majority has it on disk; an entry of an
//! earlier term only together with one of its own. A follower whose log differs takes the leader's.
//!
//! - Assumes: processes crash and start again with their disks; messages are lost, doubled, late and
//!   out of order. A server that lost its disk goes on copying, but votes no more.
//! - Guarantees: one leader in a term; the same log everywhere; requests are linearizable. They are
//!   answered as long as a majority of voters is up, and they hear each other quicker than the time
//!   before an election; or if one of them hears the others, and its log is as good as theirs. Reads by
//!   `lease` presume besides that clocks run alike.
//! - Cost: for each request 2(N − 1) messages, two hops until it is committed at the leader, and one
//!   write to the disk of each server; nothing is sent twice if nothing is lost. An election takes
//!   2(N − 1) messages, and as many again to ask first.
//! - State: the log since the last snapshot; at most [`WINDOW`] entries that are not committed.
//!
//! The vote and the log go to the disk before anybody hears of them; a leader may count its own copy at
//! once, because whatever it says then waits for its disk.
//!
//! Source: D. Ongaro, J. Ousterhout: In search of an understandable consensus algorithm. USENIX ATC
//! 2014. D. Ongaro: Consensus: bridging theory and practice. Stanford, 2014 (chapters 3, 4, 6, 10: the
//! rules' numbers below are its figures').

mod append;
mod card;
mod change;
mod election;
mod leadership;
mod log;
mod message;
pub mod mutants;
mod reads;
mod settings;

pub use card::Server;
pub use log::{Line, Log, Position, Snapshot};
pub use message::{Message, Record, Timer};
pub use settings::{Rules, Sound};

use leadership::Leadership;
use serde::{Deserialize, Serialize};
use settings::Settings;
use std::marker::PhantomData;
use synod_core::replication::{Ask, Engine, Entry, Event};
use synod_core::{Cx, Data, Durable, ProcessId, ProcessSet, Protocol, Reductions};

/// A leader takes in no more while so many entries are not committed.
pub const WINDOW: usize = 4_096;

/// A server that keeps the rules `R`, with commands `C` and states `S`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Data")]
pub struct Raft<R, C, S> {
    rules: PhantomData<R>,
    settings: Settings,
    /// The current term.
    term: u64,
    /// Who got our vote in it.
    vote: Option<ProcessId>,
    log: Log<C, S>,
    /// How far the log is known to be committed.
    commit: u64,
    /// How far it was told to the layer above.
    told: u64,
    role: Role,
    /// Whether our disk was lost: what we promised before is not known any more.
    forgot: bool,
}

/// What a server does in its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Role {
    /// It copies what the leader writes.
    Follower {
        leader: Option<ProcessId>,
        /// Whether it waits for the leader, of whom it heard lately, and for nobody else.
        patient: bool,
    },
    /// It wants to lead.
    Candidate {
        /// Whether it only asks whether it would be elected.
        asks_first: bool,
        votes: ProcessSet,
    },
    /// It writes the log.
    Leader(Box<Leadership>),
}

impl<R: Rules, C: Data, S: Data> Raft<R, C, S> {
    /// A server that is in this term, with empty lines of these terms in its log.
    fn new(settings: Settings, term: u64, terms: &[u64]) -> Self {
        let mut log = Log::new(settings.voters.clone());
        terms.iter().for_each(|term| log.push(Line { term: *term, entry: Entry::Nothing }));
        Raft {
            rules: PhantomData,
            log,
            settings,
            term,
            vote: None,
            commit: 0,
            told: 0,
            role: Role::Follower { leader: None, patient: false },
            forgot: false,
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

    /// How far the log is known to be committed.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// Whether it leads.
    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// Whether these are a majority of those who vote.
    fn is_majority(&self, these: &ProcessSet) -> bool {
        let voters = self.log.voters();
        2 * voters.iter().filter(|at| these.contains(*at)).count() > voters.len()
    }

    /// Writes down the term and the vote.
    fn save_ballot(&self, cx: &mut Cx<'_, Self>) {
        if self.settings.writes_whole {
            self.save_all(cx);
        } else {
            cx.persist(&Record::Ballot { term: self.term, vote: self.vote });
        }
    }

    /// Writes down the lines after a place.
    fn save_after(&self, after: u64, cx: &mut Cx<'_, Self>) {
        let lines = self.log.after(after, usize::MAX).unwrap_or_default();
        if self.settings.writes_whole {
            self.save_all(cx);
        } else if !lines.is_empty() {
            cx.persist(&Record::Append { after, lines: lines.to_vec() });
        }
    }

    /// Writes down everything, in the place of all that was written before.
    fn save_all(&self, cx: &mut Cx<'_, Self>) {
        let keeps = R::KEEPS_VOTES || !self.settings.writes_whole;
        let (term, vote) =
            if keeps { (self.term, self.vote) } else { (self.log.last().term, None) };
        let (snapshot, lines) = (self.log.snapshot().clone(), self.log.lines().to_vec());
        cx.checkpoint(&Record::Whole { term, vote, snapshot, lines, forgot: self.forgot });
    }

    /// Tells the layer above what is committed.
    fn tell(&mut self, cx: &mut Cx<'_, Self>) {
        while self.told < self.commit {
            self.told += 1;
            let line = self.log.line(self.told).expect("what is committed and not told is kept");
            cx.output(Event::Committed { index: self.told, entry: line.entry.clone() });
        }
    }

    /// A greater term: whatever we were, we follow.
    fn enter(&mut self, term: u64, cx: &mut Cx<'_, Self>) {
        (self.term, self.vote) = (term, None);
        self.save_ballot(cx);
        let led = self.leads();
        self.follow(None, cx);
        if led {
            self.await_election(cx);
        }
    }

    /// Follows somebody in the current term, or waits to hear of somebody.
    fn follow(&mut self, leader: Option<ProcessId>, cx: &mut Cx<'_, Self>) {
        let role = Role::Follower { leader, patient: leader.is_some() };
        let before = std::mem::replace(&mut self.role, role);
        if let Role::Leader(leadership) = before {
            leadership.resign(cx);
        } else if self.role == before {
            return;
        }
        cx.output(Event::Follows { term: self.term, leader });
    }
}

impl<R: Rules, C: Data, S: Data> Protocol for Raft<R, C, S> {
    type Input = Ask<C, S>;
    type Output = Event<C, S>;
    type Message = Message<C, S>;
    type Timer = Timer;

    const REDUCTIONS: Reductions<Self> =
        Reductions { ignores: Some(Self::ignores), ..Reductions::NONE };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        if cx.has_lost_disk() {
            self.forgot = true;
            self.save_all(cx);
        }
        // Before this life we may have promised a leader to wait for it.
        let patient = self.settings.leases && cx.incarnation() > 1;
        self.role = Role::Follower { leader: None, patient };
        let Snapshot { last, state, .. } = self.log.snapshot().clone();
        (self.commit, self.told) = (last.index, last.index);
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
            return cx.accuse(from, "counts farther than anybody lives");
        }
        if self.is_disturbance(&message) {
            return;
        }
        if let Some(term) = message.term().filter(|term| *term > self.term) {
            self.enter(term, cx);
        }
        match message {
            Message::RequestVote { term, pre: true, last, .. } => {
                self.on_question(from, term, last, cx);
            }
            Message::RequestVote { term, last, .. } => self.on_request_vote(from, term, last, cx),
            Message::Vote { term, pre, granted } => self.on_vote(from, term, pre, granted, cx),
            Message::Append { term, after, lines, commit, round } => {
                if self.hears_leader(from, term, round, cx) {
                    self.on_append(from, after, lines, commit, round, cx);
                }
            }
            Message::Install { term, snapshot, round } => {
                if self.hears_leader(from, term, round, cx) {
                    self.on_install(from, snapshot, round, cx);
                }
            }
            Message::Appended { term, outcome, round } if term == self.term => {
                self.on_appended(from, outcome, round, cx);
            }
            Message::TimeoutNow { term } if term == self.term => self.on_timeout_now(from, cx),
            Message::Appended { .. } | Message::TimeoutNow { .. } => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Election => self.on_election_due(cx),
            Timer::Heartbeat => self.on_heartbeat_due(cx),
            Timer::Flush => self.flush(cx),
            Timer::Lease(round) => self.on_lease_over(round),
        }
    }
}

impl<R: Rules, C: Data, S: Data> Raft<R, C, S> {
    /// Terms only grow, and nobody is a candidate twice in one, nor leads twice in it.
    fn ignores(&self, _from: ProcessId, message: &Message<C, S>) -> bool {
        let waits_for = |term: u64, role: bool| term > self.term || term == self.term && role;
        match message {
            Message::Vote { term, pre: false, granted } => {
                let stands = matches!(self.role, Role::Candidate { asks_first: false, .. });
                !waits_for(*term, *granted && stands)
            }
            Message::Appended { term, .. } => !waits_for(*term, self.leads()),
            Message::TimeoutNow { term } => *term < self.term,
            _ => false,
        }
    }
}

impl<R: Rules, C: Data, S: Data> Durable for Raft<R, C, S> {
    type Record = Record<C, S>;

    fn replay(&mut self, record: Record<C, S>) {
        match record {
            Record::Ballot { term, vote } => (self.term, self.vote) = (term, vote),
            Record::Append { after, lines } => {
                self.log.replace_after(after, &lines);
            }
            Record::Whole { term, vote, snapshot, lines, forgot } => {
                (self.term, self.vote, self.forgot) = (term, vote, forgot);
                self.log = Log::restored(snapshot, lines);
            }
        }
    }
}

impl<R: Rules, C: Data, S: Data> Engine<C, S> for Raft<R, C, S> {
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
