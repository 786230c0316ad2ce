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

/// So much is read from one peer before the others have their turn.
const READ_AT_ONCE: usize = 1 << 17;
/// So much may wait for a peer that does not read; then the link is broken.
const MOST_WAITING: usize = 64 << 20;
/// So many clients that have not said who they are may wait at the door.
const MOST_AT_THE_DOOR: usize = 16;
const PATIENCE: Duration = Duration::from_millis(2);

/// The token of the listening socket; peers have their own names.
const DOOR: Token = Token(usize::MAX - 2);
/// Clients at the door are only looked at now and then: they share a token.
const AT_THE_DOOR: Token = Token(usize::MAX - 3);

/// TCP connections to every other member.
#[derive(Debug)]
pub(crate) struct Tcp {
    me: ProcessId,
    run: u64,
    /// How often this process was started, and how often each other had been when it last called.
    start: u32,
    starts: Vec<u32>,
    /// Who came back since it was last asked.
    back: Vec<ProcessId>,
    registry: Registry,
    door: TcpListener,
    /// Whether somebody may be at the door.
    knocked: bool,
    waiting: Vec<Guest>,
    peers: Vec<Option<Peer>>,
    strangers: u64,
    complaints: Vec<String>,
}

/// Somebody who has not said who it is.
#[derive(Debug)]
struct Guest {
    stream: TcpStream,
    said: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
struct Peer {
    stream: TcpStream,
    /// Room for what arrives, of which the middle part is filled.
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
        let mut door = TcpListener::bind(SocketAddr::new(LOOPBACK, 0))?;
        registry.register(&mut door, DOOR, Interest::READABLE)?;
        Ok(Tcp {
            me,
            run,
            start,
            starts: vec![0; n],
            back: Vec::new(),
            registry,
            door,
            knocked: true,
            waiting: Vec::new(),
            peers: (0..n).map(|_| None).collect(),
            strangers: 0,
            complaints: Vec::new(),
        })
    }

    /// Calls those with smaller names; the others call us.
    fn call(&mut self, to: &Addresses, until: Instant) -> io::Result<()> {
        for at in ProcessId::all(self.me.index()) {
            let there = to.each[at.index()].ok_or_else(|| io::Error::other("a peer is missing"))?;
            self.call_one(at, there, until)?;
        }
        Ok(())
    }

    /// Calls everybody who lives. Who does not answer has died since.
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

    /// Lets in who is at the door.
    fn open_door(&mut self) {
        while self.knocked {
            match self.door.accept() {
                Ok((stream, _)) if self.waiting.len() < MOST_AT_THE_DOOR => {
                    self.waiting.push(Guest { stream, said: Vec::new() });
                    if let Some(guest) = self.waiting.last_mut() {
                        // If this fails, the guest is heard when somebody else knocks.
                        let readable = Interest::READABLE;
                        let _ = self.registry.register(&mut guest.stream, AT_THE_DOOR, readable);
                    }
                }
                Ok(_) => self.strangers += 1,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.knocked = false,
            }
        }
        for mut guest in std::mem::take(&mut self.waiting) {
            match guest.introduce(self.run) {
                Ok(None) => self.waiting.push(guest),
                Ok(Some((from, start))) => self.let_in(from, start, guest),
                Err(_) => self.strangers += 1,
            }
        }
    }

    /// Those with larger names call once, and whoever comes back calls again.
    fn let_in(&mut self, from: ProcessId, start: u32, mut guest: Guest) {
        let known = self.starts.get(from.index()).copied();
        let expected = match start {
            1 => from > self.me && known == Some(0),
            _ => from != self.me && known.is_some_and(|known| known < start),
        };
        let _ = self.registry.deregister(&mut guest.stream);
        if !expected {
            self.strangers += 1;
            return;
        }
        self.part(from.index(), None);
        if self.add(from, guest.stream, &guest.said[GREETING..]).is_err() {
            self.strangers += 1;
            return;
        }
        self.starts[from.index()] = start;
        if start > 1 {
            self.back.push(from);
        }
    }

    /// The link to a peer is no more.
    fn part(&mut self, at: usize, why: Option<&str>) {
        let Some(mut peer) = self.peers[at].take() else { return };
        let _ = self.registry.deregister(&mut peer.stream);
        if let Some(why) = why {
            self.complaints.push(format!("{} {why}; the link was closed", ProcessId(at as u32)));
        }
    }
}

impl Guest {
    /// Who it is, as soon as it has said so.
    fn introduce(&mut self, run: u64) -> io::Result<Option<(ProcessId, u32)>> {
        let mut bytes = [0; 1024];
        loop {
            if self.said.len() >= GREETING {
                return read_greeting(&self.said, run).map(Some).map_err(io::Error::other);
            }
            // No more than the greeting: what follows belongs to the connection.
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
    /// Reads what has arrived, as far as there is room. False at the end of the stream.
    fn read(&mut self) -> bool {
        let room = self.heard.len() - self.end;
        match self.stream.read(&mut self.heard[self.end..]) {
            Ok(0) => return room == 0,
            Ok(count) => {
                self.end += count;
                // Less than there was room for: there is no more for now.
                self.readable = count == room;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        true
    }

    /// Hands over every whole parcel.
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
        // The buffer is full with one parcel: it needs more room.
        if self.end == self.heard.len() && self.heard.len() < 2 * LARGEST_PARCEL {
            self.heard.resize(2 * self.heard.len(), 0);
        }
        Ok(())
    }

    /// Writes what the connection takes. False if it is broken.
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
        self.door.local_addr()
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
            self.knocked = true;
            self.open_door();
            sleep(PATIENCE);
        }
        Ok(None)
    }

    fn can_share(&self) -> bool {
        false
    }

    fn on_ready(&mut self, event: &Event) {
        match event.token() {
            DOOR => self.knocked = true,
            AT_THE_DOOR => {}
            Token(at) => {
                if let Some(Some(peer)) = self.peers.get_mut(at) {
                    peer.readable |= event.is_readable() || event.is_read_closed();
                    peer.writable |= event.is_writable();
                }
            }
        }
    }

    fn welcome(&mut self) -> Vec<ProcessId> {
        if self.knocked || !self.waiting.is_empty() {
            self.open_door();
        }
        std::mem::take(&mut self.back)
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
                (Err(Garbage(why)), _) => self.part(at, Some(why)),
                (Ok(()), false) => self.part(at, None),
                (Ok(()), true) => {}
            }
        }
        more
    }

    fn flush(&mut self, outbox: &mut Outbox) {
        for (at, queue) in outbox.queues.iter_mut().enumerate() {
            let Some(peer) = &mut self.peers[at] else {
                // Nobody is there any more; nobody ever is at the own place.
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
            self.part(at, why);
        }
    }

    fn strangers(&self) -> u64 {
        self.strangers
    }

    fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }
}
