//! Servers with their disks, and the messages between them.

mod paper;
mod parts;

use super::*;
use std::collections::VecDeque;
use synod_core::replication::Map;
use synod_core::{Effect, durable, step};

/// A server whose commands are numbers and whose state is a map.
type Server = Raft<u8, Map<u16, u8>>;
type Said = Message<u8, Map<u16, u8>>;
type Effects = Vec<Effect<Said, Timer, Event<u8, Map<u16, u8>>>>;

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);
const P2: ProcessId = ProcessId(2);

fn settings(n: usize) -> Settings {
    let voters = ProcessSet::all(n);
    Settings { pre_vote: false, batches: false, ..Settings::new(voters) }
}

/// A server of a group, its disk, and what came of its steps.
struct Watched {
    me: ProcessId,
    n: usize,
    settings: Settings,
    server: Server,
    disk: Vec<durable::Record>,
    sent: VecDeque<(ProcessId, Said)>,
    outputs: Vec<Event<u8, Map<u16, u8>>>,
    timers: Vec<(Timer, u64)>,
    accused: Vec<ProcessId>,
}

impl Watched {
    /// A server that has started, in this term, with empty entries of these terms in its log.
    fn with(me: ProcessId, settings: Settings, term: u64, terms: &[u64]) -> Self {
        let n = settings.voters.len();
        let server = Raft::limited(settings.clone(), Limits::NONE, term, terms);
        let mut watched = Watched {
            me,
            n,
            settings,
            server,
            disk: Vec::new(),
            sent: VecDeque::new(),
            outputs: Vec::new(),
            timers: Vec::new(),
            accused: Vec::new(),
        };
        watched.does(|server, cx| server.on_start(cx));
        watched
    }

    fn new(me: ProcessId, n: usize) -> Self {
        Watched::with(me, settings(n), 0, &[])
    }

    /// A server of three that leads in term 1, and has sent its first entry.
    fn leader() -> Self {
        let mut leader = Watched::new(P0, 3);
        leader.fires(Timer::Election);
        leader.hears(P1, vote(1, true));
        assert!(leader.server.leads());
        leader
    }

    /// A server of this group that is elected in the next term.
    fn elected(me: ProcessId, n: usize, term: u64, terms: &[u64]) -> Self {
        let mut server = Watched::with(me, settings(n), term, terms);
        server.fires(Timer::Election);
        for other in ProcessId::all(n).filter(|other| *other != me) {
            server.hears(other, vote(term + 1, true));
        }
        assert!(server.server.leads());
        server
    }

    fn does(&mut self, run: impl FnOnce(&mut Server, &mut Cx<'_, Server>)) {
        let effects: Effects = step(self.me, self.n, |cx| run(&mut self.server, cx));
        for effect in effects {
            match effect {
                Effect::Send { to, message } => self.sent.push_back((to, message)),
                Effect::Multicast { to, message } => {
                    self.sent.extend(to.iter().map(|to| (to, message.clone())));
                }
                Effect::Persist(record) => self.disk.push(record),
                Effect::Checkpoint { record, keep } => {
                    self.disk.drain(..self.disk.len() - keep as usize);
                    self.disk.push(record);
                }
                Effect::Output(event) => self.outputs.push(event),
                Effect::SetTimer { timer, after_ms } => {
                    self.timers.retain(|(set, _)| *set != timer);
                    self.timers.push((timer, after_ms));
                }
                Effect::CancelTimer(timer) => self.timers.retain(|(set, _)| *set != timer),
                Effect::Accuse { who, .. } => self.accused.push(who),
            }
        }
    }

    /// What it sends when it hears this.
    fn hears(&mut self, from: ProcessId, message: Said) -> Vec<(ProcessId, Said)> {
        self.sent.clear();
        self.does(|server, cx| server.on_message(from, message, cx));
        self.sent.iter().cloned().collect()
    }

    /// What it sends when this timer runs out.
    fn fires(&mut self, timer: Timer) -> Vec<(ProcessId, Said)> {
        self.sent.clear();
        self.timers.retain(|(set, _)| *set != timer);
        self.does(|server, cx| server.on_timer(timer, cx));
        self.sent.iter().cloned().collect()
    }

    /// What it sends when it is asked this.
    fn asked(&mut self, ask: Ask<u8, Map<u16, u8>>) -> Vec<(ProcessId, Said)> {
        self.sent.clear();
        self.does(|server, cx| server.on_input(ask, cx));
        self.sent.iter().cloned().collect()
    }

    /// The same server after a crash: what its disk has.
    fn crashed(&self) -> Server {
        let mut server = Raft::limited(self.settings.clone(), Limits::NONE, 0, &[]);
        for record in &self.disk {
            durable::replay(&mut server, record).expect("it was written like that");
        }
        server
    }

    /// The terms of the entries in its log.
    fn terms(&self) -> Vec<u64> {
        self.server.log.entries().iter().map(|(_, entry)| entry.term).collect()
    }

    fn applied(&self) -> Vec<u64> {
        let index = |event: &Event<_, _>| match event {
            Event::Committed { index, .. } => Some(*index),
            _ => None,
        };
        self.outputs.iter().filter_map(index).collect()
    }

    fn is_candidate(&self) -> bool {
        matches!(self.server.role, Role::Candidate { .. })
    }

    fn follows(&self) -> Option<Option<ProcessId>> {
        match self.server.role {
            Role::Follower { leader, .. } => Some(leader),
            _ => None,
        }
    }
}

fn vote(term: u64, granted: bool) -> Said {
    Message::Vote { term, pre: false, granted }
}

fn request_vote(term: u64, last: Position) -> Said {
    Message::RequestVote { term, pre: false, called: false, last }
}

fn at(term: u64, index: u64) -> Position {
    Position { term, index }
}

fn append(term: u64, after: Position, terms: &[u64], commit: u64) -> Said {
    let entry = |term: &u64| LogEntry { term: *term, entry: Entry::Nothing };
    let entries = terms.iter().map(entry).collect();
    Message::Append { term, after, entries, commit, round: 0 }
}

fn appended(term: u64, outcome: Outcome) -> Said {
    Message::Appended { term, outcome, round: 0 }
}
