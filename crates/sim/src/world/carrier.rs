//! Carries out the effects of a step.

use super::action::{Driver, Happening};
use super::flight::{Body, Envelope};
use super::medium::Medium;
use super::process::{ApplicationOf, Disk};
use super::progress::Progress;
use super::{Fixed, MonitorOf, World, judge};
use synod_core::card::Timing;
use synod_core::durable::Record;
use synod_core::host::{Host, Outlet, Write};
use synod_core::{Algorithm, Application, Moment, Monitor, ProcessId, ProcessSet};

fn narrow(ms: u64) -> u32 {
    u32::try_from(ms).unwrap_or(u32::MAX)
}

/// The outlet of a host in a world: the parts of the world that its step may change.
pub(super) struct Carrier<'a, A: Algorithm> {
    at: ProcessId,
    now_us: u64,
    incarnation: u32,
    has_lost_disk: bool,
    fixed: &'a Fixed<A>,
    application: &'a mut ApplicationOf<A>,
    disk: &'a mut Option<Box<Disk>>,
    medium: &'a mut Medium<A>,
    monitor: &'a mut MonitorOf<A>,
    progress: &'a mut Progress,
    driver: &'a mut dyn Driver<A>,
    /// The immediate answers of the application.
    pub(super) answers: Vec<A::Input>,
}

impl<A: Algorithm> World<A> {
    /// The host of a process, and the outlet for its effects.
    pub(super) fn host_and_carrier<'a>(
        &'a mut self,
        at: ProcessId,
        driver: &'a mut dyn Driver<A>,
    ) -> (&'a mut Host<A>, Carrier<'a, A>) {
        let process = &mut self.processes[at.index()];
        let carrier = Carrier {
            at,
            now_us: self.now_us,
            incarnation: process.incarnation,
            has_lost_disk: process.has_lost_disk,
            fixed: &self.fixed,
            application: &mut process.application,
            disk: &mut process.disk,
            medium: &mut self.medium,
            monitor: &mut self.monitor,
            progress: &mut self.progress,
            driver,
            answers: Vec::new(),
        };
        (&mut process.host, carrier)
    }
}

impl<A: Algorithm> Outlet<A> for Carrier<'_, A> {
    fn me(&self) -> ProcessId {
        self.at
    }

    fn group_size(&self) -> usize {
        self.fixed.initial.len()
    }

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn incarnation(&self) -> u32 {
        self.incarnation
    }

    fn has_lost_disk(&self) -> bool {
        self.has_lost_disk
    }

    fn choose(&mut self, among: u32) -> u32 {
        self.driver.choose(among)
    }

    fn send(&mut self, to: ProcessId, message: A::Message, layer: u8) {
        self.must_be_one_of_us(to);
        self.post(to, Body::Message(message), layer, true);
    }

    fn multicast(&mut self, to: &ProcessSet, message: A::Message, layer: u8) {
        let mut carried = true;
        for to in to.iter() {
            self.must_be_one_of_us(to);
            self.post(to, Body::Message(message.clone()), layer, carried);
            if self.is_cut_off() {
                return;
            }
            carried = !self.fixed.multicast;
        }
    }

    fn output(&mut self, output: A::Output) {
        if !self.progress.lets_out() {
            return;
        }
        let moment = Moment { now_us: self.now_us, clocks: &self.fixed.clocks };
        self.answers.extend(self.application.on_output(&output, moment));
        let found = &mut self.progress.found;
        let before = found.len();
        self.monitor.on_output(self.at, &output, moment, found);
        self.driver.see(self.now_us, Happening::Output(self.at, &output));
        judge::report(found, before, &self.fixed.judged, self.now_us, self.driver);
        if self.monitor.has_stale_tags() {
            self.medium.retag(|tag| self.monitor.prune(tag));
        }
    }

    fn accuse(&mut self, who: ProcessId, why: &'static str) {
        self.driver.see(self.now_us, Happening::Accused(self.at, who, why));
    }

    fn timer_set(&mut self, after_ms: u64) -> u64 {
        let timer = self.progress.counts.timers;
        self.progress.counts.timers += 1;
        self.driver.see(self.now_us, Happening::TimerSet { at: self.at, timer, after_ms });
        timer
    }

    fn timer_fired(&mut self, timer: &A::Timer) {
        self.driver.see(self.now_us, Happening::TimerFired(self.at, timer));
    }

    fn writing(&mut self) {
        self.disk.get_or_insert_default();
        self.driver.see(self.now_us, Happening::Writing(self.at));
    }

    fn written(&mut self, write: Write<Record>) {
        self.disk.get_or_insert_default().write(write);
    }

    fn synced(&mut self, records: usize) {
        self.driver.see(self.now_us, Happening::Synced(self.at, records));
    }

    fn is_cut_off(&self) -> bool {
        self.progress.is_cut_off()
    }

    fn retract(&mut self) {
        self.progress.retracted = true;
    }
}

impl<A: Algorithm> Carrier<'_, A> {
    fn must_be_one_of_us(&self, to: ProcessId) {
        let n = self.group_size();
        assert!(to.index() < n, "a message to {to}, in a group of {n}");
    }

    /// Puts a message on its way, unless its link is cut or its receiver is gone for good.
    pub(super) fn post(&mut self, to: ProcessId, body: Body<A::Message>, layer: u8, carried: bool) {
        // A multicast network carries one message for all receivers, so a cut counts it once.
        if carried && !self.progress.lets_out() {
            return;
        }
        let number = self.progress.counts.messages;
        self.progress.counts.messages += 1;
        let tag = self.monitor.on_send(self.at);
        let left_ms = match self.fixed.timing {
            Timing::Asynchronous => None,
            Timing::Synchronous { delay_ms } => Some(narrow(delay_ms)),
        };
        let envelope = Envelope { from: self.at, to, body, tag, left_ms, number, print: 0 };
        let links = &self.medium.links;
        if !links.work() && links.is_cut(self.at, to) {
            // The message counts as sent, but never arrives.
            let (slot, envelope, why) = (None, &envelope, "the link is cut");
            self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
            self.driver.see(self.now_us, Happening::Lost { envelope, why });
            return;
        }
        if self.medium.gone.contains(to) {
            let (slot, envelope) = (None, &envelope);
            self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
            return;
        }
        if let Some(causal) = &mut self.medium.causal {
            causal.on_send(self.at, number);
        }
        let is_urgent = envelope.is_urgent(&self.fixed.reductions);
        let slot = self.medium.put(envelope);
        if is_urgent {
            self.progress.urgent.push(slot);
        }
        let envelope = self.medium.flight.get(slot).expect("it was just put there");
        let slot = Some(slot);
        self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
    }
}
