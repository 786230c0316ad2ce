//! The timing of the authors' simulation. Every node has one turn in a round, in a fixed order. In
//! it, the node reads one message if there is one, then ends the uses that are due, and makes the
//! claims that are due. Sending a multicast takes the rest of the turn, and the remaining work
//! waits for the next one. A node in the middle puts multicasts in order and hands them to all
//! members at once.

use crate::measure::{Measured, Meter};
use crate::members::{Held, Members, Sent, member};
use crate::membership::{Membership, joins_in};
use crate::policy::{Policy, Program};
use crate::settings::{Arrivals, Settings, Start};
use crate::workload::{ROUND, Time, Workload};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use synod_core::family::slots::{Input, SlotId};
use synod_core::group::{Delivery, View};

/// The next turn of a node without messages to send.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Read, then work.
    Read,
    /// The same, but there was no message to read when the last turn ended. If there is one now,
    /// the node wakes up, and reads in the turn after.
    Poll,
    /// Work: it has read, and sent a message because of that.
    Work,
    /// Rest: it has sent a message because of its work.
    Rest,
}

/// An entry that the node in the middle hands out.
enum Entry<M> {
    Multicast(Delivery<M>),
    /// For each member its own view.
    Views(Vec<(usize, View)>),
}

struct Node<M> {
    next: Next,
    /// The number of entries it has read.
    read: usize,
    next_claim: Time,
    /// The messages it has still to send.
    outbox: VecDeque<Sent<M>>,
    /// The number of passes of its loop.
    passes: u64,
    /// The slots in use, and the ends of their uses.
    ends: BinaryHeap<Reverse<End>>,
}

/// The end of a use: time and slot. A slot has one use at a time, so the slot tells ends apart.
struct End {
    due: u64,
    held: Held,
}

impl End {
    fn key(&self) -> (u64, SlotId) {
        (self.due, self.held.0)
    }
}

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for End {}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for End {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

struct Turns<'a, S: Policy> {
    settings: &'a Settings,
    program: Program,
    members: Members<S>,
    nodes: Vec<Node<S::Message>>,
    workload: Workload,
    /// The entries that some member has not read yet; `dropped` entries came before.
    log: VecDeque<Entry<S::Message>>,
    dropped: usize,
    now: Time,
}

/// Drives services for the length of the settings.
pub(crate) fn run<S: Policy>(
    settings: &Settings,
    seed: u64,
    services: Vec<S>,
    progress: &dyn Fn(u64),
) -> Measured {
    let meter = Meter::new(settings.nodes, settings.slots, settings.warm_up, settings.sample_every);
    let mut workload = Workload::new(settings, seed);
    let node = |node| Node {
        next: Next::Poll,
        read: usize::MAX,
        next_claim: workload.next(node, joins_in(settings, node) * ROUND),
        outbox: VecDeque::new(),
        passes: 0,
        ends: BinaryHeap::new(),
    };
    let nodes = (0..settings.nodes).map(node).collect();
    let mut turns = Turns {
        settings,
        program: services.first().map(Policy::program).unwrap_or_default(),
        members: Members::new(services, meter),
        nodes,
        workload,
        log: VecDeque::new(),
        dropped: 0,
        now: 0,
    };
    let mut membership = Membership::new(settings);
    let last = settings.warm_up + settings.rounds;
    for round in 0..last {
        turns.now = round * ROUND;
        turns.begin(round, &mut membership);
        for node in 0..settings.nodes {
            turns.turn(node);
        }
        turns.end(round);
        if round.is_multiple_of(1_000) {
            progress(round);
        }
    }
    turns.members.finish(last, false)
}

