//! The oracle: the group service as a whole. It knows the view of each member, and the events that
//! each member has yet to get.

use super::component::Component;
use super::settings::{Beginning, Passing, Settings};
use super::{Abstract, Message};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::group::{Cause, Change, Delivery, Event, Level, Member, Part, View, ViewId};
use synod_core::reductions::Fleeting;
use synod_core::{Cx, ProcessId, ProcessSet, Unhashed};

/// The process that stands for the group service.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Oracle<M> {
    /// Parameters, and the remaining fault budget.
    pub(super) settings: Settings,
    /// The members: p1, p2, …
    pub(super) nodes: Vec<Node<M>>,
    /// The living members by the view that they are in, in order of their first member.
    pub(super) components: Vec<Component<M>>,
    /// The members whose views a merge is uniting, one view ended after the other. (Lazy oracles
    /// only.)
    pub(super) gathered: ProcessSet,
    /// Whether all members have all their events, and have answered none of them. (Lazy oracles
    /// only.)
    pub(super) rests: bool,
    /// Which timers are set, a bit for each, so that a lazy oracle sets no timer twice.
    pub(super) set: Unhashed<u16>,
}

/// A member, as the oracle knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Node<M> {
    /// Its present or last life; 0 if it never started. (If lives are renamed (step N2), a dead
    /// node counts as if it had died in its first life.)
    pub(super) incarnation: u32,
    /// Events that the member gets before any message that is ordered in its present view.
    pub(super) queue: VecDeque<Event<M>>,
    /// Its multicasts that have no place yet, if the oracle is lazy. (Otherwise these are still
    /// under way.)
    pub(super) unordered: VecDeque<Delivery<M>>,
}

