//! Settling: in the end, all members that can reach each other are in one view.

use super::Historian;
use crate::group::{Member, ViewId};
use crate::process::{ProcessId, ProcessSet};

/// Which processes can reach which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Reach {
    /// For each process, the receivers that its messages reach; empty if all links work.
    to: Vec<ProcessSet>,
}

impl Reach {
    pub(super) fn of(n: usize, works: &dyn Fn(ProcessId, ProcessId) -> bool) -> Self {
        let all = ProcessId::all(n);
        let reached = |from| all.clone().filter(|to| *to == from || works(from, *to)).collect();
        let to: Vec<ProcessSet> = all.clone().map(reached).collect();
        let whole = to.iter().all(|reached| reached.len() == n);
        Reach { to: if whole { Vec::new() } else { to } }
    }

    /// The living processes that this one can reach and is reached by. None if they do not agree on
    /// that set: no single view could be right then.
    fn component(&self, of: ProcessId, up: &ProcessSet) -> Option<ProcessSet> {
        let one_way = |from: ProcessId, to: ProcessId| self.to[from.index()].contains(to);
        let both = |other: &ProcessId| one_way(of, *other) && one_way(*other, of);
        let component: ProcessSet = up.iter().filter(both).collect();
        let agrees = |other: ProcessId| {
            let inside = component.contains(other);
            component.iter().all(|m| one_way(m, other) == inside && one_way(other, m) == inside)
        };
        up.iter().all(agrees).then_some(component)
    }
}

impl Historian {
    /// The members that are not in their final view.
    pub(super) fn unsettled(&self) -> ProcessSet {
        let all = ProcessId::all(self.nodes.len());
        if self.oracle {
            let members = all.filter(|at| at.0 > 0 && self.is_up(*at));
            return members.filter(|at| !self.is_in_a_living_view(*at)).collect();
        }
        let up: ProcessSet = all.filter(|at| self.is_up(*at)).collect();
        if self.reach.to.is_empty() {
            let first = up.first().and_then(|first| self.nodes[first.index()].view);
            return if self.share(&up, first) { ProcessSet::EMPTY } else { up };
        }
        let is_wrong = |at: &ProcessId| {
            let wanted = self.reach.component(*at, &up);
            wanted.is_some_and(|wanted| !self.share(&wanted, self.nodes[at.index()].view))
        };
        up.iter().filter(is_wrong).collect()
    }

    fn is_up(&self, at: ProcessId) -> bool {
        let node = &self.nodes[at.index()];
        !node.is_over && node.asked_to_leave != node.life
    }

    /// Whether these, in their present lives, are the members of the view and know it.
    fn share(&self, wanted: &ProcessSet, view: Option<ViewId>) -> bool {
        let Some(record) = view.and_then(|view| self.views.get(&view)) else {
            return wanted.is_empty();
        };
        let there = |member: &Member| wanted.contains(member.node) && self.is_there(*member, view);
        record.members.len() == wanted.len() && record.members.iter().all(there)
    }

    fn is_there(&self, member: Member, view: Option<ViewId>) -> bool {
        let node = &self.nodes[member.node.index()];
        node.life == member.incarnation && node.view == view && node.transition.is_none()
    }

    /// Whether all members of its view live and are in it.
    fn is_in_a_living_view(&self, at: ProcessId) -> bool {
        let view = self.nodes[at.index()].view;
        let record = view.and_then(|view| self.views.get(&view));
        record.is_some_and(|record| record.members.iter().all(|m| self.is_there(*m, view)))
    }

    pub(super) fn unsettled_in_words(&self, at: ProcessId) -> String {
        let rest = "not with all whom it can reach";
        match self.nodes[at.index()].view {
            Some(view) => format!("is in {view}, {rest}"),
            None => format!("is in no view, {rest}"),
        }
    }
}
