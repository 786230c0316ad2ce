//! Delivery, loss and duplication of messages.

use super::{Body, Driver, Happening, Slot, Status, World};
use synod_core::{Algorithm, Monitor, ProcessId};

impl<A: Algorithm> World<A> {
    /// Delivers the urgent messages of a step before it ends, in the order of sending. A message of
    /// a process to itself divides the step: the world judges the state before it, like a state
    /// between two steps. Returns whether that happened.
    pub(super) fn deliver_urgent(&mut self, driver: &mut dyn Driver<A>) -> bool {
        let mut is_divided = false;
        while !self.progress.urgent.is_empty() {
            let slot = self.progress.urgent.remove(0);
            if self.medium.flight.get(slot).is_some_and(|envelope| envelope.from == envelope.to) {
                is_divided = true;
                self.renew_prints();
                self.judge(driver);
            }
            self.deliver(slot, driver);
        }
        is_divided
    }

    pub(super) fn tell(&mut self, from: ProcessId, to: ProcessId, driver: &mut dyn Driver<A>) {
        self.faults.tells = self.faults.tells.saturating_sub(1);
        self.forget_print(from);
        let (host, mut carrier) = self.host_and_carrier(from, driver);
        carrier.post(to, Body::Tell(host.state_mut().stamp()), 0, true);
    }

    pub(super) fn deliver(&mut self, slot: Slot, driver: &mut dyn Driver<A>) {
        let envelope = self.medium.take(slot);
        let (from, at) = (envelope.from, envelope.to);
        if self.processes[at.index()].status == Status::Crashed {
            self.medium.forget_causal(&envelope);
            let why = "nobody is there";
            driver.see(self.now_us, Happening::Lost { envelope: &envelope, why });
            return;
        }
        if let Some(causal) = &mut self.medium.causal {
            causal.on_receive(at, envelope.number);
        }
        self.monitor.on_receive(at, &envelope.tag);
        driver.see(self.now_us, Happening::Received { slot, envelope: &envelope });
        match envelope.body {
            Body::Message(message) => {
                self.run(at, driver, |host, carrier| host.on_message(from, message, carrier));
            }
            Body::Tell(stamp) => {
                self.forget_print(at);
                self.processes[at.index()].host.state_mut().witness(stamp);
            }
        }
    }

    pub(super) fn lose(&mut self, slot: Slot, why: &'static str, driver: &mut dyn Driver<A>) {
        self.faults.drops = self.faults.drops.saturating_sub(1);
        let envelope = self.medium.take(slot);
        self.medium.forget_causal(&envelope);
        driver.see(self.now_us, Happening::Lost { envelope: &envelope, why });
    }

    pub(super) fn duplicate(&mut self, of: Slot, driver: &mut dyn Driver<A>) {
        self.faults.duplicates = self.faults.duplicates.saturating_sub(1);
        let copy = self.medium.flight.get(of).expect("the action is possible").clone();
        let slot = self.medium.put(copy);
        let envelope = self.medium.flight.get(slot).expect("it was just put there");
        driver.see(self.now_us, Happening::Duplicated { of, slot, envelope });
    }
}