impl<M: Fleeting> Oracle<M> {
    pub(super) fn new(members: usize, settings: Settings) -> Self {
        let incarnation = u32::from(settings.beginning != Beginning::Later);
        let node = Node { incarnation, queue: VecDeque::new(), unordered: VecDeque::new() };
        Oracle {
            settings,
            nodes: vec![node; members],
            components: Vec::new(),
            gathered: ProcessSet::EMPTY,
            rests: false,
            set: Unhashed(0),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The members of each view: the parts of the group, if there are several.
    pub(super) fn views(&self) -> Vec<ProcessSet> {
        self.components.iter().map(Component::set).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = ProcessId> + use<M> {
        (1..=self.nodes.len() as u32).map(ProcessId)
    }

    pub(super) fn node(&self, node: ProcessId) -> &Node<M> {
        &self.nodes[node.index() - 1]
    }

    pub(super) fn node_mut(&mut self, node: ProcessId) -> &mut Node<M> {
        &mut self.nodes[node.index() - 1]
    }

    pub(super) fn member(&self, node: ProcessId) -> Member {
        Member { node, incarnation: self.node(node).incarnation }
    }

    /// The component of a member. The view may still be in the member's queue.
    pub(super) fn component_of(&mut self, node: ProcessId) -> Option<&mut Component<M>> {
        self.components.iter_mut().find(|component| component.has(node))
    }

    /// The members that may get an event now.
    pub(super) fn behind(&self) -> Vec<ProcessId> {
        let backlogs: Vec<_> = self.names().map(|node| self.backlog(node)).collect();
        let most = backlogs.iter().copied().max().unwrap_or(0);
        let may = |backlog: usize| backlog > 0 && most - backlog <= self.settings.lag as usize;
        self.names().zip(backlogs).filter(|(_, backlog)| may(*backlog)).map(|(n, _)| n).collect()
    }

    /// How many events a member has yet to get.
    pub(super) fn backlog(&self, node: ProcessId) -> usize {
        let ordered: usize = self.components.iter().map(|component| component.backlog(node)).sum();
        self.node(node).queue.len() + ordered
    }
}

impl<M: Fleeting> Oracle<M> {
    /// Passes the first view to every member that begins in one.
    pub(super) fn start(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let all: ProcessSet = self.names().collect();
        match self.settings.beginning {
            Beginning::Together => self.install(&all, cx),
            Beginning::Alone => {
                all.iter().for_each(|node| self.install(&ProcessSet::from_iter([node]), cx));
            }
            Beginning::Later => {}
        }
        while let Some(node) = self.behind().first() {
            self.pass(*node, cx);
        }
        self.set_timers(cx);
    }

    pub(super) fn on_message(
        &mut self,
        from: ProcessId,
        message: Message<M>,
        cx: &mut Cx<'_, Abstract<M>>,
    ) {
        let is_behind = !self.behind().is_empty();
        match message {
            Message::Cast { sender, sent_in, level, message, .. } if sender.node == from => {
                let delivery = Delivery { sender, sent_in, level, message };
                match self.settings.passing {
                    Passing::Lazy => return self.put_by(delivery, cx),
                    Passing::Step | Passing::AtOnce => self.order(delivery),
                }
            }
            Message::Certain if from == cx.me() => self.pass_all(cx),
            Message::Done if self.settings.is_lazy() && self.names().any(|node| node == from) => {
                return self.order_next_of(from, cx);
            }
            Message::Leave(member) if member.node == from => {
                if self.is_current(member) {
                    self.end(from, Some(Cause::Leave));
                    return self.set_timers(cx);
                }
            }
            _ => cx.accuse(from, "speaks for somebody else"),
        }
        if self.settings.is_lazy() {
            self.set_timers(cx);
        } else if !is_behind {
            self.set_pass(cx);
        }
    }

    /// Whether the node is a member now, in this very life.
    pub(super) fn is_current(&self, member: Member) -> bool {
        let known = (1..=self.nodes.len()).contains(&member.node.index());
        let alive = self.components.iter().any(|component| component.has(member.node));
        known && alive && self.member(member.node) == member
    }

    /// Gives a multicast its place in the view that its sender is in by now. A multicast of a dead
    /// sender is lost.
    pub(super) fn order(&mut self, mut delivery: Delivery<M>) {
        if !self.is_current(delivery.sender) || self.has_perished(&delivery) {
            return;
        }
        if !self.settings.safe {
            delivery.level = Level::Agreed;
        }
        if let Some(component) = self.component_of(delivery.sender.node) {
            component.order(delivery);
        }
    }

    /// Passes the next event to a member; with [`Passing::AtOnce`], all events of a transitional
    /// configuration.
    pub(super) fn pass(&mut self, node: ProcessId, cx: &mut Cx<'_, Abstract<M>>) {
        let is_last = |event: Option<&Event<M>>| matches!(event, None | Some(Event::View(_)));
        if let Some(Event::Transitional(_)) = self.node(node).queue.front()
            && self.settings.passing == Passing::AtOnce
        {
            while !is_last(self.node(node).queue.front()) {
                self.pass_next(node, cx);
            }
        }
        self.pass_next(node, cx);
    }

    pub(super) fn pass_next(&mut self, node: ProcessId, cx: &mut Cx<'_, Abstract<M>>) {
        let event = self
            .node_mut(node)
            .queue
            .pop_front()
            .or_else(|| self.component_of(node).and_then(|c| c.next(node)).map(Event::Deliver));
        if let Some(event) = event {
            cx.send(node, Message::Tell(event));
        }
    }

    /// Ends a member's life. If there is a cause, the rest of its view knows it.
    pub(super) fn end(&mut self, node: ProcessId, cause: Option<Cause>) {
        let member = self.member(node);
        if self.reuses_names() {
            self.node_mut(node).incarnation = 1;
        }
        self.node_mut(node).queue.clear();
        self.node_mut(node).unordered.clear();
        if let Some(component) = self.component_of(node) {
            component.remove(node);
            component.dead.extend(cause.map(|cause| Change { member, cause }));
            component.dead.sort_unstable();
        }
        self.components.retain(|component| !component.here.is_empty());
    }

    /// Installs a new view of these members (one at least). Members of one old view go on from
    /// there together.
    pub(super) fn install(&mut self, set: &ProcessSet, cx: &mut Cx<'_, Abstract<M>>) {
        let members: Vec<_> = set.iter().map(|node| self.member(node)).collect();
        let parts = self.parts(set);
        let last = parts.iter().filter_map(|part| part.from).map(|view| view.epoch).max();
        let id = ViewId { epoch: self.epoch_after(last, &members), by: members[0] };
        let view = |node| (node, self.view_of(node, id, &members, &parts));
        let views: Vec<_> = set.iter().map(view).collect();
        for part in &parts {
            self.close(part, cx);
        }
        for (node, view) in views {
            self.node_mut(node).queue.push_back(Event::View(view));
        }
        self.components.retain(|component| !component.here.is_empty());
        self.components.push(Component::new(id, members));
        self.components.sort_by_key(|component| component.here[0].node);
        self.forget_perished();
    }

    /// Which members come together: those of one old view. A new member comes alone.
    fn parts(&self, set: &ProcessSet) -> Vec<Part> {
        let mut parts = Vec::new();
        for component in &self.components {
            let together: ProcessSet =
                component.set().iter().filter(|node| set.contains(*node)).collect();
            if !together.is_empty() {
                parts.push(Part { from: Some(component.view), members: together });
            }
        }
        let is_new = |node: &ProcessId| !parts.iter().any(|part| part.members.contains(*node));
        let new: Vec<_> = set.iter().filter(is_new).collect();
        let alone = |node| Part { from: None, members: ProcessSet::from_iter([node]) };
        parts.extend(new.into_iter().map(alone));
        parts.sort_by_key(|part| part.members.first());
        parts
    }

    /// The view as it is told to one of its members.
    fn view_of(&self, node: ProcessId, id: ViewId, members: &[Member], parts: &[Part]) -> View {
        let last = self.components.iter().find(|component| component.has(node));
        let before = last.map_or(&[][..], |component| &component.members);
        let is_new = |member: &Member| self.is_new(*member);
        let joined = |member: &Member| Change {
            member: *member,
            cause: if is_new(member) { Cause::Join } else { Cause::Merge },
        };
        let lives_again = |member: &Member| members.iter().any(|other| other.node == member.node);
        let why = |member: &Member| {
            let known = last.map_or(Cause::Partition, |component| component.why_left(*member));
            let restarts = known == Cause::Partition && lives_again(member);
            if restarts { Cause::Restart } else { known }
        };
        let left = |member: &Member| Change { member: *member, cause: why(member) };
        View {
            id,
            members: members.to_vec(),
            joined: members.iter().filter(|m| !before.contains(m)).map(joined).collect(),
            left: before.iter().filter(|m| !members.contains(m)).map(left).collect(),
            came_with: Some(parts.to_vec()),
        }
    }

    /// Whether a member has no past: it comes from no view, or was alone until now.
    fn is_new(&self, member: Member) -> bool {
        let last = self.components.iter().find(|component| component.has(member.node));
        last.is_none_or(|component| component.view.epoch == 1 && component.members.len() == 1)
    }

    /// Members go on from a view: the last deliveries of that view join their queues.
    fn close(&mut self, part: &Part, cx: &mut Cx<'_, Abstract<M>>) {
        let old = self.components.iter_mut().find(|c| Some(c.view) == part.from);
        let Some(component) = old else { return };
        let is_told = component.closed;
        let closing = component.leave(&part.members, self.settings.across, cx);
        if is_told {
            return;
        }
        for (node, events) in closing.events(&part.members) {
            self.node_mut(node).queue.extend(events);
        }
    }
}
