//! G1 to G4: the order of deliveries, and the deliveries of members that go on together.

use super::record::{Passage, Record, Sent, Transition};
use super::{Findings, Historian, Name, words};
use crate::family::group::{G1, G2, G3, G4};
use crate::group::{Level, Member, View, ViewId};
use crate::process::{ProcessId, ProcessSet};

/// The deliveries of one member, or of several alike, in a view.
struct Chain<'h> {
    regular: u64,
    way: Option<&'h Transition>,
}

impl Chain<'_> {
    /// The place of a message among the deliveries of this chain.
    fn place(&self, name: Name, sent: &Sent) -> Option<u64> {
        if let Some(place) = sent.place.filter(|place| *place < self.regular) {
            return Some(place);
        }
        let index = self.way?.delivered.iter().position(|other| *other == name)?;
        Some(self.regular + index as u64)
    }

    fn on_the_way(&self) -> impl Iterator<Item = Name> + '_ {
        self.way.into_iter().flat_map(|way| way.delivered.iter().copied())
    }

    /// Whether this chain may have delivered the message without knowing its place: it comes from
    /// one of these members, and they had to deliver it.
    fn may_come_late(&self, name: Name) -> bool {
        self.way.is_some_and(|way| way.with.contains(name.0) && way.delivered.contains(&name))
    }
}

impl Historian {
    /// G1: the place of the present delivery.
    pub(super) fn judge_place(
        &self,
        at: ProcessId,
        view: ViewId,
        name: Name,
        findings: &mut Findings<'_>,
    ) {
        let (node, record) = (&self.nodes[at.index()], &self.views[&view]);
        match &node.transition {
            None => {
                let place = record.at(node.regular);
                if let Some(other) = place.filter(|other| *other != name) {
                    let (name, other) = (words(name), words(other));
                    let because = format!("delivers {name} in {view} where others deliver {other}");
                    findings.add(G1, because);
                }
            }
            Some(way) => {
                let mut way = way.clone();
                way.delivered.push(name);
                let mine = Chain { regular: node.regular, way: Some(&way) };
                self.judge_chain(at, view, &mine, name, findings);
            }
        }
        if node.transition.is_none() && record.at(node.regular).is_none() {
            let mine = Chain { regular: node.regular, way: None };
            self.judge_chain(at, view, &mine, name, findings);
        }
    }

    /// Compares the deliveries before `last` here with those of other members.
    fn judge_chain(
        &self,
        at: ProcessId,
        view: ViewId,
        mine: &Chain<'_>,
        last: Name,
        findings: &mut Findings<'_>,
    ) {
        if mine.may_come_late(last) {
            return;
        }
        for theirs in self.chains(at, view) {
            let place = |name: Name| self.messages.get(&name).and_then(|s| theirs.place(name, s));
            let Some(last_there) = place(last) else { continue };
            let here = |name: &Name| {
                self.messages.get(name).is_some_and(|s| mine.place(*name, s).is_some())
            };
            let inverted = mine.on_the_way().chain(theirs.on_the_way()).find(|other| {
                let after = place(*other).is_some_and(|there| there > last_there);
                *other != last && after && here(other) && !theirs.may_come_late(*other)
            });
            if let Some(other) = inverted {
                let (last, other) = (words(last), words(other));
                let because = format!("delivers {last} after {other}, and others before it");
                return findings.add(G1, because);
            }
        }
    }

