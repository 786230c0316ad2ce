//! Links to the other nodes.
//!
//! Each node dials each other node, and sends on the connection that it dialled; what it receives
//! comes on the connection that the other one dialled. The receiver sends a *pulse* back ten times
//! a second. A dialler that misses the pulses closes the connection and dials again, because TCP
//! repeats ever more rarely what a cut network loses: a connection that is kept would make the
//! merge as slow as the cut was long.
//!
//! A message for a node that is not connected is dropped. So is a message that finds its queue
//! full. Protocols repeat what was lost; a queue without a bound would only make it late.
//!
//! # Layout
//! - `frame`: the format of messages on a connection, and the handshake
//! - `dial`: the connections that this node sends on
//! - `accept`: the connections that this node receives on
//! - `secure`: encryption, and proofs of names
//! - `faults`: cuts, losses and delays that are made on purpose

mod accept;
mod dial;
mod faults;
mod frame;
mod secure;

pub(crate) use faults::Fault;
use faults::Faulty;
pub(crate) use frame::ClusterId;
pub(crate) use secure::Security;
pub use secure::{BadCertificates, Certificates};

use crate::clock::NodeClock;
use crate::report::Reporter;

use frame::Hello;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use synod_core::ProcessId;
use tokio::sync::Notify;

/// The process that a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The group engine.
    Group = 1,
    /// The registry.
    Registry = 2,
}

/// Bytes that wait for one node, at most. The window of the group engine is smaller.
const MOST_WAITING: usize = 32 << 20;
/// The time between two pulses.
const PULSE: Duration = Duration::from_millis(100);
/// A connection without a pulse for this time is closed.
const SILENCE: Duration = Duration::from_millis(450);

/// Takes in the messages of other nodes.
pub(crate) trait Receiver: Send + Sync {
    /// A message arrives. Returns false if it cannot be read.
    fn receive(&self, from: ProcessId, channel: Channel, bytes: &[u8]) -> bool;

    /// The process at the other end of a connection closed it, or is gone.
    fn on_reset(&self, from: ProcessId);
}

/// What waits for one node.
#[derive(Debug, Default)]
struct Queue {
    /// Whether a connection is open that will take it.
    is_open: bool,
    /// Signs of life and messages of the registry go first: they are few, and others wait for them.
    urgent: Vec<u8>,
    bulk: Vec<u8>,
    /// Messages that a fault delays, with the time at which they go on.
    delayed: VecDeque<(u64, bool, Vec<u8>)>,
    dropped: u64,
}

/// Another node.
#[derive(Debug)]
struct Peer {
    queue: Mutex<Queue>,
    /// A message waits in the queue, or the address or the fault has changed.
    wake: Notify,
    /// Its name and its address.
    address: Mutex<Option<(String, SocketAddr)>>,
    fault: Mutex<Faulty>,
    /// The number of the newest connection that the other node dialled.
    accepted: Mutex<u64>,
    /// The latest life in which it dialled.
    life: Mutex<u32>,
}

