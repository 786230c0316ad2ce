//! TCP: one connection for each pair, so that a link is reliable and keeps its order.

use super::{Addresses, Deliver, LOOPBACK, Links};
use crate::outbox::{Outbox, Queue};
use crate::wire::{GREETING, Garbage, LARGEST_PARCEL, greeting, read_greeting, read_parcel};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};
use synod_core::ProcessId;

/// Bytes read from one peer before the next peer is served.
const READ_AT_ONCE: usize = 1 << 17;
/// Limit of unsent bytes per peer. A peer that does not read loses its link at this limit.
const MOST_WAITING: usize = 64 << 20;
/// Limit of accepted connections that have not sent their greeting; further ones are closed.
const MOST_UNGREETED: usize = 16;
const PATIENCE: Duration = Duration::from_millis(2);

/// The token of the listening socket; a peer's token is its process number.
const LISTENER: Token = Token(usize::MAX - 2);
/// Connections without a greeting share this token: it wakes the poll, and `accept` tries them
/// all.
const UNGREETED: Token = Token(usize::MAX - 3);

/// TCP connections to every other member.
#[derive(Debug)]
pub(crate) struct Tcp {
    me: ProcessId,
    run: u64,
    /// The number of this start of the process, and of each peer's start when it last called.
    start: u32,
    starts: Vec<u32>,
    /// The restarted processes that called since the last `accept`.
    restarted: Vec<ProcessId>,
    registry: Registry,
    listener: TcpListener,
    /// Whether the listening socket may have a connection to accept.
    may_accept: bool,
    ungreeted: Vec<Ungreeted>,
    peers: Vec<Option<Peer>>,
    strangers: u64,
    complaints: Vec<String>,
}

/// An accepted connection that has not sent its whole greeting.
#[derive(Debug)]
struct Ungreeted {
    stream: TcpStream,
    said: Vec<u8>,
}

/// The connection to one peer.
#[derive(Debug)]
struct Peer {
    stream: TcpStream,
    /// The receive buffer; the bytes from `start` to `end` are not delivered yet.
    heard: Vec<u8>,
    start: usize,
    end: usize,
    readable: bool,
    writable: bool,
}

impl Tcp {
    pub(crate) fn new(
        me: ProcessId,
        n: usize,
        (run, start): (u64, u32),
        registry: &Registry,
    ) -> io::Result<Self> {
        let registry = registry.try_clone()?;
        let mut listener = TcpListener::bind(SocketAddr::new(LOOPBACK, 0))?;
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Tcp {
            me,
            run,
            start,
            starts: vec![0; n],
            restarted: Vec::new(),
            registry,
            listener,
            may_accept: true,
            ungreeted: Vec::new(),
            peers: (0..n).map(|_| None).collect(),
            strangers: 0,
            complaints: Vec::new(),
        })
    }

    /// Calls the processes with smaller numbers; those with larger numbers call this one.
    fn call(&mut self, to: &Addresses, until: Instant) -> io::Result<()> {
        for at in ProcessId::all(self.me.index()) {
            let there = to.each[at.index()].ok_or_else(|| io::Error::other("a peer is missing"))?;
            self.call_one(at, there, until)?;
        }
        Ok(())
    }

    /// Calls every living process. One that does not answer has died since.
    fn call_all(&mut self, to: &Addresses, until: Instant) {
        for (at, there) in ProcessId::all(to.each.len()).zip(&to.each) {
            if let Some(there) = there.filter(|_| at != self.me) {
                let _ = self.call_one(at, there, until);
            }
        }
    }

    fn call_one(&mut self, at: ProcessId, there: SocketAddr, until: Instant) -> io::Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        let at_most = left.max(Duration::from_millis(1));
        let mut stream = std::net::TcpStream::connect_timeout(&there, at_most)?;
        stream.write_all(&greeting(self.run, self.me, self.start))?;
        stream.set_nonblocking(true)?;
        self.add(at, TcpStream::from_std(stream), &[])
    }

    fn add(&mut self, at: ProcessId, mut stream: TcpStream, said: &[u8]) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.registry.register(&mut stream, Token(at.index()), both)?;
        let mut heard = vec![0; 2 * READ_AT_ONCE];
        heard[..said.len()].copy_from_slice(said);
        let (readable, writable) = (true, true);
        let peer = Peer { stream, heard, start: 0, end: said.len(), readable, writable };
        self.peers[at.index()] = Some(peer);
        Ok(())
    }

    /// Accepts new connections and reads the greetings of those that wait.
    fn accept_connections(&mut self) {
        while self.may_accept {
            match self.listener.accept() {
                Ok((stream, _)) if self.ungreeted.len() < MOST_UNGREETED => {
                    self.ungreeted.push(Ungreeted { stream, said: Vec::new() });
                    if let Some(connection) = self.ungreeted.last_mut() {
                        // If this fails, the greeting is read at the next accepted connection.
                        let readable = Interest::READABLE;
                        let _ = self.registry.register(&mut connection.stream, UNGREETED, readable);
                    }
                }
                Ok(_) => self.strangers += 1,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.may_accept = false,
            }
        }
        for mut connection in std::mem::take(&mut self.ungreeted) {
            match connection.read_greeting(self.run) {
                Ok(None) => self.ungreeted.push(connection),
                Ok(Some((from, start))) => self.admit(from, start, connection),
                Err(_) => self.strangers += 1,
            }
        }
    }

    /// Makes a greeted connection the link to `from`, if it is expected. A process with a larger
    /// number calls once in its first life; a restarted process calls with a larger start number.
    /// Any other call is a stranger's.
    fn admit(&mut self, from: ProcessId, start: u32, mut connection: Ungreeted) {
        let known = self.starts.get(from.index()).copied();
        let expected = match start {
            1 => from > self.me && known == Some(0),
            _ => from != self.me && known.is_some_and(|known| known < start),
        };
        let _ = self.registry.deregister(&mut connection.stream);
        if !expected {
            self.strangers += 1;
            return;
        }
        self.close(from.index(), None);
        if self.add(from, connection.stream, &connection.said[GREETING..]).is_err() {
            self.strangers += 1;
            return;
        }
        self.starts[from.index()] = start;
        if start > 1 {
            self.restarted.push(from);
        }
    }

    /// Closes the link to a peer.
    fn close(&mut self, at: usize, why: Option<&str>) {
        let Some(mut peer) = self.peers[at].take() else { return };
        let _ = self.registry.deregister(&mut peer.stream);
        if let Some(why) = why {
            self.complaints.push(format!("{} {why}; the link was closed", ProcessId(at as u32)));
        }
    }
}

