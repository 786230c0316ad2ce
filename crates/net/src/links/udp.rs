//! UDP: datagrams to each receiver, and one datagram of IP multicast where the protocol multicasts.

use super::{Addresses, Deliver, LOOPBACK, Links};
use crate::outbox::{Outbox, Queue};
use crate::wire::{Garbage, Parcel, read_head, read_parcel, read_shared};
use mio::event::Event;
use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use synod_core::ProcessId;

/// Requested size of the kernel's socket buffers; the kernel may give less.
const KERNEL_BUFFER: usize = 8 << 20;
/// Datagrams read from one socket before the member serves its timers and its application.
const READ_AT_ONCE: usize = 32;
/// Limit of unsent bytes per queue; beyond it the queue is dropped.
const MOST_WAITING: usize = 64 << 20;
/// Larger than any datagram.
const ROOM: usize = 1 << 16;

/// Bound for the probe multicast to come back to its sender.
const COMES_BACK: Duration = Duration::from_millis(500);

const OWN: Token = Token(0);
const SHARED: Token = Token(1);

/// The datagram sockets of a member.
#[derive(Debug)]
pub(crate) struct Udp {
    me: ProcessId,
    run: u64,
    registry: Registry,
    own: UdpSocket,
    /// The socket that receives multicasts, and the group address.
    shared: Option<(UdpSocket, SocketAddr)>,
    addresses: Vec<Option<SocketAddr>>,
    readable: bool,
    shared_readable: bool,
    room: Vec<u8>,
    strangers: u64,
    complaints: Vec<String>,
}

