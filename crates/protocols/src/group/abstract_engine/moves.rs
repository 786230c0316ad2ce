//! What the adversary does: whatever may go one way or the other is chosen here.

use super::oracle::Oracle;
use super::{Abstract, Message, Move};
use synod_core::group::{Cause, Event};
use synod_core::{Cx, Data, ProcessId, ProcessSet, Wire};

impl<M: Data> Oracle<M> {
    /// Whether there is something to choose from.
    pub(super) fn may(&self, next: Move) -> bool {
        let left = &self.settings;
        match next {
            Move::Pass => !self.behind().is_empty(),
            Move::Settle => self.components.iter().any(|component| component.is_unsettled()),
            Move::Partition => left.partitions > 0 && self.components.iter().any(is_divisible),
            Move::Merge => left.merges > 0 && self.components.len() > 1,
            Move::Die => left.deaths > 0 && !self.components.is_empty(),
            Move::Crash => left.crashes > 0 && !self.components.is_empty(),
            Move::Start => self.names().any(|node| self.may_start(node)),
        }
    }

    fn may_start(&self, node: ProcessId) -> bool {
        let is_out = !self.components.iter().any(|component| component.has(node));
        let for_the_first_time = self.node(node).incarnation == 0;
        is_out && (for_the_first_time || self.settings.restarts > 0)
    }

    /// Those who are alive.
    fn alive(&self) -> Vec<ProcessId> {
        let alive = |node: &ProcessId| self.components.iter().any(|c| c.has(*node));
        self.names().filter(alive).collect()
    }
}

fn is_divisible<M: Data>(component: &super::component::Component<M>) -> bool {
    component.here.len() > 1
}

/// One of these.
fn one_of<M: Wire, T: Copy>(options: &[T], cx: &mut Cx<'_, Abstract<M>>) -> T {
    options[cx.choose(options.len() as u32) as usize]
}

/// Some of these, but not all and not none.
fn some_of<M: Wire>(set: &ProcessSet, cx: &mut Cx<'_, Abstract<M>>) -> ProcessSet {
    let parts = (1u32 << set.len()) - 2;
    let chosen = 1 + cx.choose(parts);
    set.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, node)| node).collect()
}

impl<M: Wire> Oracle<M> {
    /// The adversary does something.
    pub(super) fn on_move(&mut self, next: Move, cx: &mut Cx<'_, Abstract<M>>) {
        match next {
            Move::Pass => {
                let node = one_of(&self.behind(), cx);
                self.pass(node, cx);
                return self.set_pass(cx);
            }
            Move::Settle => self.settle(cx),
            Move::Partition => self.partition(cx),
            Move::Merge => self.merge(cx),
            Move::Die => {
                self.settings.deaths -= 1;
                self.kill(Some(Cause::Disconnect), cx);
            }
            Move::Crash => {
                self.settings.crashes -= 1;
                self.kill(None, cx);
            }
            Move::Start => self.start_one(cx),
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
        self.settings.partitions -= 1;
        let places: Vec<_> = (0..self.components.len())
            .filter(|place| is_divisible(&self.components[*place]))
            .collect();
        let all = self.components[one_of(&places, cx)].set();
        let some = some_of(&all, cx);
        self.install(&some, cx);
    }

    /// Two views become one; or more, if there are more merges left.
    fn merge(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let count = self.components.len() as u32;
        let most = self.settings.merges + 1;
        let groups: Vec<u32> =
            (1..1 << count).filter(|bits: &u32| (2..=most).contains(&bits.count_ones())).collect();
        let chosen = one_of(&groups, cx);
        self.settings.merges -= chosen.count_ones() - 1;
        let mut set = ProcessSet::EMPTY;
        for (bit, component) in self.components.iter().enumerate() {
            if chosen >> bit & 1 == 1 {
                set.extend(component.set().iter());
            }
        }
        self.install(&set, cx);
    }

    fn kill(&mut self, cause: Option<Cause>, cx: &mut Cx<'_, Abstract<M>>) {
        let node = one_of(&self.alive(), cx);
        self.end(node, cause);
        cx.send(node, Message::Tell(Event::Lost));
    }

    /// Somebody begins, in some view or alone.
    fn start_one(&mut self, cx: &mut Cx<'_, Abstract<M>>) {
        let out: Vec<_> = self.names().filter(|node| self.may_start(*node)).collect();
        let node = one_of(&out, cx);
        let is_first = self.node(node).incarnation == 0;
        if !is_first {
            self.settings.restarts -= 1;
        }
        self.node_mut(node).incarnation += 1;
        let place = cx.choose(1 + self.components.len() as u32) as usize;
        let mut set = ProcessSet::from_iter([node]);
        if let Some(component) = self.components.get(place) {
            set.extend(component.set().iter());
        }
        self.install(&set, cx);
    }
}
