//! The network between the processes.

use super::causal::CausalOrder;
use super::fingerprint::hash;
use super::flight::{Envelope, Flight, Slot};
use super::links::Links;
use synod_core::card::Order;
use synod_core::family::Tag;
use synod_core::{Algorithm, ProcessSet, clone_by_field};

/// The network: the messages in flight, and the rules for their delivery.
#[derive(Debug)]
pub(super) struct Medium<A: Algorithm> {
    pub(super) flight: Flight<A>,
    pub(super) links: Links,
    /// The processes that have crashed for good.
    pub(super) gone: ProcessSet,
    /// The causal predecessors of each message, if the network orders causally.
    pub(super) causal: Option<Box<CausalOrder>>,
    /// The sum of the hashes of all messages, if it is kept.
    pub(super) print: Option<u64>,
}

clone_by_field!(Medium<A: Algorithm> { flight, links, gone, print; causal });

impl<A: Algorithm> Medium<A> {
    /// An empty network between `n` processes.
    pub(super) fn new(n: usize, order: Order) -> Self {
        let causal = (order == Order::Causal).then(|| Box::new(CausalOrder::new(n)));
        let (flight, links, gone) = (Flight::default(), Links::default(), ProcessSet::EMPTY);
        Medium { flight, links, gone, causal, print: None }
    }

    pub(super) fn put(&mut self, mut envelope: Envelope<A>) -> Slot {
        if let Some(print) = &mut self.print {
            envelope.print = hash(&envelope);
            *print = print.wrapping_add(envelope.print);
        }
        self.flight.put(envelope)
    }

    pub(super) fn take(&mut self, slot: Slot) -> Envelope<A> {
        let envelope = self.flight.take(slot).expect("the action is possible");
        if let Some(print) = &mut self.print {
            *print = print.wrapping_sub(envelope.print);
        }
        envelope
    }

    /// Changes the monitor's notes on the messages in flight.
    pub(super) fn retag(&mut self, change: impl Fn(&mut Tag)) {
        for envelope in self.flight.envelopes_mut() {
            let before = self.print.is_some().then(|| envelope.tag.clone());
            change(&mut envelope.tag);
            if let (Some(print), Some(before)) = (&mut self.print, before)
                && before != envelope.tag
            {
                *print = print.wrapping_sub(envelope.print);
                envelope.print = hash(envelope);
                *print = print.wrapping_add(envelope.print);
            }
        }
    }

    /// From now on the network keeps the hash of each message, and their sum.
    pub(super) fn keep_print(&mut self) {
        let mut sum: u64 = 0;
        for envelope in self.flight.envelopes_mut() {
            envelope.print = hash(envelope);
            sum = sum.wrapping_add(envelope.print);
        }
        self.print = Some(sum);
    }

    /// Later messages no longer wait for this one.
    pub(super) fn forget_causal(&mut self, envelope: &Envelope<A>) {
        // While a copy is in flight, later messages must go on waiting for it.
        let is_copy = |other: &Envelope<A>| other.number == envelope.number;
        if let Some(causal) = &mut self.causal
            && !self.flight.iter().any(|(_, other)| is_copy(other))
        {
            causal.forget(envelope.number);
        }
    }
}
