//! The adversary's moves. Every open choice of a move is made here.

use super::component::Component;
use super::oracle::Oracle;
use super::phase::Phase;
use super::{Abstract, Message, Move, ORACLE};
use synod_core::group::{Cause, Event};
use synod_core::reductions::Fleeting;
use synod_core::{Cx, ProcessId, ProcessSet};

impl<M: Fleeting> Oracle<M> {
    /// Whether the phase allows this move, and the move has a target.
    pub(super) fn may(&self, next: Move, phase: Phase) -> bool {
        if !phase.allows(next) {
            return false;
        }
        let may_now = !self.settings.calm || self.is_calm();
        let is_left = may_now && self.settings.left.times(next) > 0;
        match next {
            Move::Pass => !self.behind().is_empty(),
            Move::Order | Move::Rest => !self.speakers().is_empty(),
            Move::Settle => self.components.iter().any(Component::is_unsettled),
            Move::Gather => !self.gathered.is_empty(),
            Move::Start => !self.out(next).is_empty(),
            Move::Partition => is_left && !self.divisible().is_empty(),
            Move::Merge => is_left && self.mergeable().len() > 1,
            Move::Die | Move::Crash => is_left && !self.mortal().is_empty(),
            Move::Restart => is_left && !self.out(next).is_empty(),
            Move::Rejoin => is_left && !self.components.is_empty() && !self.out(next).is_empty(),
        }
    }

    /// Whether all members have all their events, and every member of a view is still in it.
    fn is_calm(&self) -> bool {
        self.behind().is_empty() && !self.components.iter().any(Component::is_unsettled)
    }

    /// The nodes outside the group: for [`Move::Start`] those that never started, otherwise the
    /// dead.
    pub(super) fn out(&self, next: Move) -> Vec<ProcessId> {
        let alive = self.alive();
        let is_out = |node: &ProcessId| {
            let never_was = self.node(*node).incarnation == 0;
            !alive.contains(node) && never_was == (next == Move::Start)
        };
        self.names().filter(is_out).collect()
    }

    /// The components that a partition may divide.
    fn divisible(&self) -> Vec<usize> {
        let is_divisible = |place: &usize| self.components[*place].here.len() > 1;
        self.exposed().into_iter().filter(is_divisible).collect()
    }

    /// The members that may die.
    fn mortal(&self) -> Vec<ProcessId> {
        let places = self.exposed().into_iter();
        let mut all: Vec<_> = places
            .flat_map(|place| self.components[place].set().iter().collect::<Vec<_>>())
            .collect();
        all.sort_unstable();
        all
    }

    /// The living members.
    fn alive(&self) -> Vec<ProcessId> {
        let alive = |node: &ProcessId| self.components.iter().any(|c| c.has(*node));
        self.names().filter(alive).collect()
    }
}

/// Chooses one of these.
pub(super) fn one_of<M: Fleeting, T: Copy>(options: &[T], cx: &mut Cx<'_, Abstract<M>>) -> T {
    options[cx.choose(options.len() as u32) as usize]
}

/// Chooses some of these, but not all and not none.
fn some_of<M: Fleeting>(set: &ProcessSet, cx: &mut Cx<'_, Abstract<M>>) -> ProcessSet {
    let parts = (1u32 << set.len()) - 2;
    let chosen = 1 + cx.choose(parts);
    set.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, node)| node).collect()
}

impl<M: Fleeting> Oracle<M> {
    /// The adversary makes a move.
    pub(super) fn on_move(&mut self, next: Move, cx: &mut Cx<'_, Abstract<M>>) {
        self.ran_out(next);
        self.rests = false;
        if next.is_fault() && !matches!(next, Move::Merge | Move::Start) {
            self.settings.left.spend(next, 1);
        }
        match next {
            Move::Pass if self.settings.is_lazy() => self.pass_all(cx),
            Move::Order => self.order_next(cx),
            Move::Rest => self.rest(cx),
            Move::Pass => {
                let node = one_of(&self.behind(), cx);
                self.pass(node, cx);
                return self.set_pass(cx);
            }
            Move::Settle if self.settings.is_lazy() => self.settle_slowly(cx),
            Move::Merge if self.settings.is_lazy() => self.begin_to_gather(cx),
            Move::Gather => self.gather(cx),
            Move::Settle => self.settle(cx),
            Move::Partition => self.partition(cx),
            Move::Merge => self.merge(cx),
            Move::Die => self.kill(Some(Cause::Disconnect), cx),
            Move::Crash => self.kill(None, cx),
            Move::Start | Move::Restart | Move::Rejoin => self.start_one(next, cx),
        }
        if self.phase() == Phase::Certain {
            cx.send(ORACLE, Message::Certain);
        }
        self.set_timers(cx);
    }

    fn settle(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let places: Vec<_> = (0..self.components.len())
            .filter(|place| self.components[*place].is_unsettled())
            .collect();
        let rest = self.components[one_of(&places, cx)].set();
        self.install(&rest, cx);
    }

    fn partition(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let all = self.components[one_of(&self.divisible(), cx)].set();
        let some = some_of(&all, cx);
        self.install(&some, cx);
    }

    fn merge(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let (set, count) = self.some_views(cx);
        self.settings.left.spend(Move::Merge, count - 1);
        self.install(&set, cx);
    }

    /// Chooses the views that become one: two, or more if the budget has more merges. Returns their
    /// members and how many views they come from.
    pub(super) fn some_views(&self, cx: &mut Cx<'_, Abstract<M>>) -> (ProcessSet, u32) {
        let places = self.mergeable();
        let most = self.settings.left.times(Move::Merge) + 1;
        let groups: Vec<u32> = (1..1 << places.len())
            .filter(|bits: &u32| (2..=most).contains(&bits.count_ones()))
            .collect();
        let chosen = one_of(&groups, cx);
        let mut set = ProcessSet::EMPTY;
        for (bit, place) in places.into_iter().enumerate() {
            if chosen >> bit & 1 == 1 {
                set.extend(self.components[place].set().iter());
            }
        }
        (set, chosen.count_ones())
    }

    fn kill(&mut self, cause: Option<Cause>, cx: &mut Cx<'_, Abstract<M>>) {
        let node = one_of(&self.mortal(), cx);
        self.end(node, cause);
        cx.send(node, Message::Tell(Event::Lost));
    }

    /// A node starts, in a view of other members or alone.
    fn start_one(&mut self, next: Move, cx: &mut Cx<'_, Abstract<M>>) {
        let node = one_of(&self.out(next), cx);
        self.node_mut(node).incarnation = self.next_life(node);
        let views = self.components.len() as u32;
        let place = cx.choose(if next == Move::Rejoin { views } else { views + 1 });
        let mut set = ProcessSet::from_iter([node]);
        if let Some(component) = self.components.get(place as usize) {
            set.extend(component.set().iter());
        }
        self.install(&set, cx);
    }
}
