//! The sockets of a member.

mod tcp;
mod udp;

#[cfg(test)]
mod tests;

pub(crate) use tcp::Tcp;
pub(crate) use udp::Udp;

use crate::outbox::Outbox;
use crate::wire::Parcel;
use mio::Token;
use mio::event::Event;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;
use synod_core::ProcessId;

/// The control connection. The sockets of the links have smaller tokens.
pub(crate) const CONTROL: Token = Token(usize::MAX - 1);
/// The alarm of the member.
pub(crate) const ALARM: Token = Token(usize::MAX - 4);
/// Every socket is bound here.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The addresses of all members.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// By process; None for a dead one.
    pub(crate) each: Vec<Option<SocketAddr>>,
    /// The group address of IP multicast that reaches all members.
    pub(crate) everybody: Option<SocketAddr>,
}

/// Delivers one message that has arrived; returns false if it cannot be decoded.
pub(crate) type Deliver<'a> = &'a mut dyn FnMut(ProcessId, Parcel<'_>) -> bool;

/// The sockets of a member, for any medium.
pub(crate) trait Links {
    /// The address where the other members reach this one.
    fn address(&self) -> io::Result<SocketAddr>;
    /// Connects to the other members. Returns in words why IP multicast does not work, if it was
    /// wanted and does not.
    fn connect(&mut self, to: &Addresses, until: Instant) -> io::Result<Option<String>>;
    /// Whether one datagram can reach all members.
    fn can_share(&self) -> bool;
    /// The poll reports a socket as ready.
    fn on_ready(&mut self, event: &Event);
    /// Accepts connections; returns the processes that have restarted and called.
    fn accept(&mut self) -> Vec<ProcessId> {
        Vec::new()
    }
    /// Delivers a bounded part of the messages that have arrived; returns whether there may be
    /// more.
    fn receive(&mut self, deliver: Deliver<'_>) -> bool;
    /// Writes the outbox to the sockets, as far as they take it without blocking.
    fn flush(&mut self, outbox: &mut Outbox);
    /// The number of connections and datagrams that did not belong to the run.
    fn strangers(&self) -> u64;
    /// Takes the failures since the last call, in words.
    fn complaints(&mut self) -> Vec<String>;
}
