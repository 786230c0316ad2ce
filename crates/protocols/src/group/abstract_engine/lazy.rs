//! Telling members as late as can be: the same histories, in fewer states.
//!
//! A member learns of the world only from what it is told, and the world learns of it only from
//! what it multicasts. So a history does not change if a member is told something later, as long as
//! it is told before the oracle orders what the member says to it. A lazy oracle does just that:
//! the order of the multicasts is explored, and what goes wrong between them; how far behind
//! members are is not. Instead, whoever judges a state judges it for every one of them, wherever it
//! is in what it was not told yet: see [`Abstract::to_be_told`].
//!
//! Why nothing is lost. Take a history of the oracle that is not lazy. The lazy one follows it, so
//! that the order and the views are the same at every moment, and no member has been told more:
//! - *Somebody is told something*: do nothing.
//! - *A multicast gets its place*: its sender has been told all that led to it. Tell it as much,
//!   and no more ([`Move::Order`]).
//! - *Members go on to another view*: how much of the order they still deliver is chosen from where
//!   the first of them is. Whoever was told less can choose as before, and more. What they have to
//!   deliver is fixed from then on; nobody can change it but by killing them, and whoever is dead
//!   has forgotten what it was told. So it is told in the same step (the state before that is
//!   judged, too: what a process sends to itself divides a step); what it says to this waits in the
//!   oracle, where it may get its place or be lost, as before.
//! - *A member dies*: it has forgotten all.
//!
//! What cannot go wrong any more is not waited for: when nothing is left that could end a view,
//! members are told everything at once.
//!
//! It is not for members that act on their own (claims): for them it matters when they are told
//! something.
//!
//! # What comes too late for its view
//!
//! If `across` is off, a multicast that has no place in the order when its sender leaves the view
//! never gets one. Why nothing is lost, for services to which a message of another view is *void*,
//! that is: it does not change their state, and they say and tell nothing because of it.
//! (`tests/slots/lazy.rs` tries all messages in all states of small pools. A void message moves the
//! clock of claims, and tells how many slots were free; the one matters only to tokens, the other
//! only to the words of a refusal, so to nobody who claims nothing.) Take a history in which
//! multicasts surface in later views, and leave out each of them from the moment when its sender
//! leaves its view:
//! - *Services* are in the same states at every moment, and multicast the same: what is left out is
//!   void.
//! - *The engine at a member* has as much room: only multicasts of the present view count.
//! - *The order* of all other messages is the same. When members leave a view, they deliver the
//!   same of these: how much, and which in the transitional configuration, is chosen for each
//!   message, and nothing that is left out made a choice possible. (It may have forbidden some:
//!   nobody delivers in the regular configuration what stands behind a safe message that somebody
//!   missed.)
//! - *The end*: when nobody has anything to say, all that is void has been delivered, to no effect.
//!
//! So the history without them is one that the oracle allows, and is judged the same at every
//! moment. The other way round there is nothing to show: a multicast may take any time.
//!
//! In the same way, what is void *between* two views ([`Fleeting::is_void_between_views`]) is not
//! delivered there by those who need not; and when a view ends, nobody delivers any more what ends
//! with it anyway ([`Fleeting::ends_with_its_view`]). Neither makes a difference.
//!
//! Then names of views can be used again, see [`Oracle::epoch_after`]. Names are compared and
//! nothing else; and whoever knows a name is in that view or has a message of that view before it:
//! the members of its component, who are told of their next view in the step in which they get one.
//! So a name that no component has, nobody knows, and to call a new view by it instead of by a new
//! name renames a history from then on, and changes nothing else. (Epochs are in tokens, too, so
//! this is for members that claim nothing.)
//!
//! Lives are numbered again in the same way, see [`Oracle::next_life`]: a service compares two
//! lives of a node, or asks whether it is the first one. Whoever knows a life has it among the
//! members of its view. So a number that no component has among its members, nobody knows. With
//! both, worlds in which *any* number of things go wrong have finitely many states.
//!
//! # Who is left behind
//!
//! When some members have left a view, the rest of it goes on before anything happens elsewhere.
//! They are told how the view ends, and *wait*: for a view of their own, for one together with
//! others, or for somebody who joins them. Why nothing is lost:
//! - *Something is ordered in a view that some have left.* They left without being seen, so it may
//!   as well be ordered before; they do not deliver it, and nobody has to deliver what others have
//!   multicast. (If it is to be safe, it makes a difference. Hence a lazy oracle offers no safe
//!   delivery.)
//! - *Something happens elsewhere before those left behind are told how their view ends.* The one
//!   has nothing to do with the other, so it may as well happen after that. What they wait for is
//!   open then, so a merge can come at any time; if none can come, nor anybody who joins, they get
//!   a view of their own at once.
//! - *Some of those left behind die, or leave the rest, later.* They may as well do so before they
//!   are told how the view ends, for the same reason. So whoever waits does neither.
//! - *Members of several views get one together.* These views end one after the other, in one
//!   sequence of steps. (The ends have nothing to do with each other, and most of them come to the
//!   same.)
//!
//! What is not looked at in this way is how somebody who is left behind gets on in its old view
//! while others are in new ones. That matters only to what is said of members of different views:
//! that none may use what another uses. So what anybody may use at any place in the order, it must
//! still have while it waits and in its next view, where it is looked at: services have to show it.
//! (SLOTS: the invariant `kept`.)
//!
//! Where a script says what goes wrong, those left behind take their time: it may want something
//! else first.

