//! Records that are not on the disk yet, and what waits for them.

use crate::cx::{Effect, EffectOf};
use crate::durable::Record;
use crate::protocol::Protocol;
use std::vec::Drain;

/// What the disk has to do with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write<R> {
    /// Write it after the others.
    Append(R),
    /// Write it, and forget the others.
    Checkpoint(R),
}

/// Records and what waits for them, on its way out of the queue.
type Group<'q, P> = Drain<'q, (u8, EffectOf<P>)>;

/// The queue before the disk. If it is not empty, a record comes first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Queue<P: Protocol> {
    /// How many records of this life have left the queue.
    left: u64,
    /// Each effect with the layer that asked for it.
    held: Vec<(u8, EffectOf<P>)>,
}

crate::clone_by_field!(Queue<P: Protocol> { left, held });

impl<P: Protocol> Default for Queue<P> {
    fn default() -> Self {
        Queue { left: 0, held: Vec::new() }
    }
}

impl<P: Protocol> Queue<P> {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(super) fn all(&self) -> &[(u8, EffectOf<P>)] {
        &self.held
    }

    pub(super) fn all_mut(&mut self) -> &mut [(u8, EffectOf<P>)] {
        &mut self.held
    }

    pub(super) fn push(&mut self, layer: u8, effect: EffectOf<P>) {
        self.held.push((layer, effect));
    }

    pub(super) fn writes_after(&self, number: u64) -> impl Iterator<Item = Write<&Record>> {
        let known = usize::try_from(number.saturating_sub(self.left)).unwrap_or(usize::MAX);
        self.held.iter().filter_map(|(_, effect)| Write::seen(effect)).skip(known)
    }

    /// Takes the records at the head of the queue, if they are written, and what waits for no later
    /// one: how many records, and all of it in order.
    pub(super) fn take_group(&mut self, written_up_to: u64) -> Option<(usize, Group<'_, P>)> {
        let is_record = |(_, effect): &(u8, EffectOf<P>)| Write::seen(effect).is_some();
        let records = self.held.iter().take_while(|held| is_record(held)).count();
        let number = self.left + records as u64;
        if records == 0 || number > written_up_to {
            return None;
        }
        self.left = number;
        let next = self.held[records..].iter().position(is_record);
        let end = next.map_or(self.held.len(), |waiting| records + waiting);
        Some((records, self.held.drain(..end)))
    }

    /// The process begins another life, in which nothing waits. Returns the records that waited.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = Write<Record>> + use<P> {
        self.left = 0;
        std::mem::take(&mut self.held).into_iter().filter_map(|(_, effect)| Write::of(effect))
    }
}

impl Write<Record> {
    /// What the disk has to do, if the effect is a record.
    pub(super) fn of<M, T, O>(effect: Effect<M, T, O>) -> Option<Self> {
        match effect {
            Effect::Persist(record) => Some(Write::Append(record)),
            Effect::Checkpoint(record) => Some(Write::Checkpoint(record)),
            _ => None,
        }
    }
}

impl<'e> Write<&'e Record> {
    fn seen<M, T, O>(effect: &'e Effect<M, T, O>) -> Option<Self> {
        match effect {
            Effect::Persist(record) => Some(Write::Append(record)),
            Effect::Checkpoint(record) => Some(Write::Checkpoint(record)),
            _ => None,
        }
    }
}
