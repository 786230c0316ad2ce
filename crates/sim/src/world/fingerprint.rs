//! Fingerprints of worlds: 64 bits that distinguish two worlds, up to the numbers of slots and
//! timers.
//!
//! A world is a sum of parts (each process, each message), and its fingerprint is the sum of their
//! hashes. So a step hashes only the parts that it changes, each process once.

use super::flight::{Envelope, Slot};
use super::process::Print;
use super::{FaultsLeft, Order, World};
use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hash};
use synod_core::reductions::FaultBudgets;
use synod_core::{Algorithm, Effect, ProcessId};

/// An arbitrary number. It must never change: recorded counts of states depend on it.
const SEED: u64 = 0x5eed_0f5e_edf0_0d1e;

pub(super) fn hash<T: Hash>(value: &T) -> u64 {
    FixedState::with_seed(SEED).hash_one(value)
}

/// Remaining fault budget, per kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    world: FaultsLeft,
    /// The budgets inside processes: see [`synod_core::Reductions::faults_left`].
    processes: FaultBudgets,
}

impl Left {
    /// The budget of a driver.
    pub fn of(world: FaultsLeft) -> Self {
        Left { world, ..Left::default() }
    }

    /// A hash that distinguishes budgets.
    pub fn print(&self) -> u64 {
        hash(self)
    }

    /// Whether this budget is at least as large as the other, for each kind.
    pub fn covers(&self, other: &Left) -> bool {
        self.world.covers(&other.world)
            && self.processes.iter().zip(other.processes).all(|(a, b)| *a >= b)
    }
}

impl<A: Algorithm> World<A> {
    /// From now on every step updates the fingerprint.
    pub fn keep_fingerprint(&mut self) {
        self.medium.keep_print();
        (self.print, self.progress.changes) = (1, 0);
        ProcessId::all(self.processes.len()).for_each(|at| self.forget_print(at));
        self.renew_prints();
    }

    /// Hashes the processes that took a step anew.
    pub(super) fn renew_prints(&mut self) {
        if self.print == 0 {
            return;
        }
        let (now_us, reductions) = (self.clock_us(), self.fixed.reductions);
        for (index, process) in self.processes.iter_mut().enumerate().filter(|(_, p)| p.print == 0)
        {
            process.print = hash(&(index, Print { process, now_us, reductions })).max(1);
        }
        // In a synchronous world only the remaining times matter, and these are in its parts.
        let now_us = if self.is_synchronous() { 0 } else { self.now_us };
        self.monitor_print = hash(&(&self.monitor, now_us));
        self.print = self.sum_of_prints();
    }

    /// The fingerprint. Two worlds with the same one behave the same for ever, except for their
    /// fault budgets, which only a full exploration includes. (Two different worlds share one by
    /// coincidence with a probability of about the square of their number divided by 2^65.)
    pub fn fingerprint(&self) -> u64 {
        if self.fixed.full { self.whole_fingerprint(false) } else { self.kept_fingerprint() }
    }

    fn kept_fingerprint(&self) -> u64 {
        assert_ne!(self.print, 0, "keep_fingerprint was called");
        self.print
    }

    fn sum_of_prints(&self) -> u64 {
        let processes = self.processes.iter().fold(0, |sum: u64, process| {
            debug_assert_ne!(process.print, 0, "a step renews prints");
            sum.wrapping_add(process.print)
        });
        let mut rest = self.monitor_print;
        if !self.medium.links.work() {
            rest = rest.wrapping_add(hash(&self.medium.links));
        }
        let flight = match self.fixed.order {
            Order::Any => self.medium.print.unwrap_or(0),
            Order::Fifo | Order::Causal => self.ordered_flight(),
        };
        // Zero means "no fingerprint".
        processes.wrapping_add(rest).wrapping_add(flight).max(1)
    }

    /// The remaining fault budget: two worlds with the same fingerprint may differ in it.
    pub fn left(&self) -> Left {
        let mut left = Left::of(self.faults);
        for process in self.processes.iter().filter(|_| self.fixed.stand_for_faults) {
            let more = self.fixed.reductions.faults_left(process.state());
            for (sum, more) in left.processes.iter_mut().zip(more) {
                *sum = sum.saturating_add(more);
            }
        }
        left
    }

    /// A fingerprint that includes the remaining fault budget.
    pub fn whole_fingerprint(&self, normal: bool) -> u64 {
        let print = if normal { self.normal_fingerprint() } else { self.kept_fingerprint() };
        print.wrapping_add(self.left().print()).max(1)
    }

    fn ordered_flight(&self) -> u64 {
        let flight = &self.medium.flight;
        let ranked =
            |(_, envelope): (Slot, &'_ Envelope<A>)| hash(&(envelope.print, flight.rank(envelope)));
        let links = flight.iter().map(ranked).fold(0, u64::wrapping_add);
        let causal = self.medium.causal.as_ref().map_or(0, |causal| causal.fingerprint(flight));
        links.wrapping_add(causal)
    }

    /// The fingerprint of the world after normalisation, where only relations between numbers
    /// matter: see [`synod_core::Reductions::normalise`].
    pub fn normal_fingerprint(&self) -> u64 {
        let mut world = self.clone();
        let mut messages = world.medium.flight.messages_mut();
        let mut states = Vec::new();
        for process in &mut world.processes {
            // Worlds are normalised only where no process restarts, so no process reads its disk
            // again. The effects that wait for the disk still matter.
            if let Some(disk) = &mut process.disk {
                disk.records.clear();
            }
            let (state, waiting) = process.host.parts_mut();
            states.push(state);
            for (_, effect) in waiting {
                match effect {
                    Effect::Persist(record) | Effect::Checkpoint { record, .. } => record.0.clear(),
                    Effect::Send { message, .. } | Effect::Multicast { message, .. } => {
                        messages.push(message);
                    }
                    _ => {}
                }
            }
        }
        self.fixed.reductions.normalise(&mut states, &mut messages);
        world.keep_fingerprint();
        world.fingerprint()
    }

    /// A process changes. Where no fingerprints are kept, its changes are numbered instead.
    pub(super) fn forget_print(&mut self, at: ProcessId) {
        self.progress.changes += u64::from(self.print == 0);
        self.processes[at.index()].touch(self.progress.changes);
    }
}
