//! A component: the members that are in one view, and the messages ordered in it.

use serde::{Deserialize, Serialize};
use std::cmp::max;
use synod_core::group::{Cause, Change, Delivery, Event, Level, Member, ViewId};
use synod_core::reductions::Fleeting;
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol};

/// Members whose last view is the same. The oracle may not have passed it to all of them yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Component<M> {
    /// The view.
    pub(super) view: ViewId,
    /// The members that the view began with.
    pub(super) members: Vec<Member>,
    /// The members that are still in it, in order of their names. Never empty.
    pub(super) here: Vec<Reader>,
    /// The members whose death in this view all present members know, in order of their names.
    pub(super) dead: Vec<Change>,
    /// Whether the present members know how the view ends, and wait for the next one. (Lazy oracles
    /// only.)
    pub(super) closed: bool,
    /// The messages ordered in the view that a present member has yet to deliver.
    log: Vec<Entry<M>>,
}

/// A member's place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Reader {
    /// The member.
    pub(super) node: ProcessId,
    /// Index of its next delivery in the log.
    next: usize,
}

/// A message at its place in the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Entry<M> {
    delivery: Delivery<M>,
    safety: Safety,
}

/// The safety of a message: whether members may still deliver it in the regular configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Safety {
    /// Its sender did not ask for safe delivery.
    Agreed,
    /// Members may deliver it in the regular configuration, or go on without it.
    Open,
    /// A member has delivered it in the regular configuration, so every member has it.
    Everywhere,
    /// A member has gone on without it, so no member delivers it in the regular configuration.
    Missing,
}

/// The last deliveries of members that go on from a view.
pub(super) struct Closing<M> {
    /// In the regular configuration, for each member.
    regular: Vec<(ProcessId, Vec<Delivery<M>>)>,
    /// In the transitional configuration, the same for all.
    transitional: Vec<Delivery<M>>,
}

impl<M: Fleeting> Component<M> {
    pub(super) fn new(view: ViewId, members: Vec<Member>) -> Self {
        let here = members.iter().map(|member| Reader { node: member.node, next: 0 }).collect();
        Component { view, members, here, dead: Vec::new(), closed: false, log: Vec::new() }
    }

    /// Whether a member is still in the view.
    pub(super) fn has(&self, node: ProcessId) -> bool {
        self.here.iter().any(|reader| reader.node == node)
    }

    /// The members that are still in the view.
    pub(super) fn set(&self) -> ProcessSet {
        self.here.iter().map(|reader| reader.node).collect()
    }

    /// Whether some members have left, so that the present ones must get a view of their own.
    pub(super) fn is_unsettled(&self) -> bool {
        self.here.len() < self.members.len()
    }

