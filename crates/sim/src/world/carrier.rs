//! Carries out the effects of one step.

use super::action::{Driver, Happening};
use super::causal::CausalOrder;
use super::fingerprint::Prints;
use super::flight::{Body, Envelope, Flight, Slot};
use super::links::Links;
use super::process::{ApplicationOf, Disk, SetTimer};
use super::{Cut, Fixed, MonitorOf, World, judge};
use synod_core::card::{Order, Timing};
use synod_core::{
    Algorithm, Application, Effect, EffectOf, Host, Moment, Monitor, ProcessId, ProcessSet,
    Violation,
};

fn narrow(ms: u64) -> u32 {
    u32::try_from(ms).unwrap_or(u32::MAX)
}

/// Everything in a world that a step may touch, except the state of the process that takes it.
pub(super) struct Carrier<'a, A: Algorithm> {
    at: ProcessId,
    incarnation: u32,
    has_lost_disk: bool,
    n: usize,
    now_us: u64,
    fixed: &'a Fixed<A>,
    driver: &'a mut dyn Driver<A>,
    application: &'a mut ApplicationOf<A>,
    timers: &'a mut Vec<SetTimer<A::Timer>>,
    disk: &'a mut Option<Box<Disk<A>>>,
    flight: &'a mut Flight<A>,
    monitor: &'a mut MonitorOf<A>,
    links: &'a Links,
    gone: &'a ProcessSet,
    causal: &'a mut Option<Box<CausalOrder>>,
    messages_sent: &'a mut u64,
    timers_set: &'a mut u64,
    found: &'a mut Vec<Violation>,
    prints: &'a mut Option<Prints>,
    cut: &'a mut Option<Cut>,
    urgent: &'a mut Vec<Slot>,
    retracted: &'a mut bool,
    /// How many layers down the step is.
    pub(super) layer: u8,
    /// What the application answers at once.
    pub(super) answers: Vec<A::Input>,
}

impl<A: Algorithm> World<A> {
    pub(super) fn carrier<'a>(
        &'a mut self,
        driver: &'a mut dyn Driver<A>,
        at: ProcessId,
    ) -> Carrier<'a, A> {
        self.carrier_and_state(driver, at).0
    }

    pub(super) fn carrier_and_state<'a>(
        &'a mut self,
        driver: &'a mut dyn Driver<A>,
        at: ProcessId,
    ) -> (Carrier<'a, A>, &'a mut A) {
        let n = self.processes.len();
        let process = &mut self.processes[at.index()];
        let carrier = Carrier {
            at,
            incarnation: process.incarnation,
            has_lost_disk: process.has_lost_disk,
            n,
            now_us: self.now_us,
            fixed: &self.fixed,
            driver,
            application: &mut process.application,
            timers: &mut process.timers,
            disk: &mut process.disk,
            flight: &mut self.flight,
            monitor: &mut self.monitor,
            links: &self.links,
            gone: &self.gone,
            causal: &mut self.causal,
            messages_sent: &mut self.messages_sent,
            timers_set: &mut self.timers_set,
            found: &mut self.found,
            prints: &mut self.prints,
            cut: &mut self.cut,
            urgent: &mut self.urgent,
            retracted: &mut self.retracted,
            layer: 0,
            answers: Vec::new(),
        };
        (carrier, &mut process.state)
    }
}

impl<A: Algorithm> Host<A> for Carrier<'_, A> {
    fn effect(&mut self, effect: EffectOf<A>) {
        self.carry_out(effect);
    }

    fn choose(&mut self, among: u32) -> u32 {
        self.driver.choose(among)
    }

    fn incarnation(&self) -> u32 {
        self.incarnation
    }

    fn has_lost_disk(&self) -> bool {
        self.has_lost_disk
    }

    fn cross(&mut self, down: bool) {
        self.layer = if down { self.layer + 1 } else { self.layer - 1 };
    }

    fn retract(&mut self) {
        *self.retracted = true;
    }
}

