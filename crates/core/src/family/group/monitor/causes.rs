//! G5 and the views themselves: their members, their parts, and the causes of change.

use super::record::Record;
use super::{Findings, Historian};
use crate::family::group::{G5, VIEWS};
use crate::group::{Cause, Change, Member, Part, View};
use crate::process::ProcessId;

impl Historian {
    /// Epochs grow, and a view ends before the next begins.
    pub(super) fn judge_name(&self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        let node = &self.nodes[at.index()];
        let Some(last) = node.view else { return };
        if view.id.epoch <= last.epoch {
            findings.add(VIEWS, format!("goes from {last} to {}", view.id));
        }
        if view.came_with.is_some() && node.transition.is_none() {
            findings
                .add(VIEWS, format!("is in {} before it was told that {last} is over", view.id));
        }
    }

    /// A member is in its own views, and every member of them has lived.
    pub(super) fn judge_members(&self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        let me = Member { node: at, incarnation: self.nodes[at.index()].life };
        if !view.members.contains(&me) {
            findings.add(VIEWS, format!("is told of {}, but is not in it as {me}", view.id));
        }
        if !view.members.is_sorted_by(|a, b| a.node < b.node) {
            findings.add(VIEWS, format!("is told of {} without order", view.id));
        }
        if let Some(stranger) = view.members.iter().find(|member| !self.has_begun(**member)) {
            findings.add(VIEWS, format!("is in a view with {stranger}, who was never there"));
        }
    }

    fn has_begun(&self, member: Member) -> bool {
        let node = self.nodes.get(member.node.index());
        node.is_some_and(|node| (1..=node.next_life()).contains(&member.incarnation))
    }

    /// Every member is in one part; mine comes from my last view, with those that were named.
    pub(super) fn judge_parts(&self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        let Some(parts) = &view.came_with else { return };
        let node = &self.nodes[at.index()];
        let once = |member: &Member| {
            parts.iter().filter(|part| part.members.contains(member.node)).count() == 1
        };
        let named: usize = parts.iter().map(|part| part.members.len()).sum();
        if !view.members.iter().all(once) || named != view.members.len() {
            findings.add(G5, format!("is told parts that are not {}: {parts:?}", view.id));
        }
        let Some(mine) = parts.iter().find(|part| part.members.contains(at)) else { return };
        if mine.from != node.view {
            let (said, true_one) = (in_words(mine.from), in_words(node.view));
            findings.add(G5, format!("is said to come from {said}, but comes from {true_one}"));
        }
        if node.transition.as_ref().is_some_and(|way| way.with != mine.members) {
            findings.add(G5, format!("comes to {} with others than it was told", view.id));
        }
        for part in parts {
            if let Some(stranger) = self.stranger(part, view) {
                let from = in_words(part.from);
                findings.add(G5, format!("is told that {stranger} came from {from}"));
            }
        }
    }

    /// A member that cannot have come from the view that its part names, because it never was in
    /// it.
    fn stranger(&self, part: &Part, view: &View) -> Option<Member> {
        let record = self.views.get(&part.from?)?;
        let members = view.members.iter().filter(|member| part.members.contains(member.node));
        members.copied().find(|member| !record.members.contains(member))
    }

    /// The members that joined and left, and the causes.
    pub(super) fn judge_causes(&self, at: ProcessId, view: &View, findings: &mut Findings<'_>) {
        let last = self.nodes[at.index()].view.and_then(|last| self.views.get(&last));
        let before: &[Member] = last.map_or(&[], |record| &record.members);
        let new = |member: &&Member| !before.contains(member);
        let gone = |member: &&Member| !view.members.contains(member);
        if !names(&view.joined).eq(view.members.iter().filter(new).copied()) {
            findings.add(G5, format!("is told of others who joined than did: {:?}", view.joined));
        }
        if !names(&view.left).eq(before.iter().filter(gone).copied()) {
            findings.add(G5, format!("is told of others who left than did: {:?}", view.left));
        }
        let joined = view.joined.iter().find(|change| !self.has_joined(change, view));
        let left = view.left.iter().find(|change| !self.has_left(change, last));
        for Change { member, cause } in joined.into_iter().chain(left) {
            findings.add(G5, format!("is told of {member}: {cause:?}, which is not true"));
        }
    }

    /// Whether a member of a view that is told for the first time has a past; none if that is
    /// unknown.
    pub(super) fn past(&self, member: Member, view: &View) -> Option<(ProcessId, bool)> {
        let parts = view.came_with.as_ref()?;
        let part = parts.iter().find(|part| part.members.contains(member.node))?;
        let has_past = match part.from {
            None => false,
            Some(last) => !self.views.get(&last)?.is_first_and_alone(),
        };
        Some((member.node, has_past))
    }

    /// Whether a cause to join is true. A member that comes from no view is new, and so is one that
    /// was alone until now.
    fn has_joined(&self, change: &Change, view: &View) -> bool {
        let pasts = &self.views[&view.id].pasts;
        let known = pasts.iter().find(|(node, _)| *node == change.member.node);
        match change.cause {
            Cause::Join => known.is_none_or(|(_, has_past)| !has_past),
            Cause::Merge => known.is_none_or(|(_, has_past)| *has_past),
            _ => false,
        }
    }

    /// Whether a cause to leave is true. A member reported dead must be dead, or must have asked to
    /// leave. A member reported to have ended in the last view must not have gone on from it to
    /// another view.
    fn has_left(&self, Change { member, cause }: &Change, from: Option<&Record>) -> bool {
        let Some(node) = self.nodes.get(member.node.index()) else { return false };
        let asked = member.incarnation <= node.asked_to_leave;
        let stayed = from.is_none_or(|view| !view.has_gone_on(member.node));
        match cause {
            Cause::Partition => true,
            Cause::Restart => asked || self.is_over(*member) || self.is_untold(*member),
            Cause::Disconnect => {
                stayed && (asked || self.is_over(*member) || self.is_untold(*member))
            }
            Cause::Leave => stayed && asked,
            Cause::Join | Cause::Merge => false,
        }
    }
}

impl Historian {
    /// Whether this is a life to which an oracle has told no view yet. Only the oracle knows
    /// whether such a life is over: a member that dies in it hears nothing of its death.
    fn is_untold(&self, member: Member) -> bool {
        let node = &self.nodes[member.node.index()];
        self.oracle && node.is_over && member.incarnation == node.next_life()
    }
}

fn names(changes: &[Change]) -> impl Iterator<Item = Member> + '_ {
    changes.iter().map(|change| change.member)
}

fn in_words(view: Option<crate::group::ViewId>) -> String {
    view.map_or("no view".to_owned(), |view| view.to_string())
}
