//! Two members in one program, and strangers that do not belong to their run.

use super::{Addresses, Links, Tcp, Udp};
use crate::outbox::{LARGEST_DATAGRAM, Outbox};
use crate::wire::{Parcel, greeting, head};
use mio::{Events, Poll};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use synod_core::ProcessId;

const RUN: u64 = 77;

struct End {
    poll: Poll,
    links: Box<dyn Links>,
    outbox: Outbox,
}

impl End {
    /// Sends and receives until `until_count` messages have arrived; returns their bodies.
    fn turn(&mut self, until_count: usize) -> Vec<Vec<u8>> {
        let mut heard = Vec::new();
        let until = Instant::now() + Duration::from_secs(5);
        let mut events = Events::with_capacity(16);
        loop {
            self.links.flush(&mut self.outbox);
            let short = Some(Duration::from_millis(5));
            self.poll.poll(&mut events, short).expect("it can wait");
            events.iter().for_each(|event| self.links.on_ready(event));
            self.links.accept().iter().for_each(|at| self.outbox.renew(*at));
            self.links.receive(&mut |_, parcel| {
                heard.push(parcel.body.to_vec());
                parcel.body != b"unreadable"
            });
            if heard.len() >= until_count || Instant::now() > until {
                return heard;
            }
        }
    }

    fn put(&mut self, to: u32, number: u64, body: &[u8]) {
        self.outbox.put(ProcessId(to), Parcel { number, tell: false, body });
    }
}

fn tcp(me: u32, start: u32) -> End {
    let poll = Poll::new().expect("there is a poll");
    let links = Tcp::new(ProcessId(me), 2, (RUN, start), poll.registry()).expect("there is a port");
    End { poll, links: Box::new(links), outbox: Outbox::new(ProcessId(me), 2, None, false) }
}

fn tcp_pair() -> (End, End) {
    let (mut a, mut b) = (tcp(0, 1), tcp(1, 1));
    let each = [&a, &b].map(|end| end.links.address().ok()).to_vec();
    let addresses = Addresses { each, everybody: None };
    let until = Instant::now() + Duration::from_secs(5);
    b.links.connect(&addresses, until).expect("the other listens");
    a.links.connect(&addresses, until).expect("the other has called");
    (a, b)
}

#[test]
fn a_stream_carries_messages_of_every_size_in_order() {
    let (mut a, mut b) = tcp_pair();
    let bodies: Vec<Vec<u8>> = [0, 1, 200, 70_000, 900_000, 3].map(|size| vec![5; size]).to_vec();
    for (number, body) in (0..).zip(&bodies) {
        a.put(1, number, body);
    }
    let mut heard = Vec::new();
    let until = Instant::now() + Duration::from_secs(5);
    while heard.len() < bodies.len() && Instant::now() < until {
        a.turn(0);
        heard.extend(b.turn(0));
    }
    assert!(heard == bodies, "other messages, or in another order");
}

#[test]
fn a_stranger_is_turned_away_and_the_others_go_on() {
    let (mut a, mut b) = tcp_pair();
    let address = a.links.address().expect("it has one");
    let mut stranger = TcpStream::connect(address).expect("it listens");
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: nobody\r\n\r\n").expect("it may speak");
    // The impostor sends the greeting of a member that has already called.
    let mut impostor = TcpStream::connect(address).expect("it listens");
    impostor.write_all(&greeting(RUN, ProcessId(1), 1)).expect("it may speak");
    b.put(0, 0, b"hello");
    b.turn(0);
    assert_eq!(a.turn(1), [b"hello"]);
    let until = Instant::now() + Duration::from_secs(5);
    while a.links.strangers() < 2 && Instant::now() < until {
        a.turn(0);
    }
    assert_eq!(a.links.strangers(), 2);
    stranger.set_read_timeout(Some(Duration::from_secs(5))).expect("it can wait");
    let ended = stranger.read(&mut [0; 8]);
    assert!(ended.map_or(true, |count| count == 0), "the connection is closed");
}

#[test]
fn a_peer_that_sends_what_cannot_be_read_loses_its_link() {
    let (mut a, mut b) = tcp_pair();
    b.put(0, 0, b"unreadable");
    b.put(0, 1, b"never heard");
    b.turn(0);
    assert_eq!(a.turn(1), [b"unreadable"]);
    let complaints = a.links.complaints();
    assert_eq!(complaints, ["p1 sent a message that cannot be read; the link was closed"]);
    a.put(1, 0, b"for nobody");
    a.turn(0);
    assert!(a.outbox.queues[1].closed, "what is sent to it goes nowhere");
}

#[test]
fn a_process_that_comes_back_calls_everybody_and_is_heard_again() {
    for (old, calls) in [(0, 1), (1, 0)] {
        let (a, b) = tcp_pair();
        let (dead, mut alive) = if old == 0 { (a, b) } else { (b, a) };
        drop(dead);
        alive.put(old, 0, b"are you there?");
        let mut back = tcp(old, 2);
        let mut each = vec![None, None];
        each[calls] = alive.links.address().ok();
        let addresses = Addresses { each, everybody: None };
        let until = Instant::now() + Duration::from_secs(5);
        back.links.connect(&addresses, until).expect("the other lives");
        back.put(calls as u32, 0, b"here I am");
        back.turn(0);
        assert_eq!(alive.turn(1), [b"here I am"]);
        alive.put(old, 0, b"welcome");
        alive.turn(0);
        assert_eq!(back.turn(1), [b"welcome"]);
        assert_eq!(alive.outbox.sent[old as usize], 1, "since it came back");
        assert_eq!(alive.links.strangers(), 0);
    }
}

#[test]
fn datagrams_are_filled_but_never_beyond_what_the_network_carries() {
    let mut outbox = Outbox::new(ProcessId(0), 2, Some(head(RUN, ProcessId(0))), false);
    for number in 0..1_000 {
        outbox.put(ProcessId(1), Parcel { number, tell: false, body: &[1; 300] });
    }
    let queue = &mut outbox.queues[1];
    let mut sizes = Vec::new();
    while let Some(datagram) = queue.datagram() {
        sizes.push(datagram.len());
        queue.datagram_gone();
    }
    assert!(sizes.len() >= 6 && sizes.len() < 10, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= LARGEST_DATAGRAM), "{sizes:?}");
    assert_eq!(queue.len(), 0);
}

#[test]
fn a_datagram_of_a_stranger_is_counted_and_nothing_else() {
    let poll = Poll::new().expect("there is a poll");
    let mut links = Udp::new(ProcessId(0), RUN, poll.registry()).expect("there is a port");
    let address = links.address().expect("it has one");
    let addresses = Addresses { each: vec![Some(address); 2], everybody: None };
    links.connect(&addresses, Instant::now()).expect("there is nothing to do");
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    stranger.send_to(b"what is this", address).expect("it may speak");
    stranger.send_to(&head(RUN, ProcessId(9)), address).expect("it may speak");
    stranger.send_to(&[&head(RUN, ProcessId(1))[..], &[9, 9]].concat(), address).expect("sent");
    let until = Instant::now() + Duration::from_secs(5);
    let mut complaints = Vec::new();
    while (links.strangers() < 2 || complaints.is_empty()) && Instant::now() < until {
        // The test does not poll, so it marks the socket as readable itself.
        links.receive(&mut |_, parcel| panic!("{parcel:?} was delivered"));
        complaints.extend(links.complaints());
        links.wake();
    }
    assert_eq!(links.strangers(), 2);
    assert_eq!(complaints, ["p1 sent a datagram that cannot be read"]);
}