use super::component::Component;
use super::moves::one_of;
use super::oracle::Oracle;
use super::settings::Left;
use super::{Abstract, Message, Move, ORACLE};
use synod_core::group::{Delivery, Event, Member, ViewId};
use synod_core::reductions::{Fleeting, retract};
use synod_core::{Cx, ProcessId};

impl<M: Fleeting> Oracle<M> {
    /// Whether those whom others have left go on before all else. A script may want something else
    /// first.
    fn is_prompt(&self) -> bool {
        self.settings.is_lazy() && matches!(self.settings.left, Left::Budgets { .. })
    }

    /// Whether some members have left a view, and it is time that the rest of it goes on.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_prompt() && self.components.iter().any(Component::is_abandoned)
    }

    /// Whether somebody waits for a view, and nothing can come of it but a view of their own.
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

    /// The components whose members may die or go apart: if the oracle is lazy, not those who were
    /// told how their view ends; and if some were left behind in one, only they.
    pub(super) fn exposed(&self) -> Vec<usize> {
        let abandoned = |place: &usize| self.components[*place].is_abandoned();
        let all = 0..self.components.len();
        match all.clone().find(abandoned) {
            Some(first) if self.is_abandoned() => vec![first],
            _ => all.filter(|place| !self.components[*place].closed).collect(),
        }
    }

    /// The components that may get a view together: if the oracle is lazy, not those who were left
    /// behind and not told yet how their view ends.
    pub(super) fn mergeable(&self) -> Vec<usize> {
        let may =
            |place: &usize| !self.settings.is_lazy() || !self.components[*place].is_abandoned();
        (0..self.components.len()).filter(may).collect()
    }

    /// Whether perhaps nobody has anything to say any more.
    pub(super) fn is_silent(&self) -> bool {
        let unsettled = self.components.iter().any(Component::is_unsettled);
        !unsettled && self.nodes.iter().all(|node| node.unordered.is_empty())
    }

    /// Whether nothing is left that could end a view.
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

    /// Who may say something: it has said it, or was not told all yet.
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

    /// Whether something came too late for its view, and never gets a place.
    pub(super) fn has_perished(&self, delivery: &Delivery<M>) -> bool {
        let mut all = self.components.iter();
        let component = all.find(|component| component.has(delivery.sender.node));
        !self.settings.across && component.is_none_or(|c| c.view != delivery.sent_in)
    }

    /// The number of a new view, after views up to this number. Services compare the names of
    /// views, and no more; so if what is multicast perishes with its view, a name may come back
    /// when nobody is in the view any more that had it. Then it is made of the members' names, so
    /// that there are few.
    pub(super) fn epoch_after(&self, last: Option<u64>, members: &[Member]) -> u64 {
        let is_free = |epoch: &u64| {
            let id = ViewId { epoch: *epoch, by: members[0] };
            !self.components.iter().any(|component| component.view == id)
        };
        // 1 is for those who have no past.
        let has_past = last.is_some() || members.len() > 1;
        if !(has_past && self.settings.reuses_names()) {
            return 1 + last.unwrap_or(0);
        }
        let set = members.iter().fold(0u64, |set, member| set | 1 << (member.node.index() % 32));
        (2 * set..).find(is_free).expect("there are few views")
    }

    /// The life in which a node starts. Services ask whether two lives are the same, and whether
    /// one is the first, and no more; so the number of a life may come back when nobody is in a
    /// view any more that the life was in.
    pub(super) fn next_life(&self, node: ProcessId) -> u32 {
        let lived = self.node(node).incarnation;
        if lived == 0 || !self.settings.reuses_names() {
            return lived + 1;
        }
        let is_free = |life: &u32| {
            let member = Member { node, incarnation: *life };
            !self.components.iter().any(|component| component.members.contains(&member))
        };
        (2..).find(is_free).expect("there are few views")
    }

    /// What can never get a place any more is forgotten.
    pub(super) fn forget_perished(&mut self) {
        for node in self.names() {
            let mut unordered = std::mem::take(&mut self.node_mut(node).unordered);
            unordered.retain(|delivery| !self.has_perished(delivery));
            self.node_mut(node).unordered = unordered;
        }
    }

    /// What a member will be told if nothing else happens.
    pub(super) fn to_be_told(&self, node: ProcessId) -> impl Iterator<Item = Waiting<'_, M>> {
        let queue = self.node(node).queue.iter().map(Waiting::Event);
        let component = self.components.iter().find(|component| component.has(node));
        let ordered = component.into_iter().flat_map(move |component| component.rest(node));
        queue.chain(ordered.map(Waiting::Ordered))
    }
}

