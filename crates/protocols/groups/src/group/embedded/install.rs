//! The end of a view: its last deliveries, and the beginning of the next.
//!
//! Companions, the members that come from a view together, put the messages that they hold
//! together. A message that one of them has delivered is delivered by all, still in the view. Then
//! the view is over, and they deliver the rest in the transitional configuration: in order, up to
//! the first number that none of them has; and beyond that, the multicasts of companions. Another
//! member's multicast beyond a missing message may depend on it, and is left out.

use super::message::{Accept, Numbered, Prepare};
use super::total_order::{TotalOrder, deliver_entry};
use super::{Embedded, Phase};
use std::collections::BTreeMap;
use synod_core::group::{Cause, Change, Event, Member, Part, View, ViewId};
use synod_core::{Cx, ProcessId, ProcessSet, Wire};

/// The messages and facts for each part of a proposed view, from the answers of its members.
pub(super) fn prepare<M: Wire>(
    attempt: ViewId,
    members: &[Member],
    accepts: BTreeMap<ProcessId, Accept<M>>,
) -> Vec<(ProcessSet, Prepare<M>)> {
    let is_fresh = |(node, accept): (&ProcessId, &Accept<M>)| accept.fresh.then_some(*node);
    let fresh: ProcessSet = accepts.iter().filter_map(is_fresh).collect();
    let mut together: BTreeMap<ViewId, Vec<(ProcessId, Accept<M>)>> = BTreeMap::new();
    for (node, accept) in accepts {
        together.entry(accept.view).or_default().push((node, accept));
    }
    let part = |(view, accepts): (&ViewId, &Vec<(ProcessId, Accept<M>)>)| Part {
        from: Some(*view),
        members: accepts.iter().map(|(node, _)| *node).collect(),
    };
    let parts: Vec<Part> = together.iter().map(part).collect();
    let sets: Vec<_> = parts.iter().map(|part| part.members.clone()).collect();
    let prepares = together.into_values().map(|accepts| {
        let mut prepare = Prepare {
            attempt,
            members: members.to_vec(),
            parts: parts.clone(),
            fresh: fresh.clone(),
            gone: Vec::new(),
            delivered: 0,
            log: Vec::new(),
        };
        prepare.unite(accepts.into_iter().map(|(_, accept)| accept));
        prepare
    });
    sets.into_iter().zip(prepares).collect()
}

impl<M: Wire> Prepare<M> {
    /// Unites the messages of companions.
    fn unite(&mut self, accepts: impl Iterator<Item = Accept<M>>) {
        let (mut log, mut gone) = (BTreeMap::new(), BTreeMap::new());
        for accept in accepts {
            self.delivered = self.delivered.max(accept.delivered);
            gone.extend(accept.gone.into_iter().map(|change| (change.member, change)));
            for numbered in accept.log {
                log.entry(numbered.number).or_insert(numbered);
            }
        }
        self.log = log.into_values().collect();
        self.gone = gone.into_values().collect();
    }
}

impl<M: Wire, const WAITS: bool> Embedded<M, WAITS> {
    /// Ends the view, and begins the next one.
    pub(super) fn install(&mut self, cx: &mut Cx<'_, Self>) {
        let ready = std::mem::replace(&mut self.phase, Phase::Steady);
        let Phase::Ready(prepare) = ready else { return self.phase = ready };
        let prepare = *prepare;
        let companions = prepare.parts.iter().find(|part| part.members.contains(cx.me()));
        let companions = companions.map_or(ProcessSet::EMPTY, |part| part.members.clone());
        let view = self.next_view(&prepare);
        self.finish(prepare.delivered, prepare.log, &companions, cx);
        self.order = TotalOrder::new(view.id, view.members.clone());
        self.epoch = self.epoch.max(view.id.epoch);
        self.peers.on_view(&view.members);
        (self.own_kept, self.frozen, self.fresh) = (0, 0, false);
        cx.output(Event::View(view));
        self.announce_room(cx);
        self.submit(cx);
    }

    /// Makes the last deliveries of the old view.
    fn finish(
        &mut self,
        delivered: u64,
        log: Vec<Numbered<M>>,
        companions: &ProcessSet,
        cx: &mut Cx<'_, Self>,
    ) {
        let order = &mut self.order;
        let most = order.log.have() + 2 * (order.members.len() * self.settings.window) as u64;
        for Numbered { number, sender, entry } in log {
            if number <= most && order.members.contains(&sender) {
                order.log.put(number, sender, entry);
            }
        }
        while order.log.delivered() < delivered {
            let Some((sender, entry)) = order.log.next_anyway() else { break };
            deliver_entry(sender, entry, cx);
        }
        cx.output(Event::Transitional(companions.clone()));
        while let Some((sender, entry)) = order.log.next_anyway() {
            deliver_entry(sender, entry, cx);
        }
        let beyond = order.log.rest().into_iter();
        for (sender, entry) in beyond.filter(|(sender, _)| companions.contains(sender.node)) {
            deliver_entry(sender, entry, cx);
        }
    }

    /// The next view, as it is told to this member.
    fn next_view(&self, prepare: &Prepare<M>) -> View {
        let (old, new) = (&self.order.members, &prepare.members);
        let joined = new.iter().filter(|member| !old.contains(member)).map(|&member| Change {
            member,
            cause: if prepare.fresh.contains(member.node) { Cause::Join } else { Cause::Merge },
        });
        let gone = |member: Member| {
            let known = prepare.gone.iter().find(|change| change.member == member);
            let lives_again = new.iter().any(|other| other.node == member.node);
            match known {
                Some(change) => change.cause,
                None if lives_again => Cause::Restart,
                None => Cause::Partition,
            }
        };
        let left = old.iter().filter(|member| !new.contains(member));
        let left = left.map(|&member| Change { member, cause: gone(member) });
        View {
            id: prepare.attempt,
            members: new.clone(),
            joined: joined.collect(),
            left: left.collect(),
            came_with: Some(prepare.parts.clone()),
        }
    }
}
