//! The lazy oracle: it passes events on as late as possible, which gives the same histories in
//! fewer states.
//!
//! A member learns of the world only from its events, and the world learns of the member only from
//! its multicasts. So the oracle explores the order of the multicasts and the faults between them,
//! but not how far each member is behind. A judge instead judges a state for every member at each
//! place in the events that the member has yet to get: see [`Abstract::waiting_for`].
//!
//! The argument that this loses no history is `docs/lazy-groups.md`, in numbered steps to which the
//! comments here refer:
//!
//! - L1 to L6: events as late as possible.
//! - V1 to V5: multicasts that come too late for their view (`across=no`).
//! - N1 to N3: names of views and lives that are used again.
//! - B1 to B6: members left behind in a view that others have left.
//!
//! Two kinds of service must not use it: members that act on their own, because for them the moment
//! of an event matters (L6); and services that need safe delivery (B1).

use super::component::Component;
use super::moves::one_of;
use super::oracle::Oracle;
use super::settings::Left;
use super::{Abstract, Message, Move, ORACLE};
use synod_core::group::{Delivery, Event, Member, ViewId};
use synod_core::reductions::{Fleeting, retract};
use synod_core::{Cx, ProcessId};

impl<M: Fleeting> Oracle<M> {
    /// Whether the members left behind in a view go on before any other move (step B2). With a
    /// script they take their time, because the script may name another move first (step B6).
    fn is_prompt(&self) -> bool {
        self.settings.is_lazy() && matches!(self.settings.left, Left::Budgets { .. })
    }

