//! A network without limits: every member gets a multicast after the same time, and each member
//! does all its work at once.

use crate::measure::{Measured, Meter};
use crate::members::{Held, Members, Sent, member};
use crate::membership::{Membership, joins_in};
use crate::policy::Policy;
use crate::settings::{Settings, Start};
use crate::wheel::Wheel;
use crate::workload::{ROUND, Time, Workload};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use synod_core::family::slots::Input;
use synod_core::group::Delivery;

/// The members and their network, as the loop below drives them.
pub(crate) trait Group {
    /// A claimed slot.
    type Held;

    /// A round begins.
    fn begin(&mut self, round: u64, workload: &Workload);
    /// The time of the next event that is neither a claim nor a release.
    fn next(&self) -> Option<Time>;
    /// Lets that event happen.
    fn advance(&mut self);
    /// A member claims a slot.
    fn claim(&mut self, node: usize, now: Time) -> Option<Self::Held>;
    /// A slot that a claim has waited for, and its member.
    fn served(&mut self) -> Option<(usize, Self::Held)> {
        None
    }
    /// The time from a claim to its slot.
    fn delay(&self) -> Time {
        0
    }
    /// A member releases a slot.
    fn release(&mut self, node: usize, now: Time, held: Self::Held);
    /// A round is over.
    fn end(&mut self, round: u64);
    /// The run is over.
    fn finish(self, round: u64) -> Measured;
}

/// Drives a group for the length of the settings.
pub(crate) fn run<G: Group>(
    settings: &Settings,
    seed: u64,
    mut group: G,
    progress: &dyn Fn(u64),
) -> Measured {
    let mut workload = Workload::new(settings, seed);
    let mut exits = Wheel::new();
    let mut due = Vec::new();
    let start =
        |workload: &mut Workload, node: usize, now| Reverse((workload.next(node, now), node));
    let mut arrivals: BinaryHeap<Reverse<(Time, usize)>> = (0..settings.nodes)
        .map(|node| start(&mut workload, node, joins_in(settings, node) * ROUND))
        .collect();
    let last = settings.warm_up + settings.rounds;
    for round in 0..last {
        if workload.moves(round) {
            workload.reheat(round);
            arrivals =
                (0..settings.nodes).map(|node| start(&mut workload, node, round * ROUND)).collect();
        }
        group.begin(round, &workload);
        let mut after = round * ROUND;
        exits.take(round, &mut due);
        due.sort_unstable_by_key(|(time, node, _)| (*time, *node));
        let mut leaving = due.drain(..).peekable();
        let end = (round + 1) * ROUND;
        loop {
            while let Some((node, held)) = group.served() {
                exits.put(after + workload.life(node), node, held);
            }
            let event = group.next().unwrap_or(Time::MAX);
            let exit = leaving.peek().map_or(Time::MAX, |(time, _, _)| *time);
            let arrival = arrivals.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
            if event.min(exit).min(arrival) >= end {
                break;
            }
            after = event.min(exit).min(arrival);
            if event <= exit.min(arrival) {
                group.advance();
            } else if exit <= arrival {
                let (now, node, held) = leaving.next().expect("it was peeked at");
                group.release(node, now, held);
            } else {
                let mut first = arrivals.peek_mut().expect("it was peeked at");
                let Reverse((now, node)) = *first;
                *first = Reverse((workload.next(node, now), node));
                drop(first);
                if let Some(held) = group.claim(node, now) {
                    exits.put(now + group.delay() + workload.life(node), node, held);
                }
            }
        }
        drop(leaving);
        group.end(round);
        if round.is_multiple_of(1_000) {
            progress(round);
        }
    }
    group.finish(last)
}

/// Services over the ideal network.
pub(crate) struct Served<S: Policy> {
    /// The number of rounds for which a claim waits.
    wait: Option<u64>,
    members: Members<S>,
    membership: Membership,
    bootstraps: bool,
    latency: Time,
    /// The multicasts under way, and the times of their delivery.
    under_way: VecDeque<(Time, Delivery<S::Message>)>,
    now: Time,
}