    /// The deliveries of other members in a view: the regular configuration, and every way out of
    /// it.
    fn chains(&self, at: ProcessId, view: ViewId) -> impl Iterator<Item = Chain<'_>> {
        let record = &self.views[&view];
        let whole = Chain { regular: record.end(), way: None };
        let passed = record.passages.iter();
        let passed = passed.map(|p| Chain { regular: p.regular, way: Some(&p.way) });
        let others = self.nodes.iter().enumerate().filter(move |(index, _)| *index != at.index());
        let leaving = others.filter(move |(_, node)| node.view == Some(view));
        let leaving = leaving.filter_map(|(_, node)| {
            let way = node.transition.as_ref().filter(|way| !way.delivered.is_empty());
            way.map(|way| Chain { regular: node.regular, way: Some(way) })
        });
        std::iter::once(whole).chain(passed).chain(leaving)
    }

    /// Records a delivery.
    pub(super) fn deliver(
        &mut self,
        at: ProcessId,
        view: ViewId,
        name: Name,
        findings: &mut Findings<'_>,
    ) {
        let (node, sent) = (&mut self.nodes[at.index()], self.messages.get_mut(&name));
        let (record, sent) = (self.views.get_mut(&view), sent.expect("it was multicast"));
        let record = record.expect("views are remembered as long as somebody is in them");
        sent.view = Some(view);
        sent.is_home |= name.0 == at && sent.life == node.life;
        if let Some(way) = &mut node.transition {
            return way.delivered.push(name);
        }
        let was_last = node.regular == record.settled;
        node.regular += 1;
        if node.regular > record.end() {
            record.order.push_back(name);
            sent.place = Some(node.regular - 1);
            if sent.level == Level::Safe {
                self.judge_safe(view, name, findings);
            }
        }
        // Only a delivery of the slowest member can settle messages.
        if was_last {
            self.settle(view);
        }
    }

    /// G4: every living member that has gone on from the view has delivered this safe message in
    /// it.
    fn judge_safe(&self, view: ViewId, name: Name, findings: &mut Findings<'_>) {
        let record = &self.views[&view];
        for member in record.members.iter().filter(|member| self.is_staying(**member)) {
            let passage = record.passages.iter().find(|p| p.arrived.contains(member.node));
            let has = passage.is_some_and(|passage| passage.way.delivered.contains(&name));
            if self.is_done_with(*member, view) && !has {
                let because = format!("delivers {} as safe: {member} lacks it", words(name));
                return findings.add(G4, because);
            }
        }
    }

    /// Forgets messages that every member that still may has delivered.
    fn settle(&mut self, view: ViewId) {
        let record = &self.views[&view];
        let open = record.members.iter().filter(|member| !self.is_done_with(**member, view));
        let delivered = |member: &Member| {
            let node = &self.nodes[member.node.index()];
            let is_there = node.view == Some(view) && node.life == member.incarnation;
            if is_there { node.regular } else { 0 }
        };
        let by_all = open.map(delivered).min().unwrap_or(record.end());
        let ways: Vec<Name> = self.chains_of(view).flat_map(|way| way.delivered.clone()).collect();
        let record = self.views.get_mut(&view).expect("it was just read");
        while record.settled < by_all.min(record.end()) {
            record.settled += 1;
            let name = record.order.pop_front().expect("the end is farther on");
            // Companions still compare the deliveries on their way, so these messages stay.
            if !ways.contains(&name) {
                self.messages.remove(&name);
            }
        }
    }

    fn chains_of(&self, view: ViewId) -> impl Iterator<Item = &Transition> {
        let passed = self.views[&view].passages.iter().map(|passage| &passage.way);
        let there = self.nodes.iter().filter(move |node| node.view == Some(view));
        passed.chain(there.filter_map(|node| node.transition.as_ref()))
    }

    /// A member goes on to another view. Its deliveries are compared with those of its companions,
    /// and a message that it has not delivered is missing for ever.
    pub(super) fn pass(&mut self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        self.judge_missing(at, view.id, findings);
        let node = &self.nodes[at.index()];
        let Some(from) = node.view else { return };
        let record = self.views.get_mut(&from).expect("somebody is in it");
        let with = match &view.came_with {
            Some(_) => view.companions(at),
            None => record.members.iter().map(|m| m.node).filter(|m| view.contains(*m)).collect(),
        };
        let delivered = node.transition.as_ref().map(|way| way.delivered.clone());
        let way = Transition { with, delivered: delivered.unwrap_or_default() };
        let same = |p: &&mut Passage| p.to == view.id && p.way.with.contains(at);
        let Some(passage) = record.passages.iter_mut().find(same) else {
            let arrived: ProcessSet = [at].into_iter().collect();
            let regular = node.regular;
            return record.passages.push(Passage { to: view.id, regular, way, arrived });
        };
        passage.arrived.insert(at);
        if passage.regular != node.regular {
            let (mine, theirs) = (node.regular, passage.regular);
            let because =
                format!("has delivered {mine} messages in {from}, those with it {theirs}");
            findings.add(G2, because);
        }
        if passage.way.delivered != way.delivered {
            let names =
                |list: &[Name]| list.iter().map(|n| words(*n)).collect::<Vec<_>>().join(", ");
            let (mine, theirs) = (names(&way.delivered), names(&passage.way.delivered));
            let because = format!("delivered [{mine}] on the way from {from} to {}", view.id);
            findings.add(G2, format!("{because}, those with it [{theirs}]"));
        }
    }

    /// G3 and G4: messages that this member ought to have delivered before it goes on.
    fn judge_missing(&mut self, at: ProcessId, next: ViewId, findings: &mut Findings<'_>) {
        let node = &self.nodes[at.index()];
        let me = Member { node: at, incarnation: node.life };
        if !self.is_staying(me) {
            return;
        }
        let left = self.views.range(..ViewId::new(next.epoch, ProcessId(0)));
        let mine = left.filter(|(id, record)| {
            **id != next && record.members.contains(&me) && !self.is_done_with(me, **id)
        });
        for (_, record) in mine {
            let safe = |name: &Name| {
                let sent = self.messages.get(name);
                sent.is_some_and(|s| s.level == Level::Safe && !node.has_delivered(*name, s))
            };
            if let Some(name) = record.order.iter().find(|name| safe(name)) {
                findings.add(G4, format!("goes on without {}, which is safe", words(*name)));
            }
        }
        let own = self.messages.range_mut((at, 0)..=(at, u32::MAX));
        for (name, sent) in own.filter(|(_, s)| s.life == me.incarnation && !s.is_home) {
            if sent.view.is_some_and(|view| view != next && view.epoch <= next.epoch) {
                findings.add(G3, format!("goes on without its own {}", words(*name)));
                // One report is enough: the message is not judged again in later views.
                sent.is_home = true;
            }
        }
    }

    /// Members that have not delivered their own message, and the message.
    pub(super) fn without_their_own(&self) -> impl Iterator<Item = Name> + '_ {
        let open = self.messages.iter().filter(|(name, sent)| {
            !sent.is_home && self.is_staying(Member { node: name.0, incarnation: sent.life })
        });
        open.map(|(name, _)| *name)
    }

    /// Members that have not delivered a message that another delivered as safe, and the message.
    pub(super) fn without_a_safe_one(&self) -> impl Iterator<Item = (ProcessId, Name)> + '_ {
        let open = |(view, record): (&ViewId, &Record)| {
            let staying =
                |member: &&Member| self.is_staying(**member) && !self.is_done_with(**member, *view);
            let members: Vec<_> = record.members.iter().filter(staying).copied().collect();
            let safe =
                |name: &Name| self.messages.get(name).is_some_and(|sent| sent.level == Level::Safe);
            let names: Vec<_> = record.order.iter().filter(|name| safe(name)).copied().collect();
            let pairs = members
                .into_iter()
                .flat_map(move |m| names.clone().into_iter().map(move |name| (m.node, name)));
            pairs.filter(|(at, name)| {
                !self.nodes[at.index()].has_delivered(*name, &self.messages[name])
            })
        };
        self.views.iter().flat_map(open)
    }

    /// Forgets views in which no member delivers any longer, and messages that no member can
    /// deliver.
    pub(super) fn forget_views(&mut self) {
        let is_over = |(id, record): &(&ViewId, &Record)| {
            record.members.iter().all(|member| self.is_done_with(*member, **id))
                && self.nodes.iter().all(|node| node.view != Some(**id))
        };
        let over: Vec<ViewId> = self.views.iter().filter(is_over).map(|(id, _)| *id).collect();
        for id in over {
            self.views.remove(&id);
            if let Some(node) = self.nodes.get_mut(id.by.node.index()) {
                node.names_used = node.names_used.max((id.by.incarnation, id.epoch));
            }
        }
        let mut messages = std::mem::take(&mut self.messages);
        messages.retain(|name, sent| match sent.view {
            Some(view) => self.views.contains_key(&view),
            None => {
                let sender = Member { node: name.0, incarnation: sent.life };
                let is_in_one = |r: &Record| r.members.contains(&sender);
                // An oracle may have ordered it in a view that it has told no member yet.
                self.oracle || !self.is_over(sender) || self.views.values().any(is_in_one)
            }
        });
        self.messages = messages;
        let open: Vec<_> = self.views.keys().copied().collect();
        open.into_iter().for_each(|view| self.settle(view));
    }
}