/// What a member has not been told yet.
#[derive(Debug, Hash)]
pub enum Waiting<'a, M> {
    /// This event.
    Event(&'a Event<M>),
    /// This message, by its place in the order of the view.
    Ordered(&'a Delivery<M>),
}

impl<M: Fleeting> Waiting<'_, M> {
    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        matches!(self, Waiting::Event(Event::View(_)))
    }

    /// What it will be told.
    pub fn to_event(&self) -> Event<M> {
        match self {
            Waiting::Event(event) => (*event).clone(),
            Waiting::Ordered(delivery) => Event::Deliver((*delivery).clone()),
        }
    }
}

impl<M: Fleeting> Abstract<M> {
    /// What a lazy oracle has not told a member yet.
    pub fn to_be_told(&self, node: ProcessId) -> Option<Vec<Waiting<'_, M>>> {
        match self {
            Abstract::Oracle(oracle) if oracle.settings.is_lazy() && node != ORACLE => {
                Some(oracle.to_be_told(node).collect())
            }
            Abstract::Oracle(_) | Abstract::Member(_) => None,
        }
    }
}

impl<M: Fleeting> Oracle<M> {
    /// Those whom others have left are told how their view ends; or those who know it get another.
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

    /// Members are told how their view ends, and wait for another.
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

    /// Members of several views get one together. These views end one after the other.
    pub(super) fn begin_to_gather(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        (self.gathered, _) = self.some_views(cx);
        self.gather(cx);
    }

    /// One of them ends; if it is the last, they get one together.
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

    /// Everybody is told what is certain.
    pub(super) fn pass_all(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let all = self.is_over();
        for node in self.names() {
            let certain = if all { self.backlog(node) } else { self.node(node).queue.len() };
            (0..certain).for_each(|_| self.tell_next(node, cx));
        }
    }

    /// Everybody is told everything. If somebody has something to say to it after all, this is not
    /// the end, and it was too early to tell them.
    pub(super) fn rest(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        for node in self.names() {
            (0..self.backlog(node)).for_each(|_| self.tell_next(node, cx));
        }
        self.rests = true;
    }

    /// Whether everybody has been told everything, is in a view with all who are told to be in it,
    /// and has nothing to say.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_silent()
            && self.gathered.is_empty()
            && self.names().all(|node| self.backlog(node) == 0)
    }

    /// Something is multicast: it waits for its place.
    pub(super) fn put_by(&mut self, delivery: Delivery<M>, cx: &mut Cx<'_, Abstract<M>>) {
        if self.rests {
            retract(cx);
        }
        if self.is_current(delivery.sender) && !self.has_perished(&delivery) {
            self.node_mut(delivery.sender.node).unordered.push_back(delivery);
            self.set_timers(cx);
        }
    }

    /// What somebody says next gets its place.
    pub(super) fn draw(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let node = one_of(&self.speakers(), cx);
        self.draw_on(node, cx);
    }

    /// If it has said nothing yet, it is told more.
    pub(super) fn draw_on(&mut self, node: ProcessId, cx: &mut Cx<'_, Abstract<M>>) {
        if let Some(delivery) = self.node_mut(node).unordered.pop_front() {
            self.order(delivery);
        } else if self.backlog(node) > 0 {
            self.tell_next(node, cx);
            cx.send(node, Message::Ask);
        } else {
            // It has nothing to say, so it was too early to tell it.
            retract(cx);
        }
        self.set_timers(cx);
    }
}