impl<S: Policy> Served<S> {
    pub(crate) fn new(settings: &Settings, latency: u64, services: Vec<S>) -> Self {
        let meter =
            Meter::new(settings.nodes, settings.slots, settings.warm_up, settings.sample_every);
        Served {
            wait: settings.wait,
            members: Members::new(services, meter),
            membership: Membership::new(settings),
            bootstraps: settings.start != Start::Together,
            latency: latency * ROUND,
            under_way: VecDeque::new(),
            now: 0,
        }
    }

    fn send(&mut self, now: Time) {
        while let Some(Sent { by, level, message }) = self.members.sent.pop_front() {
            let Some(sent_in) = self.members.view_of(by) else { continue };
            let delivery = Delivery { sender: member(by), sent_in, level, message };
            // Messages travel in whole rounds: a multicast is due when a round begins. (If it took
            // the latency to the moment, all allocators but the mover would fail a little more
            // often.)
            self.under_way.push_back((now / ROUND * ROUND + self.latency, delivery));
        }
    }

    /// Delivers multicasts to all members on the side of their senders, and sends their reactions.
    /// A member takes all of them before the next member takes any: its state is large, and stays
    /// in the cache meanwhile. The reactions are sorted as if all members took one multicast after
    /// the other.
    fn deliver(&mut self, now: Time, deliveries: &[Delivery<S::Message>]) {
        let side =
            |delivery: &Delivery<S::Message>| self.members.view_of(delivery.sender.node.index());
        let sides: Vec<_> = deliveries.iter().map(side).collect();
        let mut sent = Vec::new();
        for node in 0..self.members.count() {
            let here = self.members.view_of(node);
            for (place, delivery) in deliveries.iter().enumerate() {
                if sides[place] == here {
                    self.members.deliver(node, now, delivery.clone());
                    sent.extend(self.members.sent.drain(..).map(|sent| (place, sent)));
                }
            }
        }
        sent.sort_by_key(|(place, _)| *place);
        self.members.sent.extend(sent.into_iter().map(|(_, sent)| sent));
        self.send(now);
    }
}

impl<S: Policy> Group for Served<S> {
    type Held = Held;

    fn begin(&mut self, round: u64, _workload: &Workload) {
        self.now = round * ROUND;
        let views = self.membership.changes(round);
        if views.is_empty() {
            return;
        }
        // Multicasts under way are delivered before the view changes, and reactions to them surface
        // in the next view, with the old tag.
        let under_way = std::mem::take(&mut self.under_way);
        let under_way: Vec<_> = under_way.into_iter().map(|(_, delivery)| delivery).collect();
        self.deliver(self.now, &under_way);
        for (node, view) in views {
            self.members.view(node, self.now, &view);
        }
        if std::mem::take(&mut self.bootstraps) {
            self.members.order(0, self.now, Input::Bootstrap);
        }
        self.send(self.now);
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        let delivery = self.under_way.front().map(|(due, _)| *due);
        [delivery, self.members.timers.next()].into_iter().flatten().min()
    }

    fn advance(&mut self) {
        let delivery = self.under_way.front().map_or(Time::MAX, |(due, _)| *due);
        let timer = self.members.timers.next().unwrap_or(Time::MAX);
        if delivery <= timer {
            let due = self.under_way.partition_point(|(time, _)| *time <= delivery);
            let due: Vec<_> = self.under_way.drain(..due).map(|(_, delivery)| delivery).collect();
            self.deliver(delivery, &due);
        } else {
            self.members.run_out(timer);
            self.send(timer);
        }
    }

    #[inline]
    fn claim(&mut self, node: usize, now: Time) -> Option<Held> {
        let held = match self.wait {
            None => self.members.claim(node, now),
            Some(rounds) => {
                self.members.claim_within(node, now, rounds);
                None
            }
        };
        self.send(now);
        held
    }

    #[inline]
    fn served(&mut self) -> Option<(usize, Held)> {
        self.members.served()
    }

    #[inline]
    fn release(&mut self, node: usize, now: Time, held: Held) {
        self.members.release(node, now, held);
        self.send(now);
    }

    fn end(&mut self, round: u64) {
        if S::MANAGES {
            let now = (round + 1) * ROUND - 1;
            (0..self.members.count()).for_each(|node| self.members.manage(node, now));
            self.send(now);
        }
        self.members.end(round, self.under_way.len() as f64);
    }

    fn finish(self, round: u64) -> Measured {
        self.members.finish(round, true)
    }
}
