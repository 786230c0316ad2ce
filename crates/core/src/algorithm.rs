//! A protocol with a name: what the catalogue holds.

use crate::card::{Card, Size};
use crate::durable::{BadRecord, Record};
use crate::family::Family;
use crate::process::ProcessId;
use crate::protocol::Protocol;
use crate::setup::{Setup, SetupError};
use std::any::Any;
use std::cell::OnceCell;

/// How a durable algorithm takes a record back in.
pub type Replay<P> = fn(&mut P, &Record) -> Result<(), BadRecord>;

/// A protocol with a name, a family and a card. Its drivers need nothing else.
pub trait Algorithm:
    Protocol<Input = <Self::Family as Family>::Input, Output = <Self::Family as Family>::Output>
{
    /// What it is for: fixes its inputs and outputs, its workload and its properties.
    type Family: Family;

    /// Its card.
    const CARD: Card;

    /// How it survives a crash; `Some(durable::replay)` for a [`Durable`](crate::Durable) protocol.
    const REPLAY: Option<Replay<Self>> = None;

    /// The processes of a group, before they start. `setup` already fits the card.
    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// The processes of a group, after a look at the card.
    fn processes(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        setup.fits(&Self::kit(setup).card)?;
        Self::assemble(setup)
    }

    /// What drivers have to know of it, if it is set up so.
    fn kit(_setup: &Setup) -> Kit<Self> {
        let invariants = Self::invariants().to_vec();
        Kit { card: Self::CARD, replay: Self::REPLAY, invariants }
    }

    /// Whether the application at this process makes requests. (A server does not.)
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }

    /// Whether such a group goes on sending although nobody wants anything.
    fn is_restless(_processes: &[Self]) -> bool {
        Self::CARD.restless
    }

    /// What its cost formulas are about.
    fn size(processes: &[Self]) -> Size {
        Size { n: processes.len(), k: processes.len() }
    }

    /// Whether a timer begins a round of the algorithm, so that messages are counted for each.
    fn begins_round(_timer: &Self::Timer) -> bool {
        false
    }

    /// Whether a timer stands for something that goes wrong: explorers then treat it as a fault, that
    /// may come and need not. (In an idealised group service: the network falls apart.)
    fn is_fault(_timer: &Self::Timer) -> bool {
        false
    }

    /// How often things may still go wrong that this process stands for, each kind for itself. States that
    /// differ in nothing else are worth exploring only where it is more; so it is not hashed, nor are
    /// timers that stand for faults.
    fn faults_left(&self) -> [u8; 8] {
        [0; 8]
    }

    /// Whether the formulas on its card are about a group that is set up so. (Some are only about
    /// the usual layer below.)
    fn has_costs(_setup: &Setup) -> bool {
        true
    }

    /// What must always be true inside, beyond the family's properties.
    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }

    /// The application at this process sends a message to another. An algorithm with a logical
    /// clock advances it and gives the message its time, so that the order of events is known.
    fn stamp(&mut self) -> u64 {
        0
    }

    /// A message of another application arrives, with the stamp that its process gave it.
    fn witness(&mut self, _stamp: u64) {}

    /// Makes numbers small that matter only relative to each other, without changing anything
    /// that can ever happen; an explorer then sees that an endless run goes in a circle.
    /// Returns whether the algorithm does this at all, whatever state it is given.
    fn normalise(_processes: &mut [&mut Self], _in_flight: &mut [&mut Self::Message]) -> bool {
        false
    }
}

/// What drivers have to know of an algorithm.
#[derive(Clone, Debug)]
pub struct Kit<P: Protocol> {
    /// Its card.
    pub card: Card,
    /// How it survives a crash, if it does.
    pub replay: Option<Replay<P>>,
    /// What must always be true inside.
    pub invariants: Vec<Invariant<P>>,
}

/// What can be seen of a whole system. Drivers implement it, so that nothing is copied for a look.
pub trait System<P: Protocol> {
    /// How many processes there are.
    fn size(&self) -> usize;
    /// The state of one process.
    fn process(&self, at: ProcessId) -> &P;
    /// Shows every message on its way: from, to, what.
    fn each_message<'s>(&'s self, show: &mut dyn FnMut(ProcessId, ProcessId, &'s P::Message));
}

/// A look at the whole system at one moment, as nobody inside can have it.
pub struct Snapshot<'a, P: Protocol> {
    pub(crate) system: &'a dyn System<P>,
    pub(crate) notes: &'a Notes,
}

/// What one invariant found out about a snapshot, and others may use.
#[derive(Debug, Default)]
pub struct Notes(OnceCell<Box<dyn Any>>);

impl<'a, P: Protocol> Snapshot<'a, P> {
    /// A look at this system. The notes belong to this moment.
    pub fn new(system: &'a dyn System<P>, notes: &'a Notes) -> Self {
        Snapshot { system, notes }
    }

    /// Finds something out, once for all invariants that are judged at this moment. All must ask for the
    /// same thing.
    pub fn once<T: 'static>(&self, find_out: impl FnOnce() -> T) -> &'a T {
        let note = self.notes.0.get_or_init(|| Box::new(find_out()));
        note.downcast_ref().expect("invariants of one algorithm want to know the same thing")
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.system.size()
    }

    /// The state of each process, in order.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = &'a P> + use<'a, P> {
        let system = self.system;
        (0..system.size()).map(|index| system.process(ProcessId(index as u32)))
    }

    /// Every message on its way: from, to, what.
    pub fn in_flight(&self) -> Vec<(ProcessId, ProcessId, &'a P::Message)> {
        let mut messages = Vec::new();
        self.system.each_message(&mut |from, to, message| messages.push((from, to, message)));
        messages
    }
}

/// Something that must be true of every snapshot.
#[derive(Debug)]
pub struct Invariant<P: Protocol> {
    /// Its name, used like a property's id: `one-token`.
    pub name: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Whether it is true.
    pub holds: fn(&Snapshot<'_, P>) -> bool,
}

impl<P: Protocol> Copy for Invariant<P> {}

impl<P: Protocol> Clone for Invariant<P> {
    fn clone(&self) -> Self {
        *self
    }
}
