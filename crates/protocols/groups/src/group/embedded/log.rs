//! The numbered messages of a view, until every member has them.
//!
//! - State: the messages between the last stable number and the highest number put in. The caller
//!   of [`Log::put`] limits the distance between the two.

use super::message::{Entry, Numbered};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::group::{Level, Member};

/// The numbered messages of a view, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Log<M> {
    /// Up to this number messages are stable, delivered here, and dropped.
    forgotten: u64,
    /// Up to this number every member has all messages.
    stable: u64,
    /// Up to this number this member has all messages.
    have: u64,
    /// Up to this number this member has delivered all messages.
    delivered: u64,
    /// The messages from the number after `forgotten` on; none where one is missing.
    kept: VecDeque<Option<(Member, Entry<M>)>>,
}

impl<M: Clone> Log<M> {
    /// The log of a view that begins.
    pub(super) fn new() -> Self {
        Log { forgotten: 0, stable: 0, have: 0, delivered: 0, kept: VecDeque::new() }
    }

    pub(super) fn have(&self) -> u64 {
        self.have
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The highest number that came in.
    pub(super) fn last(&self) -> u64 {
        self.forgotten + self.kept.len() as u64
    }

    /// Keeps a message, unless it is known. Returns whether a safe message has come into its turn.
    pub(super) fn put(&mut self, number: u64, sender: Member, entry: Entry<M>) -> bool {
        let Some(place) = number.checked_sub(self.forgotten + 1) else { return false };
        let place = place as usize;
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, || None);
        }
        self.kept[place].get_or_insert((sender, entry));
        let mut safe = false;
        while let Some((_, entry)) = self.at(self.have + 1) {
            safe |= entry.level == Level::Safe;
            self.have += 1;
        }
        safe
    }

    /// Every member has all messages up to this number. Returns whether a safe message has become
    /// stable by this.
    pub(super) fn stabilise(&mut self, number: u64) -> bool {
        let news = self.stable + 1..=number.min(self.have);
        let is_safe = |number| self.at(number).is_some_and(|(_, entry)| entry.level == Level::Safe);
        let safe = news.clone().any(is_safe);
        self.stable = self.stable.max(*news.end());
        safe
    }

    fn at(&self, number: u64) -> Option<&(Member, Entry<M>)> {
        let place = number.checked_sub(self.forgotten + 1)?;
        self.kept.get(place as usize)?.as_ref()
    }

    /// The next message to be delivered. A safe one is delivered only when it is stable.
    pub(super) fn next(&mut self) -> Option<(Member, Entry<M>)> {
        let number = self.delivered + 1;
        let (_, entry) = self.at(number)?;
        if entry.level == Level::Safe && number > self.stable {
            return None;
        }
        self.take(number)
    }

    /// The next message, at any delivery level.
    pub(super) fn next_anyway(&mut self) -> Option<(Member, Entry<M>)> {
        self.take(self.delivered + 1)
    }

    fn take(&mut self, number: u64) -> Option<(Member, Entry<M>)> {
        let next = self.at(number)?.clone();
        self.delivered = number;
        Some(next)
    }

    /// The messages behind the first missing one, in order. Only for a view that is over.
    pub(super) fn rest(&mut self) -> Vec<(Member, Entry<M>)> {
        let delivered = (self.delivered - self.forgotten) as usize;
        self.kept.drain(..).skip(delivered).flatten().collect()
    }

    /// Drops messages that are delivered and stable. Returns how many of them `sender` has
    /// multicast.
    pub(super) fn forget(&mut self, sender: Member) -> usize {
        let forgotten = self.stable.min(self.delivered);
        let gone = self.kept.drain(..(forgotten - self.forgotten) as usize);
        let own = gone.flatten().filter(|(by, _)| *by == sender).count();
        self.forgotten = forgotten;
        own
    }

    /// The kept messages, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &(Member, Entry<M>))> {
        let numbers = self.forgotten + 1..;
        numbers.zip(&self.kept).filter_map(|(number, kept)| Some((number, kept.as_ref()?)))
    }

    /// A copy of the kept messages, in order.
    pub(super) fn copy(&self) -> Vec<Numbered<M>> {
        let numbered = |(number, (sender, entry)): (u64, &(Member, Entry<M>))| Numbered {
            number,
            sender: *sender,
            entry: entry.clone(),
        };
        self.iter().map(numbered).collect()
    }
}