impl<S: Policy> Turns<'_, S> {
    fn begin(&mut self, round: u64, membership: &mut Membership) {
        let views = membership.changes(round);
        if !views.is_empty() {
            let place = self.dropped + self.log.len();
            for (node, _) in &views {
                self.nodes[*node].read = self.nodes[*node].read.min(place);
            }
            self.log.push_back(Entry::Views(views));
        }
        if self.workload.moves(round) {
            self.workload.reheat(round);
            for node in 0..self.nodes.len() {
                // The next claim was drawn with the old rates.
                self.nodes[node].next_claim = self.workload.next(node, self.now);
            }
        }
    }

    fn turn(&mut self, node: usize) {
        // This node has not joined yet.
        if self.nodes[node].read == usize::MAX {
            return;
        }
        if let Some(sent) = self.nodes[node].outbox.pop_front() {
            self.hand_out(sent);
            if !self.nodes[node].outbox.is_empty() {
                return;
            }
        }
        match self.nodes[node].next {
            Next::Poll if self.unread(node) => self.nodes[node].next = Next::Read,
            Next::Read | Next::Poll => {
                self.read(node);
                self.begin_uses();
                if self.sends(node) {
                    self.nodes[node].next = Next::Work;
                } else {
                    self.work(node);
                }
            }
            Next::Work => self.work(node),
            Next::Rest => self.rest(node),
        }
    }

    /// The turn is over, and no work is left.
    fn rest(&mut self, node: usize) {
        self.nodes[node].next = if self.unread(node) { Next::Read } else { Next::Poll };
    }

    fn unread(&self, node: usize) -> bool {
        self.nodes[node].read < self.dropped + self.log.len()
    }

    /// Keeps the messages of a step: each send ends a turn, and the message goes out in the next.
    fn sends(&mut self, node: usize) -> bool {
        let outbox = &mut self.nodes[node].outbox;
        if !self.members.sent.is_empty() {
            outbox.append(&mut self.members.sent);
        }
        !outbox.is_empty()
    }

    fn hand_out(&mut self, Sent { by, level, message }: Sent<S::Message>) {
        if let Some(sent_in) = self.members.view_of(by) {
            let delivery = Delivery { sender: member(by), sent_in, level, message };
            self.log.push_back(Entry::Multicast(delivery));
        }
    }

    fn read(&mut self, node: usize) {
        let place = self.nodes[node].read - self.dropped;
        let Some(entry) = self.log.get(place) else { return };
        self.nodes[node].read += 1;
        match entry {
            Entry::Multicast(delivery) => {
                self.members.deliver(node, self.now, delivery.clone());
            }
            Entry::Views(views) => {
                let Some((_, view)) = views.iter().find(|(to, _)| *to == node) else { return };
                self.members.view(node, self.now, view);
                if view.members.len() == 1 && self.settings.start != Start::Together {
                    self.members.order(node, self.now, Input::Bootstrap);
                }
            }
        }
    }

    fn work(&mut self, node: usize) {
        while self.members.timers.next().is_some_and(|due| due <= self.now) {
            self.members.run_out(self.now);
        }
        self.nodes[node].passes += 1;
        if self.program.ends_first {
            self.end_uses(node);
        }
        self.make_claims(node);
        if !self.program.ends_first {
            self.end_uses(node);
        }
        self.begin_uses();
        self.members.manage(node, self.now);
        if self.sends(node) {
            self.nodes[node].next = Next::Rest;
        } else {
            self.rest(node);
        }
    }

    /// The time by which lifetimes are counted.
    fn time_of(&self, node: usize) -> u64 {
        if self.program.counts_passes { self.nodes[node].passes } else { self.now / ROUND }
    }

    fn end_uses(&mut self, node: usize) {
        let time = self.time_of(node);
        while let Some(Reverse(end)) = self.nodes[node].ends.peek()
            && end.due <= time
        {
            let Some(Reverse(end)) = self.nodes[node].ends.pop() else { break };
            self.members.release(node, self.now, end.held);
        }
    }

    fn make_claims(&mut self, node: usize) {
        while self.nodes[node].next_claim <= self.now {
            let last = match self.settings.arrivals {
                // The gap to the next claim is counted from this one, late or not.
                Arrivals::Authors => self.now,
                Arrivals::Poisson { .. } => self.nodes[node].next_claim,
            };
            self.nodes[node].next_claim = self.workload.next(node, last);
            if let Some(rounds) = self.settings.wait {
                self.members.claim_within(node, self.now, rounds);
                continue;
            }
            if let Some(held) = self.members.claim(node, self.now) {
                self.begin_use(node, held);
            }
        }
    }

    fn begin_use(&mut self, node: usize, held: Held) {
        let due = self.time_of(node) + self.workload.life(node) / ROUND;
        self.nodes[node].ends.push(Reverse(End { due, held }));
    }

    /// Begins the uses of slots that claims have waited for.
    fn begin_uses(&mut self) {
        while let Some((node, held)) = self.members.served() {
            self.begin_use(node, held);
        }
    }

    fn end(&mut self, round: u64) {
        let handed_out = self.dropped + self.log.len();
        let (mut first, mut waiting) = (handed_out, 0);
        for node in self.nodes.iter().filter(|node| node.read != usize::MAX) {
            first = first.min(node.read);
            waiting += handed_out - node.read;
        }
        // A member that joins later reads no earlier entry.
        for _ in self.dropped..first {
            self.log.pop_front();
            self.dropped += 1;
        }
        self.members.end(round, waiting as f64 / self.nodes.len() as f64);
    }
}