    /// Whether some members have left a view, and the rest must go on now (step B2).
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_prompt() && self.components.iter().any(Component::is_abandoned)
    }

    /// Whether members wait for a view, and no view but their own can come (step B2).
    pub(super) fn is_stuck(&self) -> bool {
        let times = |next| self.settings.left.times(next);
        let merges = times(Move::Merge) > 0 && self.components.len() > 1;
        let dies = times(Move::Die) + times(Move::Crash) > 0;
        let begins = |next, new| times(next) > 0 && (dies || !self.out(new).is_empty());
        let may_join = begins(Move::Restart, Move::Restart)
            || begins(Move::Rejoin, Move::Rejoin)
            || !self.out(Move::Start).is_empty();
        self.is_prompt() && !merges && !may_join && self.components.iter().any(|c| c.closed)
    }

    /// The components whose members may die or go apart. If the oracle is lazy, members that wait
    /// do neither (step B3); and if members were left behind in a component, only that one is
    /// exposed (step B2).
    pub(super) fn exposed(&self) -> Vec<usize> {
        let abandoned = |place: &usize| self.components[*place].is_abandoned();
        let all = 0..self.components.len();
        match all.clone().find(abandoned) {
            Some(first) if self.is_abandoned() => vec![first],
            _ => all.filter(|place| !self.components[*place].closed).collect(),
        }
    }

    /// The components that a merge may unite. If the oracle is lazy, members left behind first
    /// learn how their view ends (step B2).
    pub(super) fn mergeable(&self) -> Vec<usize> {
        let may =
            |place: &usize| !self.settings.is_lazy() || !self.components[*place].is_abandoned();
        (0..self.components.len()).filter(may).collect()
    }

    /// Whether no multicast waits for its place. Members may still multicast in answer to later
    /// events.
    pub(super) fn is_silent(&self) -> bool {
        let unsettled = self.components.iter().any(Component::is_unsettled);
        !unsettled && self.nodes.iter().all(|node| node.unordered.is_empty())
    }

    /// Whether no move is left that could end a view (step L5).
    pub(super) fn is_over(&self) -> bool {
        let times = |next| self.settings.left.times(next);
        let begins = |next, new| times(next) > 0 && !self.out(new).is_empty();
        let parts = times(Move::Partition) > 0 || self.components.len() > 1;
        let is_left = match &self.settings.left {
            Left::Script(script) => !script.is_empty(),
            Left::Budgets { .. } => {
                let dies = times(Move::Die) + times(Move::Crash) + times(Move::Partition) > 0;
                dies || begins(Move::Restart, Move::Restart) || parts && times(Move::Merge) > 0
            }
        };
        let unsettled = self.components.iter().any(Component::is_unsettled);
        !is_left && !unsettled && self.gathered.is_empty() && self.out(Move::Start).is_empty()
    }

    /// The members that may multicast next: a multicast of theirs waits, or they have yet to get an
    /// event.
    pub(super) fn speakers(&self) -> Vec<ProcessId> {
        let is_gone = |node: ProcessId| {
            let mut all = self.components.iter();
            all.find(|component| component.has(node)).is_none_or(Component::is_unsettled)
        };
        let may = |node: &ProcessId| {
            let says = !self.node(*node).unordered.is_empty() || self.backlog(*node) > 0;
            says && !is_gone(*node)
        };
        self.names().filter(may).collect()
    }

    /// Whether a multicast came too late for its view, and never gets a place (step V1).
    pub(super) fn has_perished(&self, delivery: &Delivery<M>) -> bool {
        let mut all = self.components.iter();
        let component = all.find(|component| component.has(delivery.sender.node));
        !self.settings.across && component.is_none_or(|c| c.view != delivery.sent_in)
    }

    /// Whether names of views and lives come back once no member knows them (steps N1 and N2).
    pub(super) fn reuses_names(&self) -> bool {
        self.settings.is_lazy() && !self.settings.across && !M::REMEMBERS_VIEWS
    }

    /// The epoch of a new view, after views up to `last`. Services only compare the names of views;
    /// so if late multicasts perish with their view, the name of a view that no member is in may
    /// come back (step N1). The epoch is then made of the members' names, so that few names exist.
    pub(super) fn epoch_after(&self, last: Option<u64>, members: &[Member]) -> u64 {
        let is_free = |epoch: &u64| {
            let id = ViewId { epoch: *epoch, by: members[0] };
            !self.components.iter().any(|component| component.view == id)
        };
        // Epoch 1 is for members without a past.
        let has_past = last.is_some() || members.len() > 1;
        if !(has_past && self.reuses_names()) {
            return 1 + last.unwrap_or(0);
        }
        let set = members.iter().fold(0u64, |set, member| set | 1 << (member.node.index() % 32));
        (2 * set..).find(is_free).expect("there are few views")
    }

    /// The life in which a node starts. Services only ask whether two lives are the same, and
    /// whether a life is the first one; so the number of a life may come back when it is in no view
    /// of a member (step N2).
    pub(super) fn next_life(&self, node: ProcessId) -> u32 {
        let lived = self.node(node).incarnation;
        if lived == 0 || !self.reuses_names() {
            return lived + 1;
        }
        let is_free = |life: &u32| {
            let member = Member { node, incarnation: *life };
            !self.components.iter().any(|component| component.members.contains(&member))
        };
        (2..).find(is_free).expect("there are few views")
    }

    /// Drops the multicasts that never get a place.
    pub(super) fn forget_perished(&mut self) {
        for node in self.names() {
            let mut unordered = std::mem::take(&mut self.node_mut(node).unordered);
            unordered.retain(|delivery| !self.has_perished(delivery));
            self.node_mut(node).unordered = unordered;
        }
    }

    /// The events that a member gets if no other move comes before them (step L6).
    pub(super) fn waiting_for(&self, node: ProcessId) -> impl Iterator<Item = Waiting<'_, M>> {
        let queue = self.node(node).queue.iter().map(Waiting::Event);
        let component = self.components.iter().find(|component| component.has(node));
        let ordered = component.into_iter().flat_map(move |component| component.rest(node));
        queue.chain(ordered.map(Waiting::Ordered))
    }
}

/// An event that a member has yet to get.
#[derive(Debug, Hash)]
pub enum Waiting<'a, M> {
    /// An event in its queue.
    Event(&'a Event<M>),
    /// A message in the order of its view.
    Ordered(&'a Delivery<M>),
}

impl<M: Fleeting> Waiting<'_, M> {
    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        matches!(self, Waiting::Event(Event::View(_)))
    }

    /// The event itself.
    pub fn to_event(&self) -> Event<M> {
        match self {
            Waiting::Event(event) => (*event).clone(),
            Waiting::Ordered(delivery) => Event::Deliver((*delivery).clone()),
        }
    }
}

