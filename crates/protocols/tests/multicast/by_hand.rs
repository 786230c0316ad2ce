//! A group of processes whose every step is chosen by hand, for histories told in sentences.

use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use synod_core::{Cx, Data, Effect, EffectOf, Never, ProcessId, Protocol, Wire, step};
use synod_protocols::multicast::{Deliver, Layer, Multicast};

/// The simplest layer: one message to each other member, and our own delivered at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Post<D>(PhantomData<D>);

impl<D> Post<D> {
    pub(crate) fn new() -> Self {
        Post(PhantomData)
    }
}

/// The message of that layer: the payload as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Letter<D>(pub(crate) D);

impl<D: Data> Wire for Letter<D> {}

impl<D: Data> Protocol for Post<D> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Letter<D>;
    type Timer = Never;

    fn on_input(&mut self, Multicast(payload): Multicast<D>, cx: &mut Cx<'_, Self>) {
        cx.multicast(Letter(payload.clone()));
        cx.output(Deliver { sender: cx.me(), payload });
    }

    fn on_message(&mut self, sender: ProcessId, Letter(payload): Letter<D>, cx: &mut Cx<'_, Self>) {
        cx.output(Deliver { sender, payload });
    }
}

/// Processes, messages on their way, and a record of their steps. The payloads are letters.
pub(crate) struct Group<L: Layer<char>> {
    pub(crate) processes: Vec<L>,
    /// Sender, receiver and message; the oldest first.
    pub(crate) in_flight: Vec<(u32, u32, L::Message)>,
    /// The deliveries of each process, in order.
    pub(crate) delivered: Vec<String>,
    /// The number of messages sent.
    pub(crate) sent: usize,
    /// The accusations, with the accused.
    pub(crate) accused: Vec<(u32, &'static str)>,
}

impl<L: Layer<char>> Group<L> {
    pub(crate) fn of(n: usize, process: impl Fn(ProcessId) -> L) -> Self {
        let mut group = Group {
            processes: ProcessId::all(n).map(process).collect(),
            in_flight: Vec::new(),
            delivered: vec![String::new(); n],
            sent: 0,
            accused: Vec::new(),
        };
        for p in 0..n as u32 {
            group.step(p, |process, cx| process.on_start(cx));
        }
        group
    }

    pub(crate) fn multicast(&mut self, p: u32, payload: char) {
        self.step(p, |process, cx| process.on_input(Multicast(payload), cx));
    }

    /// Delivers the `nth` of the messages from `from` to `to`, counted from 0.
    pub(crate) fn deliver_nth(&mut self, from: u32, to: u32, nth: usize) {
        let on_link = self.in_flight.iter().enumerate();
        let mut on_link = on_link.filter(|(_, (f, t, _))| (*f, *t) == (from, to));
        let found = on_link.nth(nth).map(|(index, _)| index);
        self.deliver_at(found.unwrap_or_else(|| panic!("no such message from p{from} to p{to}")));
    }

    /// Delivers the oldest message from `from` to `to`.
    pub(crate) fn deliver(&mut self, from: u32, to: u32) {
        self.deliver_nth(from, to, 0);
    }

    /// Delivers all messages, the oldest first, until none is on its way.
    pub(crate) fn deliver_all(&mut self) {
        while !self.in_flight.is_empty() {
            self.deliver_at(0);
        }
    }

    /// Delivers all messages, the newest first.
    pub(crate) fn deliver_all_backwards(&mut self) {
        while let Some(newest) = self.in_flight.len().checked_sub(1) {
            self.deliver_at(newest);
        }
    }

    /// Delivers a forged message. Returns the accusations that `to` makes, and forgets them.
    pub(crate) fn forge(&mut self, from: u32, to: u32, message: L::Message) -> Vec<&'static str> {
        self.step(to, |process, cx| process.on_message(ProcessId(from), message, cx));
        std::mem::take(&mut self.accused).into_iter().map(|(_, why)| why).collect()
    }

    fn deliver_at(&mut self, index: usize) {
        let (from, to, message) = self.in_flight.remove(index);
        self.step(to, |process, cx| process.on_message(ProcessId(from), message, cx));
    }

    fn step(&mut self, p: u32, run: impl FnOnce(&mut L, &mut Cx<'_, L>)) {
        let n = self.processes.len();
        let process = &mut self.processes[p as usize];
        for effect in step(ProcessId(p), n, |cx| run(process, cx)) {
            self.carry_out(p, effect);
        }
    }

    fn carry_out(&mut self, me: u32, effect: EffectOf<L>) {
        match effect {
            Effect::Send { to, message } => self.send(me, to, message),
            Effect::Multicast { to, message } => {
                to.iter().for_each(|to| self.send(me, to, message.clone()));
            }
            Effect::Output(Deliver { payload, .. }) => self.delivered[me as usize].push(payload),
            Effect::Accuse { who, why } => self.accused.push((who.0, why)),
            Effect::SetTimer { .. }
            | Effect::CancelTimer(_)
            | Effect::Persist(_)
            | Effect::Checkpoint { .. } => {
                panic!("no layer here does this")
            }
        }
    }

    fn send(&mut self, from: u32, to: ProcessId, message: L::Message) {
        assert_ne!(from, to.0, "a message to oneself on the network");
        self.sent += 1;
        self.in_flight.push((from, to.0, message));
    }
}
