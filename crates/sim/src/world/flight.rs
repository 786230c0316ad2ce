//! The messages in flight.

use serde::Serialize;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use synod_core::family::Tag;
use synod_core::{Algorithm, ProcessId, Protocol, Reductions, Wire, copy_list};

/// A message in flight.
#[derive(Debug)]
pub struct Envelope<A: Algorithm> {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// The content.
    pub body: Body<A::Message>,
    /// The monitor's note on it.
    pub tag: Tag,
    /// The bound for its arrival in milliseconds, if the world is synchronous and it is not late.
    pub left_ms: Option<u32>,
    /// Its number in the order of sending. A duplicate has the same number.
    pub number: u64,
    /// Its hash without the number; 0 if the world keeps no fingerprint.
    pub(super) print: u64,
}

impl<A: Algorithm> Clone for Envelope<A> {
    fn clone(&self) -> Self {
        let Envelope { from, to, left_ms, number, print, .. } = *self;
        let (body, tag) = (self.body.clone(), self.tag.clone());
        Envelope { from, to, body, tag, left_ms, number, print }
    }

    // Explorers copy worlds all the time. A message that is already the same is not cloned again.
    fn clone_from(&mut self, source: &Self) {
        let Envelope { from, to, left_ms, number, print, .. } = *source;
        (self.from, self.to, self.left_ms) = (from, to, left_ms);
        (self.number, self.print) = (number, print);
        self.body.clone_from(&source.body);
        self.tag.clone_from(&source.tag);
    }
}

/// The content of an envelope.
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

/// The kind of a message between two applications.
pub const TELL: &str = "tell";

impl<M: Wire> Body<M> {
    /// The name under which it is counted and drawn.
    pub fn kind(&self) -> &'static str {
        match self {
            Body::Message(message) => message.kind(),
            Body::Tell(_) => TELL,
        }
    }
}

impl<A: Algorithm> Envelope<A> {
    /// Whether both are equal except for their numbers. Both have their hashes.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.print == other.print
            && (self.from, self.to, self.left_ms) == (other.from, other.to, other.left_ms)
            && self.tag == other.tag
            && self.body == other.body
    }

    /// Whether it arrives within the step that sends it.
    pub fn is_urgent(&self, reductions: &Reductions<A>) -> bool {
        match &self.body {
            Body::Message(message) => reductions.is_urgent(message),
            Body::Tell(_) => false,
        }
    }
}

/// The hash leaves out the number: to an explorer, two envelopes with the same link and content are
/// equal.
impl<A: Algorithm> Hash for Envelope<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.from, self.to).hash(state);
        self.body.hash(state);
        self.tag.hash(state);
        self.left_ms.hash(state);
    }
}

/// The place of an envelope while it is in flight. A freed slot is used again.
pub type Slot = u32;

/// All messages in flight.
#[derive(Debug)]
pub struct Flight<A: Algorithm> {
    pub(super) slots: Vec<Option<Envelope<A>>>,
    /// The free slots; the last of them is used next.
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

    // Explorers copy worlds all the time; this keeps the allocations of the target.
    fn clone_from(&mut self, source: &Self) {
        self.slots.clone_from(&source.slots);
        copy_list(&mut self.free, &source.free);
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

    /// The envelope in that slot.
    pub fn get(&self, slot: Slot) -> Option<&Envelope<A>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// All envelopes with their slots.
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

    /// The number of messages in flight.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no message is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of earlier messages of the same link that are still in flight.
    pub(crate) fn rank(&self, envelope: &Envelope<A>) -> usize {
        let ahead = |other: &Envelope<A>| {
            (other.from, other.to) == (envelope.from, envelope.to) && other.number < envelope.number
        };
        self.iter().filter(|(_, other)| ahead(other)).count()
    }
}