impl Udp {
    pub(crate) fn new(me: ProcessId, run: u64, registry: &Registry) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&SocketAddr::new(LOOPBACK, 0).into())?;
        let mut own = with_room(socket)?;
        registry.register(&mut own, OWN, Interest::READABLE)?;
        Ok(Udp {
            me,
            run,
            registry: registry.try_clone()?,
            own,
            shared: None,
            addresses: Vec::new(),
            readable: true,
            shared_readable: true,
            room: vec![0; ROOM],
            strangers: 0,
            complaints: Vec::new(),
        })
    }

    /// Joins the multicast group of all members, and probes it.
    fn join(&mut self, everybody: SocketAddr) -> io::Result<()> {
        let IpAddr::V4(group) = everybody.ip() else {
            return Err(io::Error::other("a group has an IPv4 address here"));
        };
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&everybody.into())?;
        socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
        let mut shared = with_room(socket)?;
        let sender = socket2::SockRef::from(&self.own);
        sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
        sender.set_multicast_loop_v4(true)?;
        sender.set_multicast_ttl_v4(0)?;
        self.try_out(&shared, everybody)?;
        self.registry.register(&mut shared, SHARED, Interest::READABLE)?;
        self.shared = Some((shared, everybody));
        Ok(())
    }

    /// Sends an empty datagram to the group. The sender has joined the group, so it must receive
    /// the datagram itself.
    fn try_out(&mut self, shared: &UdpSocket, everybody: SocketAddr) -> io::Result<()> {
        self.own.send_to(&crate::wire::head(self.run, self.me), everybody)?;
        let until = Instant::now() + COMES_BACK;
        while Instant::now() < until {
            match shared.recv_from(&mut self.room) {
                Ok((length, _)) => {
                    let head = read_head(&self.room[..length], self.run);
                    if head.is_ok_and(|(from, _)| from == self.me) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(ErrorKind::TimedOut, "what is sent to the group does not arrive"))
    }

    /// Delivers the parcels of the datagram that was just read.
    fn open(&mut self, length: usize, is_shared: bool, deliver: Deliver<'_>) {
        let n = self.addresses.len();
        let head = read_head(&self.room[..length], self.run);
        let Ok((from, mut rest)) = head else {
            self.strangers += 1;
            return;
        };
        if from == self.me {
            return;
        }
        if from.index() >= n {
            self.strangers += 1;
            return;
        }
        let me = self.me;
        while !rest.is_empty() {
            let read = match is_shared {
                true => read_shared(rest).map(|read| read.map(|(p, to, l)| (mine(me, p, to), l))),
                false => read_parcel(rest).map(|read| read.map(|(p, l)| (Some(p), l))),
            };
            let (parcel, length) = match read {
                Ok(Some(read)) => read,
                Ok(None) | Err(Garbage(_)) => {
                    self.complaints.push(format!("{from} sent a datagram that cannot be read"));
                    return;
                }
            };
            if parcel.is_some_and(|parcel| !deliver(from, parcel)) {
                self.complaints.push(format!("{from} sent a message that cannot be read"));
            }
            rest = &rest[length..];
        }
    }

    /// Reads a bounded number of datagrams; returns whether there may be more.
    fn drain(&mut self, is_shared: bool, deliver: Deliver<'_>) -> bool {
        for _ in 0..READ_AT_ONCE {
            let socket = match &self.shared {
                Some((shared, _)) if is_shared => shared,
                _ => &self.own,
            };
            match socket.recv_from(&mut self.room) {
                Ok((length, _)) => self.open(length, is_shared, deliver),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // The kernel reports a dead peer as an error of a later call. Datagrams of the
                // other peers may still wait.
                Err(_) => {}
            }
        }
        true
    }
}

#[cfg(test)]
impl Udp {
    /// Stands for the poll, which reports the socket as readable.
    pub(super) fn wake(&mut self) {
        self.readable = true;
    }
}

/// The parcel with the number of this receiver, if the sender addressed it: a multicast numbers its
/// receivers consecutively.
fn mine(me: ProcessId, parcel: Parcel<'_>, receivers: u64) -> Option<Parcel<'_>> {
    let bit = 1u64.checked_shl(me.0)?;
    let before = (receivers & (bit - 1)).count_ones();
    let number = parcel.number.checked_add(before.into())?;
    (receivers & bit != 0).then_some(Parcel { number, ..parcel })
}

fn with_room(socket: Socket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    // The kernel may refuse this size and keep a smaller buffer, which is no error.
    let _ = socket.set_recv_buffer_size(KERNEL_BUFFER);
    let _ = socket.set_send_buffer_size(KERNEL_BUFFER);
    Ok(UdpSocket::from_std(socket.into()))
}

/// Sends the queued datagrams until the kernel's buffer is full.
fn send(socket: &UdpSocket, to: SocketAddr, queue: &mut Queue) {
    while let Some(datagram) = queue.datagram() {
        match socket.send_to(datagram, to) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            // Sent, or refused because the receiver is dead: UDP may lose it.
            _ => queue.datagram_gone(),
        }
    }
}

/// Drops the queue at its limit and reports the loss. The member must not block, and UDP promises
/// delivery to no receiver.
fn give_up(queue: &mut Queue, complaints: &mut Vec<String>) {
    if queue.len() > MOST_WAITING {
        *queue = Queue::default();
        complaints.push("the kernel takes no more datagrams; some were lost".to_owned());
    }
}

impl Links for Udp {
    fn address(&self) -> io::Result<SocketAddr> {
        self.own.local_addr()
    }

    fn connect(&mut self, to: &Addresses, _until: Instant) -> io::Result<Option<String>> {
        self.addresses.clone_from(&to.each);
        let Some(everybody) = to.everybody else { return Ok(None) };
        let joined = self.join(everybody);
        Ok(joined.err().map(|error| format!("IP multicast does not work here ({error})")))
    }

    fn can_share(&self) -> bool {
        self.shared.is_some()
    }

    fn on_ready(&mut self, event: &Event) {
        match event.token() {
            OWN => self.readable = true,
            _ => self.shared_readable = true,
        }
    }

    fn receive(&mut self, deliver: Deliver<'_>) -> bool {
        if self.readable {
            self.readable = self.drain(false, deliver);
        }
        if self.shared.is_some() && self.shared_readable {
            self.shared_readable = self.drain(true, deliver);
        }
        self.readable || (self.shared.is_some() && self.shared_readable)
    }

    fn flush(&mut self, outbox: &mut Outbox) {
        for (queue, to) in outbox.queues.iter_mut().zip(&self.addresses) {
            let Some(to) = to else { continue };
            send(&self.own, *to, queue);
            give_up(queue, &mut self.complaints);
        }
        if let (Some((_, to)), Some(queue)) = (&self.shared, &mut outbox.shared) {
            send(&self.own, *to, queue);
            give_up(queue, &mut self.complaints);
        }
    }

    fn strangers(&self) -> u64 {
        self.strangers
    }

    fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }
}
