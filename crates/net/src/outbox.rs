//! What waits to be sent, by receiver.

use crate::wire::{Parcel, room_for, write_parcel};
use std::collections::VecDeque;
use synod_core::ProcessId;

/// So much is put into one datagram: below the 65,507 bytes that IPv4 allows.
pub(crate) const LARGEST_DATAGRAM: usize = 60_000;

/// What is gone is cleared away when it is more than this.
const TIDY_UP: usize = 1 << 20;

/// Bytes for one receiver.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) bytes: Vec<u8>,
    /// How many of them are gone.
    pub(crate) gone: usize,
    /// Where datagrams begin, as far as they are not gone.
    pub(crate) datagrams: VecDeque<usize>,
    /// Whether nobody takes them any more.
    pub(crate) closed: bool,
}

impl Queue {
    /// How much waits.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.gone
    }

    /// So much was taken.
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

    /// The next datagram.
    pub(crate) fn datagram(&self) -> Option<&[u8]> {
        let first = *self.datagrams.front()?;
        let end = self.datagrams.get(1).copied().unwrap_or(self.bytes.len());
        self.bytes.get(first..end)
    }

    /// The next datagram was sent.
    pub(crate) fn datagram_gone(&mut self) {
        let length = self.datagram().map_or(0, <[u8]>::len);
        self.datagrams.pop_front();
        self.advance(length);
    }

    /// Nobody takes anything any more.
    pub(crate) fn close(&mut self) {
        *self = Queue { closed: true, ..Queue::default() };
    }
}

/// A message to the own process.
#[derive(Debug)]
pub(crate) struct ToMyself {
    pub(crate) number: u64,
    pub(crate) tell: bool,
    pub(crate) body: Vec<u8>,
}

/// What waits to be sent.
#[derive(Debug)]
pub(crate) struct Outbox {
    me: ProcessId,
    pub(crate) queues: Vec<Queue>,
    /// For everybody at once, if the medium can do that.
    pub(crate) shared: Option<Queue>,
    pub(crate) to_myself: VecDeque<ToMyself>,
    /// What a datagram begins with; None on streams.
    head: Option<Vec<u8>>,
    /// How many parcels were put in for each, and how many bytes in all.
    pub(crate) sent: Vec<u64>,
    pub(crate) parcels: u64,
    pub(crate) bytes: u64,
}

impl Outbox {
    /// An outbox for `n`. On datagrams each begins with `head`; on streams there is none.
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

    /// Whether a message of so many bytes can be carried at all.
    pub(crate) fn carries(&self, body: usize) -> bool {
        match &self.head {
            None => body <= crate::wire::LARGEST_BODY,
            Some(head) => head.len() + room_for(body) <= LARGEST_DATAGRAM,
        }
    }

    /// Whether one parcel can reach many.
    pub(crate) fn can_share(&self) -> bool {
        self.shared.is_some()
    }

    /// Puts in a message to one process.
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

    /// Puts in one message for all of a set of names below 64, by a medium that can share. The
    /// parcel has the number of the first of them.
    pub(crate) fn put_shared(&mut self, receivers: u64, parcel: Parcel<'_>) {
        let Some(queue) = &mut self.shared else { return };
        self.bytes += write(queue, self.head.as_deref(), parcel, Some(receivers));
        self.parcels += 1;
        for (index, sent) in self.sent.iter_mut().enumerate() {
            *sent += receivers >> index & 1;
        }
    }

    /// There is a new connection to a process that was dead: nothing has been sent on it.
    pub(crate) fn renew(&mut self, at: ProcessId) {
        self.queues[at.index()] = Queue::default();
        self.sent[at.index()] = 0;
    }

    /// How much waits, in bytes.
    pub(crate) fn backlog(&self) -> usize {
        self.queues.iter().chain(&self.shared).map(Queue::len).sum()
    }
}

/// Appends a parcel, and says how many bytes that took.
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