impl<A: Algorithm> Carrier<'_, A> {
    /// Carries out one effect; or, if it must wait for the disk, keeps it.
    pub(super) fn carry_out(&mut self, effect: EffectOf<A>) {
        if self.cut.as_ref().is_some_and(|cut| cut.reached) {
            return;
        }
        let must_wait = match &effect {
            Effect::Persist(_) | Effect::Checkpoint(_) => true,
            Effect::Send { .. } | Effect::Multicast { .. } | Effect::Output(_) => {
                self.disk.as_ref().is_some_and(|disk| !disk.held.is_empty())
            }
            Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Accuse { .. } => false,
        };
        if must_wait {
            let held = &mut self.disk.get_or_insert_default().held;
            if held.is_empty() {
                self.driver.see(self.now_us, Happening::Writing(self.at));
            }
            return held.push((self.layer, effect));
        }
        match effect {
            Effect::Send { to, message } => self.send_message(to, message),
            Effect::Multicast { to, message } => self.multicast(&to, &message),
            Effect::SetTimer { timer, after_ms } => self.set_timer(timer, after_ms),
            Effect::CancelTimer(timer) => self.timers.retain(|set| set.timer != timer),
            Effect::Output(output) => self.output(&output),
            Effect::Persist(_) | Effect::Checkpoint(_) => {
                unreachable!("a record always waits for the disk")
            }
            Effect::Accuse { who, why } => {
                self.driver.see(self.now_us, Happening::Accused(self.at, who, why));
            }
        }
    }

    fn send_message(&mut self, to: ProcessId, message: A::Message) {
        assert!(to.index() < self.n, "a message to {to}, in a group of {}", self.n);
        self.send(to, Body::Message(message), true);
    }

    fn multicast(&mut self, receivers: &ProcessSet, message: &A::Message) {
        let mut carried = true;
        for to in receivers.iter() {
            assert!(to.index() < self.n, "a message to {to}, in a group of {}", self.n);
            self.send(to, Body::Message(message.clone()), carried);
            if self.cut.as_ref().is_some_and(|cut| cut.reached) {
                return;
            }
            carried = !self.fixed.multicast;
        }
    }

    /// Whether the process still is there to let one more message or output go out.
    fn goes_out(&mut self) -> bool {
        let Some(cut) = self.cut else { return true };
        match cut.left.checked_sub(1) {
            Some(left) => cut.left = left,
            None => cut.reached = true,
        }
        !cut.reached
    }

    pub(super) fn send(&mut self, to: ProcessId, body: Body<A::Message>, carried: bool) {
        // What a multicast network carries for all receivers goes out as one.
        if carried && !self.goes_out() {
            return;
        }
        let number = *self.messages_sent;
        *self.messages_sent += 1;
        let tag = self.monitor.on_send(self.at);
        let left_ms = match self.fixed.timing {
            Timing::Asynchronous => None,
            Timing::Synchronous { delay_ms } => Some(narrow(delay_ms)),
        };
        let envelope = Envelope { from: self.at, to, body, tag, left_ms, number };
        let layer = self.layer;
        if !self.links.work() && self.links.is_cut(self.at, to) {
            // It was sent all the same, and is counted; it just never arrives.
            let (slot, envelope, why) = (None, &envelope, "the link is cut");
            self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
            self.driver.see(self.now_us, Happening::Lost { envelope, why });
            return;
        }
        if self.gone.contains(to) {
            let (slot, envelope) = (None, &envelope);
            self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
            return;
        }
        if let Some(causal) = self.causal {
            causal.on_send(self.at, number);
        }
        if let (Some(prints), Order::Any) = (&mut *self.prints, self.fixed.order) {
            prints.add(&envelope);
        }
        let is_urgent = envelope.is_urgent(&self.fixed.reductions);
        let slot = self.flight.put(envelope);
        if is_urgent {
            self.urgent.push(slot);
        }
        let envelope = self.flight.get(slot).expect("it was just put there");
        let slot = Some(slot);
        self.driver.see(self.now_us, Happening::Sent { slot, envelope, layer, carried });
    }

    fn set_timer(&mut self, timer: A::Timer, after_ms: u64) {
        let number = *self.timers_set;
        *self.timers_set += 1;
        self.timers.retain(|set| set.timer != timer);
        let left_ms = match self.fixed.timing {
            Timing::Asynchronous => 0,
            Timing::Synchronous { .. } => narrow(after_ms),
        };
        let is_fault = self.fixed.reductions.is_fault(&timer);
        self.timers.push(SetTimer { number, timer, left_ms, is_fault });
        self.driver.see(self.now_us, Happening::TimerSet { at: self.at, timer: number, after_ms });
    }

    fn output(&mut self, output: &A::Output) {
        if !self.goes_out() {
            return;
        }
        let moment = Moment { now_us: self.now_us, clocks: &self.fixed.clocks };
        self.answers.extend(self.application.on_output(output, moment));
        let before = self.found.len();
        self.monitor.on_output(self.at, output, moment, self.found);
        self.driver.see(self.now_us, Happening::Told(self.at, output));
        judge::tell(self.found, before, &self.fixed.judged, self.now_us, self.driver);
        if self.monitor.has_stale_tags() {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let count = self.fixed.order == Order::Any;
        for envelope in self.flight.envelopes_mut() {
            let before = envelope.tag.clone();
            self.monitor.prune(&mut envelope.tag);
            if let (Some(prints), true) = (&mut *self.prints, count && before != envelope.tag) {
                prints.swap_tag(envelope, before);
            }
        }
    }
}
