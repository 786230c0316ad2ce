//! The unsent messages, by receiver.

use crate::wire::{Parcel, room_for, write_parcel};
use std::collections::VecDeque;
use synod_core::ProcessId;

/// Limit of one datagram, below the 65,507 bytes that IPv4 allows.
pub(crate) const LARGEST_DATAGRAM: usize = 60_000;

/// Sent bytes are removed from the front of a queue when there are more than this: removing moves
/// all the others, so it must be rare.
const TIDY_UP: usize = 1 << 20;

/// Bytes for one receiver.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes at the front that are sent.
    pub(crate) gone: usize,
    /// The start of each unsent datagram in `bytes`.
    pub(crate) datagrams: VecDeque<usize>,
    /// Whether the link is closed: messages for this receiver are dropped.
    pub(crate) closed: bool,
}

impl Queue {
    /// The number of unsent bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.gone
    }

    /// The socket took `count` bytes.
    pub(crate) fn advance(&mut self, count: usize) {
        self.gone += count;
        if self.gone == self.bytes.len() {
            self.bytes.clear();
            self.gone = 0;
            self.datagrams.clear();
        } else if self.gone > TIDY_UP {
            self.bytes.drain(..self.gone);
            self.datagrams.iter_mut().for_each(|start| *start -= self.gone);
            self.gone = 0;
        }
    }

    /// The next unsent datagram.
    pub(crate) fn datagram(&self) -> Option<&[u8]> {
        let first = *self.datagrams.front()?;
        let end = self.datagrams.get(1).copied().unwrap_or(self.bytes.len());
        self.bytes.get(first..end)
    }

    /// The socket took the next datagram.
    pub(crate) fn datagram_gone(&mut self) {
        let length = self.datagram().map_or(0, <[u8]>::len);
        self.datagrams.pop_front();
        self.advance(length);
    }

    /// The link is closed: drops the unsent bytes and all that follow.
    pub(crate) fn close(&mut self) {
        *self = Queue { closed: true, ..Queue::default() };
    }
}

/// A message of the process to itself, which goes through no socket.
#[derive(Debug)]
pub(crate) struct ToMyself {
    pub(crate) number: u64,
    pub(crate) tell: bool,
    pub(crate) body: Vec<u8>,
}

/// The unsent messages of a member.
#[derive(Debug)]
pub(crate) struct Outbox {
    me: ProcessId,
    pub(crate) queues: Vec<Queue>,
    /// For IP multicast to all members, if the medium has it.
    pub(crate) shared: Option<Queue>,
    pub(crate) to_myself: VecDeque<ToMyself>,
    /// The first bytes of each datagram; None on streams.
    head: Option<Vec<u8>>,
    /// The number of parcels for each receiver, of all parcels, and of their bytes.
    pub(crate) sent: Vec<u64>,
    pub(crate) parcels: u64,
    pub(crate) bytes: u64,
}

impl Outbox {
    /// An outbox for a group of `n`. Each datagram begins with `head`; streams have none.
    pub(crate) fn new(me: ProcessId, n: usize, head: Option<Vec<u8>>, shared: bool) -> Self {
        Outbox {
            me,
            queues: (0..n).map(|_| Queue::default()).collect(),
            shared: shared.then(Queue::default),
            to_myself: VecDeque::new(),
            head,
            sent: vec![0; n],
            parcels: 0,
            bytes: 0,
        }
    }

    /// Whether the medium can carry a message whose body has this many bytes.
    pub(crate) fn carries(&self, body: usize) -> bool {
        match &self.head {
            None => body <= crate::wire::LARGEST_BODY,
            Some(head) => head.len() + room_for(body) <= LARGEST_DATAGRAM,
        }
    }

    /// Whether one parcel can reach several receivers.
    pub(crate) fn can_share(&self) -> bool {
        self.shared.is_some()
    }

    pub(crate) fn put(&mut self, to: ProcessId, parcel: Parcel<'_>) {
        if to == self.me {
            let Parcel { number, tell, body } = parcel;
            return self.to_myself.push_back(ToMyself { number, tell, body: body.to_vec() });
        }
        let Some(queue) = self.queues.get_mut(to.index()) else { return };
        if queue.closed {
            return;
        }
        self.bytes += write(queue, self.head.as_deref(), parcel, None);
        self.parcels += 1;
        self.sent[to.index()] += 1;
    }

    /// Puts one parcel for several receivers, a set of process numbers below 64, into the shared
    /// queue. The parcel has the number of the first receiver.
    pub(crate) fn put_shared(&mut self, receivers: u64, parcel: Parcel<'_>) {
        let Some(queue) = &mut self.shared else { return };
        self.bytes += write(queue, self.head.as_deref(), parcel, Some(receivers));
        self.parcels += 1;
        for (index, sent) in self.sent.iter_mut().enumerate() {
            *sent += receivers >> index & 1;
        }
    }

    /// A restarted process has connected: its queue and its count of parcels begin anew.
    pub(crate) fn renew(&mut self, at: ProcessId) {
        self.queues[at.index()] = Queue::default();
        self.sent[at.index()] = 0;
    }

    /// The number of unsent bytes in all queues.
    pub(crate) fn backlog(&self) -> usize {
        self.queues.iter().chain(&self.shared).map(Queue::len).sum()
    }
}

/// Appends a parcel, in a new datagram if the last one is full; returns the number of bytes added.
fn write(queue: &mut Queue, head: Option<&[u8]>, parcel: Parcel<'_>, to: Option<u64>) -> u64 {
    let before = queue.bytes.len();
    if let Some(head) = head {
        let full = |start: &usize| before - start + room_for(parcel.body.len()) > LARGEST_DATAGRAM;
        if queue.datagrams.back().is_none_or(full) {
            queue.datagrams.push_back(before);
            queue.bytes.extend_from_slice(head);
        }
    }
    write_parcel(&mut queue.bytes, parcel, to);
    (queue.bytes.len() - before) as u64
}
