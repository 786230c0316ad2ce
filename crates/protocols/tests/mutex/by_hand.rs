//! A group of processes whose every step is chosen by hand, for histories told in sentences.

use std::collections::BTreeSet;
use synod_core::family::mutex::{Input, Mutex, Output};
use synod_core::{
    Algorithm, Cx, Effect, EffectOf, Notes, ProcessId, Setup, Snapshot, System, Wire, step,
};

/// Processes, messages on their way, and a record of their steps.
pub(crate) struct Group<A: Algorithm<Family = Mutex>> {
    pub(crate) processes: Vec<A>,
    pub(crate) in_flight: Vec<(ProcessId, ProcessId, A::Message)>,
    /// The processes that entered, in order.
    pub(crate) entered: Vec<u32>,
    /// The processes that are inside.
    pub(crate) inside: BTreeSet<u32>,
    /// The number of messages sent.
    pub(crate) sent: usize,
    /// The number of accusations.
    pub(crate) accusations: usize,
}

impl<A: Algorithm<Family = Mutex>> Group<A> {
    pub(crate) fn of(n: usize) -> Self {
        Self::set_up(&Setup::new(n))
    }

    pub(crate) fn set_up(setup: &Setup) -> Self {
        let mut group = Group {
            processes: A::processes(setup).expect("a setup that fits the card"),
            in_flight: Vec::new(),
            entered: Vec::new(),
            inside: BTreeSet::new(),
            sent: 0,
            accusations: 0,
        };
        for p in 0..setup.n as u32 {
            group.step(p, |process, cx| process.on_start(cx));
        }
        group
    }

    pub(crate) fn enter(&mut self, p: u32) {
        self.step(p, |process, cx| process.on_input(Input::Enter, cx));
    }

    pub(crate) fn exit(&mut self, p: u32) {
        self.inside.remove(&p);
        self.step(p, |process, cx| process.on_input(Input::Exit, cx));
    }

    /// The timer of `p` runs out.
    pub(crate) fn fire(&mut self, p: u32, timer: A::Timer) {
        self.step(p, |process, cx| process.on_timer(timer, cx));
    }

    /// Delivers the oldest message of that kind from `from` to `to`.
    pub(crate) fn deliver(&mut self, from: u32, to: u32, kind: &str) {
        let found = self
            .in_flight
            .iter()
            .position(|(f, t, message)| f.0 == from && t.0 == to && message.kind() == kind);
        let found = found.unwrap_or_else(|| panic!("no {kind} from p{from} to p{to} on its way"));
        self.deliver_at(found);
    }

    /// Delivers all messages, in the order of sending, until none is on its way.
    pub(crate) fn deliver_all(&mut self) {
        while !self.in_flight.is_empty() {
            self.deliver_at(0);
        }
    }

    /// Delivers all messages, in the order of sending; a process that enters leaves at once.
    pub(crate) fn let_everybody_in(&mut self) {
        loop {
            if let Some(p) = self.inside.first().copied() {
                self.exit(p);
            } else if !self.in_flight.is_empty() {
                self.deliver_at(0);
            } else {
                return;
            }
        }
    }

    /// The messages on their way, as (from, to, kind), in the order of sending.
    pub(crate) fn under_way(&self) -> Vec<(u32, u32, &'static str)> {
        self.in_flight.iter().map(|(from, to, message)| (from.0, to.0, message.kind())).collect()
    }

    /// Delivers a forged message.
    pub(crate) fn forge(&mut self, from: u32, to: u32, message: A::Message) {
        self.step(to, |process, cx| process.on_message(ProcessId(from), message, cx));
    }

    pub(crate) fn invariants_hold(&self) -> bool {
        A::invariants()
            .iter()
            .all(|invariant| (invariant.holds)(&Snapshot::new(self, &Notes::default())))
    }

    fn deliver_at(&mut self, index: usize) {
        let (from, to, message) = self.in_flight.remove(index);
        self.step(to.0, |process, cx| process.on_message(from, message, cx));
    }

    fn step(&mut self, p: u32, run: impl FnOnce(&mut A, &mut Cx<'_, A>)) {
        let n = self.processes.len();
        let process = &mut self.processes[p as usize];
        for effect in step(ProcessId(p), n, |cx| run(process, cx)) {
            self.carry_out(ProcessId(p), effect);
        }
    }

    fn carry_out(&mut self, me: ProcessId, effect: EffectOf<A>) {
        match effect {
            Effect::Send { to, message } => self.send(me, to, message),
            Effect::Multicast { to, message } => {
                for to in to.iter() {
                    self.send(me, to, message.clone());
                }
            }
            Effect::Output(Output::Entered) => {
                self.entered.push(me.0);
                self.inside.insert(me.0);
            }
            Effect::Accuse { .. } => self.accusations += 1,
            Effect::SetTimer { .. } => {}
            Effect::CancelTimer(_) | Effect::Persist(_) | Effect::Checkpoint { .. } => {
                panic!("no algorithm here does this")
            }
        }
    }

    fn send(&mut self, from: ProcessId, to: ProcessId, message: A::Message) {
        assert_ne!(from, to, "a message to oneself on the network");
        self.sent += 1;
        self.in_flight.push((from, to, message));
    }
}

impl<A: Algorithm<Family = Mutex>> System<A> for Group<A> {
    fn size(&self) -> usize {
        self.processes.len()
    }

    fn print(&self, _at: ProcessId) -> u64 {
        0
    }

    fn process(&self, at: ProcessId) -> &A {
        &self.processes[at.index()]
    }

    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s A::Message)) {
        self.in_flight.iter().for_each(|(from, to, message)| show(*from, *to, message));
    }
}
