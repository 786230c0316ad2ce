//! Messages on their way.

use serde::Serialize;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use synod_core::{Algorithm, Family, Monitor, ProcessId, Protocol, Reductions, Wire};

/// The knowledge that a message carries for the monitor.
pub type TagOf<A> = <<<A as Algorithm>::Family as Family>::Monitor as Monitor>::Tag;

/// A message on its way.
#[derive(Debug)]
pub struct Envelope<A: Algorithm> {
    /// Who sent it.
    pub from: ProcessId,
    /// Where it goes.
    pub to: ProcessId,
    /// What it says.
    pub body: Body<A::Message>,
    /// What the monitor wrote on it.
    pub tag: TagOf<A>,
    /// Within how many milliseconds it arrives, if the world is synchronous and it is not late.
    pub left_ms: Option<u32>,
    /// Its number: messages are counted in the order of sending. A duplicate has the same.
    pub number: u64,
    /// Its hash, which tells it from other envelopes but for its number; 0 if no fingerprint is
    /// kept.
    pub(super) print: u64,
}

impl<A: Algorithm> Clone for Envelope<A> {
    fn clone(&self) -> Self {
        let Envelope { from, to, left_ms, number, print, .. } = *self;
        let (body, tag) = (self.body.clone(), self.tag.clone());
        Envelope { from, to, body, tag, left_ms, number, print }
    }

    // Explorers copy worlds all the time: what is already the same message stays.
    fn clone_from(&mut self, source: &Self) {
        let Envelope { from, to, left_ms, number, print, .. } = *source;
        (self.from, self.to, self.left_ms) = (from, to, left_ms);
        (self.number, self.print) = (number, print);
        self.body.clone_from(&source.body);
        self.tag.clone_from(&source.tag);
    }
}

/// What is in an envelope.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Body<M> {
    /// A message of the algorithm.
    Message(M),
    /// A message between two applications, with the stamp that the sender's process gave it.
    Tell(u64),
}

impl<M: Clone> Clone for Body<M> {
    fn clone(&self) -> Self {
        match self {
            Body::Message(message) => Body::Message(message.clone()),
            Body::Tell(stamp) => Body::Tell(*stamp),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Body::Message(mine), Body::Message(theirs)) => mine.clone_from(theirs),
            (mine, theirs) => *mine = theirs.clone(),
        }
    }
}

impl<M: Wire> Body<M> {
    /// The name under which it is counted and drawn.
    pub fn kind(&self) -> &'static str {
        match self {
            Body::Message(message) => message.kind(),
            Body::Tell(_) => "tell",
        }
    }
}

impl<A: Algorithm> Envelope<A> {
    /// Whether the other is the same but for its number. Their hashes are known.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.print == other.print
            && (self.from, self.to, self.left_ms) == (other.from, other.to, other.left_ms)
            && self.tag == other.tag
            && self.body == other.body
    }

    /// Whether it arrives before anything else happens.
    pub fn is_urgent(&self, reductions: &Reductions<A>) -> bool {
        match &self.body {
            Body::Message(message) => reductions.is_urgent(message),
            Body::Tell(_) => false,
        }
    }
}

/// Two envelopes that say the same to the same are the same to an explorer, whatever their number.
impl<A: Algorithm> Hash for Envelope<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.from, self.to).hash(state);
        self.body.hash(state);
        self.tag.hash(state);
        self.left_ms.hash(state);
    }
}

/// The place of an envelope while it is on its way. Freed places are used again.
pub type Slot = u32;

/// All messages on their way.
#[derive(Debug)]
pub struct Flight<A: Algorithm> {
    pub(super) slots: Vec<Option<Envelope<A>>>,
    /// The places that are empty; the last of them is filled next.
    pub(super) free: SmallVec<[Slot; 8]>,
}

impl<A: Algorithm> Default for Flight<A> {
    fn default() -> Self {
        Flight { slots: Vec::new(), free: SmallVec::new() }
    }
}

impl<A: Algorithm> Clone for Flight<A> {
    fn clone(&self) -> Self {
        Flight { slots: self.slots.clone(), free: SmallVec::from_slice(&self.free) }
    }

    // Explorers copy worlds all the time: keep what is allocated.
    fn clone_from(&mut self, source: &Self) {
        self.slots.clone_from(&source.slots);
        self.free.clear();
        self.free.extend_from_slice(&source.free);
    }
}

impl<A: Algorithm> Flight<A> {
    pub(crate) fn put(&mut self, envelope: Envelope<A>) -> Slot {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(envelope);
                slot
            }
            None => {
                self.slots.push(Some(envelope));
                (self.slots.len() - 1) as Slot
            }
        }
    }

    pub(crate) fn take(&mut self, slot: Slot) -> Option<Envelope<A>> {
        let envelope = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(envelope)
    }

    /// The envelope in that place.
    pub fn get(&self, slot: Slot) -> Option<&Envelope<A>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// All envelopes with their places.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Envelope<A>)> {
        self.slots.iter().enumerate().filter_map(|(slot, envelope)| {
            envelope.as_ref().map(|envelope| (slot as Slot, envelope))
        })
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Envelope<A>> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    pub(crate) fn envelopes_mut(&mut self) -> impl Iterator<Item = &mut Envelope<A>> {
        self.slots.iter_mut().flatten()
    }

    pub(crate) fn messages_mut(&mut self) -> Vec<&mut <A as Protocol>::Message> {
        self.slots
            .iter_mut()
            .flatten()
            .filter_map(|envelope| match &mut envelope.body {
                Body::Message(message) => Some(message),
                Body::Tell(_) => None,
            })
            .collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages of the same link left before this one and are still on their way.
    pub(crate) fn rank(&self, envelope: &Envelope<A>) -> usize {
        let ahead = |other: &Envelope<A>| {
            (other.from, other.to) == (envelope.from, envelope.to) && other.number < envelope.number
        };
        self.iter().filter(|(_, other)| ahead(other)).count()
    }
}
