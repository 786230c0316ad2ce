//! Causal delivery, as an assumption about the network rather than a protocol.
//!
//! A message may arrive only if no message that was sent causally before it, to the same process,
//! is still in flight. So the network keeps, for every process and every message, the messages of
//! its causal past that have not arrived. It removes a message from all these sets when the message
//! arrives or is lost with all its copies.

use super::fingerprint::hash;
use super::flight::{Envelope, Flight};
use std::collections::{BTreeMap, BTreeSet};
use synod_core::{Algorithm, ProcessId};

/// Messages by number.
type Numbers = BTreeSet<u64>;

#[derive(Clone, Debug)]
pub(crate) struct CausalOrder {
    known: Vec<Numbers>,
    past: BTreeMap<u64, Numbers>,
}

impl CausalOrder {
    pub(crate) fn new(n: usize) -> Self {
        CausalOrder { known: vec![Numbers::new(); n], past: BTreeMap::new() }
    }

    pub(crate) fn on_send(&mut self, from: ProcessId, number: u64) {
        let known = &mut self.known[from.index()];
        self.past.insert(number, known.clone());
        known.insert(number);
    }

    pub(crate) fn on_receive(&mut self, at: ProcessId, number: u64) {
        if let Some(past) = self.past.get(&number) {
            self.known[at.index()].extend(past);
        }
        self.forget(number);
    }

    pub(crate) fn forget(&mut self, number: u64) {
        self.past.remove(&number);
        for known in self.known.iter_mut().chain(self.past.values_mut()) {
            known.remove(&number);
        }
    }

    pub(crate) fn admits<A: Algorithm>(&self, envelope: &Envelope<A>, flight: &Flight<A>) -> bool {
        let Some(past) = self.past.get(&envelope.number) else { return true };
        let earlier = |other: &Envelope<A>| other.to == envelope.to && past.contains(&other.number);
        !flight.iter().any(|(_, other)| earlier(other))
    }

    /// A hash of the contents of the messages, independent of their numbers.
    pub(crate) fn fingerprint<A: Algorithm>(&self, flight: &Flight<A>) -> u64 {
        let name = |envelope: &Envelope<A>| hash(&(envelope.print, flight.rank(envelope)));
        let names: BTreeMap<u64, u64> =
            flight.iter().map(|(_, envelope)| (envelope.number, name(envelope))).collect();
        let sum = |numbers: &Numbers| {
            numbers
                .iter()
                .filter_map(|number| names.get(number))
                .copied()
                .fold(0, u64::wrapping_add)
        };
        let known = self.known.iter().enumerate().map(|(at, known)| (at as u64, sum(known)));
        let past = self
            .past
            .iter()
            .filter_map(|(number, past)| names.get(number).map(|name| (*name, sum(past))));
        known.chain(past).map(|pair| hash(&pair)).fold(0, u64::wrapping_add)
    }
}
