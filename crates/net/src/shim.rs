//! The fault shim: loses, duplicates and delays messages before they reach a socket, with the same
//! distributions as the simulated network.

use crate::log;
use crate::outbox::Outbox;
use crate::wire::Parcel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use synod_core::{ProcessId, ProcessSet};
use synod_sim::network::{Chance, Network, chance, happens};

/// Limit of held bytes. Beyond it the shim releases messages early, so that its memory stays
/// bounded.
const MOST_HELD: usize = 64 << 20;

/// A delayed message. The order is that of release, then that of sending.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    due_us: u64,
    turn: u64,
    to: ProcessId,
    number: u64,
    tell: bool,
    body: Vec<u8>,
}

/// The faults between a process and its sockets.
#[derive(Debug)]
pub(crate) struct Shim {
    network: Network,
    /// Whether the network has neither faults nor delays: messages take the fast path.
    clear: bool,
    /// Whether a link keeps the order of its messages.
    ordered: bool,
    chance: Chance,
    held: BinaryHeap<Reverse<Held>>,
    held_bytes: usize,
    turn: u64,
    /// The release time of each link's last message: on an ordered link no later message leaves
    /// before it.
    free_us: Vec<u64>,
}

impl Shim {
    pub(crate) fn new(network: Network, n: usize, ordered: bool, seed: u64) -> Self {
        let clear = network.loss == 0.0
            && network.duplication == 0.0
            && network.latency.constant() == Some(0)
            && network.links.is_empty();
        Shim {
            network,
            clear,
            ordered,
            chance: chance(seed),
            held: BinaryHeap::new(),
            held_bytes: 0,
            turn: 0,
            free_us: vec![0; n],
        }
    }

    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// The release time of the next message.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.held.peek().map(|Reverse(held)| held.due_us)
    }

    /// Sends a message from `me` to each receiver, with consecutive numbers from the parcel's on.
    pub(crate) fn send(
        &mut self,
        (now_us, me): (u64, ProcessId),
        to: &ProcessSet,
        parcel: Parcel<'_>,
        outbox: &mut Outbox,
        log: &mut log::Writer,
    ) {
        if self.clear && outbox.can_share() && to.len() > 1 && !to.contains(me) {
            let receivers = to.iter().fold(0, |set, to| set | 1 << to.0);
            return outbox.put_shared(receivers, parcel);
        }
        for (number, to) in (parcel.number..).zip(to.iter()) {
            let parcel = Parcel { number, ..parcel };
            if self.clear {
                outbox.put(to, parcel);
            } else {
                self.one(now_us, (me, to), parcel, outbox, log);
            }
        }
    }

    fn one(
        &mut self,
        now_us: u64,
        (me, to): (ProcessId, ProcessId),
        parcel: Parcel<'_>,
        outbox: &mut Outbox,
        log: &mut log::Writer,
    ) {
        if happens(&mut self.chance, self.network.loss) {
            return log.lost(parcel.number);
        }
        let twice = happens(&mut self.chance, self.network.duplication);
        if twice {
            log.copied(parcel.number);
        }
        for _ in 0..1 + u32::from(twice) {
            let delay = self.network.delay(me, to, &mut self.chance);
            self.delay(now_us.saturating_add(delay), now_us, to, parcel, outbox);
        }
    }

    fn delay(
        &mut self,
        mut due_us: u64,
        now_us: u64,
        to: ProcessId,
        parcel: Parcel<'_>,
        outbox: &mut Outbox,
    ) {
        if self.ordered {
            let free = &mut self.free_us[to.index()];
            due_us = due_us.max(*free);
            *free = due_us;
        }
        if due_us <= now_us {
            return outbox.put(to, parcel);
        }
        let Parcel { number, tell, body } = parcel;
        self.held_bytes += body.len();
        let turn = self.turn;
        self.turn += 1;
        self.held.push(Reverse(Held { due_us, turn, to, number, tell, body: body.to_vec() }));
        while self.held_bytes > MOST_HELD {
            self.let_one_go(outbox);
        }
    }

    /// Releases the messages that are due.
    pub(crate) fn let_go(&mut self, now_us: u64, outbox: &mut Outbox) {
        while self.next_us().is_some_and(|due_us| due_us <= now_us) {
            self.let_one_go(outbox);
        }
    }

    fn let_one_go(&mut self, outbox: &mut Outbox) {
        if let Some(Reverse(held)) = self.held.pop() {
            self.held_bytes -= held.body.len();
            let Held { to, number, tell, body, .. } = held;
            outbox.put(to, Parcel { number, tell, body: &body });
        }
    }
}