impl<M: Fleeting> Abstract<M> {
    /// The events that a lazy oracle has not passed on to a member yet.
    pub fn waiting_for(&self, node: ProcessId) -> Option<Vec<Waiting<'_, M>>> {
        match self {
            Abstract::Oracle(oracle) if oracle.settings.is_lazy() && node != ORACLE => {
                Some(oracle.waiting_for(node).collect())
            }
            Abstract::Oracle(_) | Abstract::Member(_) => None,
        }
    }
}

impl<M: Fleeting> Oracle<M> {
    /// Members left behind learn how their view ends; or members that know it get a view of their
    /// own (step B2).
    pub(super) fn settle_slowly(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let unsettled = |place: &usize| self.components[*place].is_unsettled();
        let mut places: Vec<_> = (0..self.components.len()).filter(unsettled).collect();
        if self.is_abandoned() {
            places = self.exposed();
        }
        let place = one_of(&places, cx);
        match self.components[place].closed {
            false => self.shut(place, cx),
            true => self.install(&self.components[place].set(), cx),
        }
    }

    /// Members learn how their view ends, and wait for another.
    fn shut(&mut self, place: usize, cx: &mut Cx<'_, Abstract<M>>) {
        let component = &mut self.components[place];
        if component.closed {
            return;
        }
        let all = component.set();
        let closing = component.shut(self.settings.across, cx);
        for (node, events) in closing.events(&all) {
            self.node_mut(node).queue.extend(events);
        }
        if !self.settings.across {
            all.iter().for_each(|node| self.node_mut(node).unordered.clear());
        }
    }

    /// Begins a merge: it ends these views one after the other (step B4).
    pub(super) fn begin_to_gather(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        (self.gathered, _) = self.some_views(cx);
        self.gather(cx);
    }

    /// Ends one of these views; after the last, their members get a view together.
    pub(super) fn gather(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let is_in = |component: &Component<M>| self.gathered.contains(component.here[0].node);
        let count = self.components.iter().filter(|component| is_in(component)).count() as u32;
        let all = 0..self.components.len();
        let mut open =
            all.filter(|place| is_in(&self.components[*place]) && !self.components[*place].closed);
        let (first, is_last) = (open.next(), open.next().is_none());
        if let Some(place) = first {
            self.shut(place, cx);
        }
        if is_last {
            self.settings.left.spend(Move::Merge, count - 1);
            let set = std::mem::take(&mut self.gathered);
            self.install(&set, cx);
        }
    }

    /// Passes on the events that are certain: the queues (step L3), and at the end everything (step
    /// L5).
    pub(super) fn pass_all(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let all = self.is_over();
        for node in self.names() {
            let certain = if all { self.backlog(node) } else { self.node(node).queue.len() };
            (0..certain).for_each(|_| self.pass_next(node, cx));
        }
    }

    /// Passes on all events. A member that multicasts in answer shows that this was not the end:
    /// `put_by` then retracts the step.
    pub(super) fn rest(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        for node in self.names() {
            (0..self.backlog(node)).for_each(|_| self.pass_next(node, cx));
        }
        self.rests = true;
    }

    /// Whether all members have all their events, every member of a view is still in it, and no
    /// multicast waits.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_silent()
            && self.gathered.is_empty()
            && self.names().all(|node| self.backlog(node) == 0)
    }

    /// A multicast arrives, and waits for its place.
    pub(super) fn put_by(&mut self, delivery: Delivery<M>, cx: &mut Cx<'_, Abstract<M>>) {
        if self.rests {
            retract(cx);
        }
        if self.is_current(delivery.sender) && !self.has_perished(&delivery) {
            self.node_mut(delivery.sender.node).unordered.push_back(delivery);
            self.set_timers(cx);
        }
    }

    /// Chooses a member whose next multicast gets its place (step L2).
    pub(super) fn order_next(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let node = one_of(&self.speakers(), cx);
        self.order_next_of(node, cx);
    }

    /// Orders the member's next multicast. A member that has none gets one more event, and is asked
    /// again.
    pub(super) fn order_next_of(&mut self, node: ProcessId, cx: &mut Cx<'_, Abstract<M>>) {
        if let Some(delivery) = self.node_mut(node).unordered.pop_front() {
            self.order(delivery);
        } else if self.backlog(node) > 0 {
            self.pass_next(node, cx);
            cx.send(node, Message::Ask);
        } else {
            // The member multicasts nothing, so its events were passed on too early.
            retract(cx);
        }
        self.set_timers(cx);
    }
}