    /// Whether some members have left, and the present ones do not know yet how the view ends.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_unsettled() && !self.closed
    }

    /// Why a member of this view is not in the next one, as the present members know it.
    pub(super) fn why_left(&self, member: Member) -> Cause {
        let dead = self.dead.iter().find(|change| change.member == member);
        dead.map_or(Cause::Partition, |change| change.cause)
    }

    /// Gives a message its place.
    pub(super) fn order(&mut self, delivery: Delivery<M>) {
        let safety = match delivery.level {
            Level::Agreed => Safety::Agreed,
            Level::Safe if self.is_unsettled() => Safety::Missing,
            Level::Safe => Safety::Open,
        };
        self.log.push(Entry { delivery, safety });
    }

    /// Length of the part of the log that members may deliver in the regular configuration.
    fn limit(&self) -> usize {
        let missing = |entry: &Entry<M>| entry.safety == Safety::Missing;
        self.log.iter().position(missing).unwrap_or(self.log.len())
    }

    /// How many messages of the log a present member has yet to deliver; 0 for other members.
    pub(super) fn backlog(&self, node: ProcessId) -> usize {
        let limit = self.limit();
        let left = |reader: &Reader| limit.saturating_sub(reader.next);
        self.here.iter().find(|reader| reader.node == node).map_or(0, left)
    }

    /// These messages, one by one.
    pub(super) fn rest(&self, node: ProcessId) -> impl Iterator<Item = &Delivery<M>> {
        let reader = self.here.iter().find(|reader| reader.node == node);
        let first = reader.map_or(self.log.len(), |reader| reader.next);
        let limit = self.limit().max(first);
        self.log[first..limit].iter().map(|entry| &entry.delivery)
    }

    /// Delivers the next message of the log at a present member.
    pub(super) fn next(&mut self, node: ProcessId) -> Option<Delivery<M>> {
        let limit = self.limit();
        let reader = self.here.iter_mut().find(|reader| reader.node == node)?;
        let place = reader.next;
        if place >= limit {
            return None;
        }
        reader.next += 1;
        let delivery = self.log[place].delivery.clone();
        self.is_delivered(place);
        self.forget();
        Some(delivery)
    }

    fn is_delivered(&mut self, place: usize) {
        let safety = &mut self.log[place].safety;
        if *safety == Safety::Open {
            *safety = Safety::Everywhere;
        }
    }

    /// Drops the messages that all present members have delivered.
    fn forget(&mut self) {
        let done = self.here.iter().map(|reader| reader.next).min().unwrap_or(0);
        self.log.drain(..done);
        self.here.iter_mut().for_each(|reader| reader.next -= done);
    }

    /// Drops the messages that have no effect once the view is over (step V5).
    fn forget_what_ends(&mut self) {
        for place in (0..self.log.len()).rev() {
            if self.log[place].delivery.message.ends_with_its_view() {
                self.log.remove(place);
                let behind = self.here.iter_mut().filter(|reader| reader.next > place);
                behind.for_each(|reader| reader.next -= 1);
            }
        }
    }

    /// Removes a dead member.
    pub(super) fn remove(&mut self, node: ProcessId) {
        self.here.retain(|reader| reader.node != node);
        self.forget();
    }

    /// Some present members go on to another view. The adversary chooses their last deliveries. If
    /// `across` is off, they skip messages without effect (step V5).
    pub(super) fn leave<P: Protocol>(
        &mut self,
        who: &ProcessSet,
        across: bool,
        cx: &mut Cx<'_, P>,
    ) -> Closing<M> {
        if !across {
            self.forget_what_ends();
        }
        let leaving = self.here.iter().filter(|reader| who.contains(reader.node));
        let front = leaving.map(|reader| reader.next).max().unwrap_or(0);
        let limit = max(front, self.limit());
        let end = front + cx.choose((limit - front + 1) as u32) as usize;
        (front..end).for_each(|place| self.is_delivered(place));
        let mut transitional = Vec::new();
        for entry in &mut self.log[end..] {
            let is_void = !across && entry.delivery.message.is_void_between_views();
            let must =
                who.contains(entry.delivery.sender.node) || entry.safety == Safety::Everywhere;
            if must || !is_void && cx.choose(2) == 1 {
                transitional.push(entry.delivery.clone());
            } else if entry.safety == Safety::Open {
                entry.safety = Safety::Missing;
            }
        }
        let mut regular = Vec::new();
        for reader in self.here.iter().filter(|reader| who.contains(reader.node)) {
            let rest = self.log[reader.next..end].iter().map(|entry| entry.delivery.clone());
            regular.push((reader.node, rest.collect()));
        }
        self.here.retain(|reader| !who.contains(reader.node));
        self.forget();
        Closing { regular, transitional }
    }

    /// All present members end the view, and wait for another.
    pub(super) fn shut<P: Protocol>(&mut self, across: bool, cx: &mut Cx<'_, P>) -> Closing<M> {
        let all = self.set();
        let closing = self.leave(&all, across, cx);
        self.here = all.iter().map(|node| Reader { node, next: 0 }).collect();
        self.log.clear();
        self.closed = true;
        closing
    }
}

impl<M: Data> Closing<M> {
    /// The events of each member before its next view.
    pub(super) fn events(
        self,
        who: &ProcessSet,
    ) -> impl Iterator<Item = (ProcessId, Vec<Event<M>>)> + '_ {
        let last = self.transitional;
        self.regular.into_iter().map(move |(node, regular)| {
            let mut events: Vec<_> = regular.into_iter().map(Event::Deliver).collect();
            events.push(Event::Transitional(who.clone()));
            events.extend(last.iter().cloned().map(Event::Deliver));
            (node, events)
        })
    }
}