impl Ungreeted {
    /// The caller's process and start number, once its greeting has arrived completely.
    fn read_greeting(&mut self, run: u64) -> io::Result<Option<(ProcessId, u32)>> {
        let mut bytes = [0; 1024];
        loop {
            if self.said.len() >= GREETING {
                return read_greeting(&self.said, run).map(Some).map_err(io::Error::other);
            }
            // Reads no further than the greeting: the bytes after it are parcels.
            let missing = GREETING - self.said.len();
            match self.stream.read(&mut bytes[..missing]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.said.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Peer {
    /// Reads once, as far as the buffer has room; false at the end of the stream.
    fn read(&mut self) -> bool {
        let room = self.heard.len() - self.end;
        match self.stream.read(&mut self.heard[self.end..]) {
            Ok(0) => return room == 0,
            Ok(count) => {
                self.end += count;
                // A short read: the kernel has no more bytes for now.
                self.readable = count == room;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        true
    }

    /// Delivers every complete parcel in the buffer.
    fn deliver(&mut self, from: ProcessId, deliver: Deliver<'_>) -> Result<(), Garbage> {
        while let Some((parcel, length)) = read_parcel(&self.heard[self.start..self.end])? {
            if !deliver(from, parcel) {
                return Err(Garbage("sent a message that cannot be read"));
            }
            self.start += length;
        }
        self.heard.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // One incomplete parcel fills the buffer.
        if self.end == self.heard.len() && self.heard.len() < 2 * LARGEST_PARCEL {
            self.heard.resize(2 * self.heard.len(), 0);
        }
        Ok(())
    }

    /// Writes as much as the connection takes without blocking; false if it is broken.
    fn write(&mut self, queue: &mut Queue) -> bool {
        while self.writable && queue.len() > 0 {
            match self.stream.write(&queue.bytes[queue.gone..]) {
                Ok(count) => queue.advance(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
}

impl Links for Tcp {
    fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    fn connect(&mut self, to: &Addresses, until: Instant) -> io::Result<Option<String>> {
        if self.start > 1 {
            self.call_all(to, until);
            return Ok(None);
        }
        self.call(to, until)?;
        while (self.me.index() + 1..self.peers.len()).any(|at| self.peers[at].is_none()) {
            if Instant::now() > until {
                return Err(io::Error::new(ErrorKind::TimedOut, "the others did not call"));
            }
            self.may_accept = true;
            self.accept_connections();
            sleep(PATIENCE);
        }
        Ok(None)
    }

    fn can_share(&self) -> bool {
        false
    }

    fn on_ready(&mut self, event: &Event) {
        match event.token() {
            LISTENER => self.may_accept = true,
            UNGREETED => {}
            Token(at) => {
                if let Some(Some(peer)) = self.peers.get_mut(at) {
                    peer.readable |= event.is_readable() || event.is_read_closed();
                    peer.writable |= event.is_writable();
                }
            }
        }
    }

    fn accept(&mut self) -> Vec<ProcessId> {
        if self.may_accept || !self.ungreeted.is_empty() {
            self.accept_connections();
        }
        std::mem::take(&mut self.restarted)
    }

    fn receive(&mut self, deliver: Deliver<'_>) -> bool {
        let mut more = false;
        for at in 0..self.peers.len() {
            let Some(peer) = &mut self.peers[at] else { continue };
            if !peer.readable && peer.end == 0 {
                continue;
            }
            let open = !peer.readable || peer.read();
            let delivered = peer.deliver(ProcessId(at as u32), deliver);
            more |= peer.readable;
            match (delivered, open) {
                (Err(Garbage(why)), _) => self.close(at, Some(why)),
                (Ok(()), false) => self.close(at, None),
                (Ok(()), true) => {}
            }
        }
        more
    }

    fn flush(&mut self, outbox: &mut Outbox) {
        for (at, queue) in outbox.queues.iter_mut().enumerate() {
            let Some(peer) = &mut self.peers[at] else {
                // The link to this peer is closed. A process has no link to itself.
                if queue.len() > 0 {
                    queue.close();
                }
                continue;
            };
            let works = peer.write(queue);
            if works && queue.len() <= MOST_WAITING {
                continue;
            }
            let why = works.then_some("does not read what is sent to it");
            queue.close();
            self.close(at, why);
        }
    }

    fn strangers(&self) -> u64 {
        self.strangers
    }

    fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }
}
