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

/// The line to the leader. Sockets have the tokens below.
pub(crate) const CONTROL: Token = Token(usize::MAX - 1);
/// The alarm of the member.
pub(crate) const ALARM: Token = Token(usize::MAX - 4);
/// Every socket is bound here.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Where all members are.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// Each by its name; those who are dead have none.
    pub(crate) each: Vec<Option<SocketAddr>>,
    /// A group address of IP multicast that reaches everybody.
    pub(crate) everybody: Option<SocketAddr>,
}

/// What has to be done with each message that arrives: false if it cannot be read.
pub(crate) type Deliver<'a> = &'a mut dyn FnMut(ProcessId, Parcel<'_>) -> bool;

/// The sockets of a member, whatever the medium.
pub(crate) trait Links {
    /// Where the others find it.
    fn address(&self) -> io::Result<SocketAddr>;
    /// Gets ready to hear and to be heard. Not as wanted: why, in words.
    fn connect(&mut self, to: &Addresses, until: Instant) -> io::Result<Option<String>>;
    /// Whether one datagram can reach everybody.
    fn can_share(&self) -> bool;
    /// Something is ready.
    fn on_ready(&mut self, event: &Event);
    /// Lets in who is at the door: processes that were dead and are back.
    fn welcome(&mut self) -> Vec<ProcessId> {
        Vec::new()
    }
    /// Delivers what has arrived, a bounded part of it; whether there may be more.
    fn receive(&mut self, deliver: Deliver<'_>) -> bool;
    /// Sends what can be sent now.
    fn flush(&mut self, outbox: &mut Outbox);
    /// How many clients and datagrams did not belong to the run.
    fn strangers(&self) -> u64;
    /// What went wrong since the last time, in words.
    fn complaints(&mut self) -> Vec<String>;
}