/// The links of a node.
pub(crate) struct Links {
    hello: Hello,
    clock: NodeClock,
    peers: Vec<Peer>,
    security: Security,
    reporter: Reporter,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Links {
    /// The links of the node `me`, which lives its life `incarnation`, to at most `n` nodes.
    pub(crate) fn new(
        cluster: ClusterId,
        (me, incarnation): (ProcessId, u32),
        n: usize,
        security: Security,
        (clock, reporter): (NodeClock, Reporter),
    ) -> Self {
        let peer = || Peer {
            queue: Mutex::default(),
            wake: Notify::new(),
            address: Mutex::default(),
            fault: Mutex::default(),
            accepted: Mutex::default(),
            life: Mutex::default(),
        };
        let peers = (0..n).map(|_| peer()).collect();
        Links { hello: Hello { cluster, from: me, incarnation }, clock, peers, security, reporter }
    }

    /// The other node has this name, and listens at this address.
    pub(crate) fn set_address(&self, node: ProcessId, address: Option<(&str, SocketAddr)>) {
        if node == self.hello.from {
            return;
        }
        if let Some(peer) = self.peers.get(node.index()) {
            *locked(&peer.address) = address.map(|(name, address)| (name.to_owned(), address));
            peer.wake.notify_one();
        }
    }

    /// Whether no later life of the node has dialled. A node whose directory was removed, or
    /// replaced by an older copy, does not know what it has promised.
    fn is_latest_life(&self, node: ProcessId, incarnation: u32) -> bool {
        let Some(peer) = self.peers.get(node.index()) else { return false };
        let mut life = locked(&peer.life);
        *life = (*life).max(incarnation);
        *life == incarnation
    }

    /// The name of a node of the cluster.
    fn name_of(&self, node: ProcessId) -> Option<String> {
        let peer = self.peers.get(node.index())?;
        locked(&peer.address).as_ref().map(|(name, _)| name.clone())
    }

    /// Queues a message for a node.
    pub(crate) fn post(&self, to: ProcessId, channel: Channel, urgent: bool, body: &[u8]) {
        let Some(peer) = self.peers.get(to.index()) else { return };
        let delay_us = match locked(&peer.fault).on_send() {
            faults::Passage::Lost => return,
            faults::Passage::After(delay_us) => delay_us,
        };
        let queue = &mut *locked(&peer.queue);
        if !queue.is_open {
            return;
        }
        if queue.len() + body.len() > MOST_WAITING {
            queue.dropped += 1;
            return;
        }
        if delay_us > 0 {
            let mut bytes = Vec::with_capacity(body.len() + frame::HEAD);
            frame::write(&mut bytes, channel, body);
            queue.delayed.push_back((self.clock.now_us() + delay_us, urgent, bytes));
        } else {
            frame::write(if urgent { &mut queue.urgent } else { &mut queue.bulk }, channel, body);
        }
        peer.wake.notify_one();
    }

    /// A peer broke a protocol.
    pub(crate) fn accuse(&self, who: ProcessId, why: &'static str) {
        self.reporter.once(format!("{who} {why}"));
    }

    /// Dials all nodes, and receives from them, until the future is dropped.
    pub(crate) async fn run(
        self: Arc<Self>,
        listener: tokio::net::TcpListener,
        receiver: Arc<dyn Receiver>,
    ) {
        for node in (0..self.peers.len()).map(|node| ProcessId(node as u32)) {
            if node != self.hello.from {
                tokio::task::spawn_local(dial::keep(self.clone(), node, receiver.clone()));
            }
        }
        accept::all(self, listener, receiver).await;
    }
}

impl Queue {
    fn len(&self) -> usize {
        let delayed: usize = self.delayed.iter().map(|(_, _, bytes)| bytes.len()).sum();
        self.urgent.len() + self.bulk.len() + delayed
    }

    /// Moves the delayed messages that are due. Returns when the next one is.
    fn release(&mut self, now_us: u64) -> Option<u64> {
        while let Some((due_us, ..)) = self.delayed.front() {
            if *due_us > now_us {
                return Some(*due_us);
            }
            let (_, urgent, bytes) = self.delayed.pop_front()?;
            let to = if urgent { &mut self.urgent } else { &mut self.bulk };
            to.extend_from_slice(&bytes);
        }
        None
    }

    /// Takes the bytes to send now: signs of life first.
    fn take(&mut self, spare: &mut Vec<u8>) {
        spare.clear();
        if self.urgent.is_empty() {
            std::mem::swap(spare, &mut self.bulk);
        } else {
            std::mem::swap(spare, &mut self.urgent);
            spare.append(&mut self.bulk);
        }
    }

    fn reset(&mut self, is_open: bool) {
        *self = Queue { is_open, dropped: self.dropped, ..Queue::default() };
    }
}
