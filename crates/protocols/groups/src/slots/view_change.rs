//! From one view to the next: which members came along, whose lives ended, and which ones parted.
//!
//! Slots move only between members of one view. So a life gets a slot without this member's
//! knowledge only from a member that left this member's view, or that this member never met. A
//! death alone says little: the node may live again by now, with other members, and may own slots
//! that they gave it. The numbers are those of the argument in the [module header](super).
//!
//! - Step 4: a member *parted* if it cannot be reached, or restarted, because it may have dealt
//!   with others before it died. Its slots are absent. This member's knowledge of the dead is out
//!   of date, because the member that parted may have met their next lives.
//! - Step 5: no member of the last view parted. Each one came along, or its life ended in that very
//!   view. Then all survivors have delivered the same messages, and no other node can own the slots
//!   of the dead: the primary inherits them.
//! - Step 7: a node whose life ended is *accounted for* if no member parted and every other node
//!   came along, ended, too, or was accounted for before. Then no node elsewhere has a slot to
//!   give, so the next life of that node owns nothing until it meets this part. A new member does
//!   not count: its earlier life may have met the next life of the dead.

use super::Slots;
use super::settings::{Death, Unreachable};
use super::state::MemberState;
use super::table::Owner;
use synod_core::group::{Cause, Change, Session, View};
use synod_core::{ProcessId, ProcessSet};

/// What a member concludes from the members of its last view and of the next.
pub(super) struct ViewChange {
    /// Members that came along, and have delivered the same messages.
    pub companions: ProcessSet,
    /// Nodes in the first view of their present life, which own nothing.
    pub fresh: ProcessSet,
    /// Nodes whose lives ended in the last view.
    pub ended: ProcessSet,
    /// Whether a member of the last view is elsewhere, or may have been before it died.
    pub parted: bool,
    /// Whether the nodes in `ended` are accounted for.
    pub accounted: bool,
}

impl ViewChange {
    pub(super) fn new(state: &MemberState, view: &View) -> Self {
        let fresh = fresh(state, view);
        let companions = companions(state, view);
        let trusts = state.settings.death == Death::OfItsNode;
        let ended = |change: &&Change| {
            change.cause.is_end_in_view() || trusts && change.cause == Cause::Restart
        };
        let ended: Vec<_> = view.left.iter().filter(ended).map(|change| change.member).collect();
        let stayed = |node: ProcessId| companions.contains(node);
        let mut members = state.members.iter();
        let parted = members.any(|member| !stayed(member.node) && !ended.contains(member));
        let ended: ProcessSet = ended.iter().map(|member| member.node).collect();
        let known = |node: ProcessId| {
            stayed(node)
                || ended.contains(node)
                || state.dead.contains(node)
                || trusts && fresh.contains(node)
        };
        let accounted = !parted && state.settings.configured.iter().all(known);
        ViewChange { companions, fresh, ended, parted, accounted }
    }
}

/// The nodes that start in this view and own nothing.
pub(super) fn fresh(state: &MemberState, view: &View) -> ProcessSet {
    // In a pool that is set up with owners, first lives count as members that were together before.
    let owns = |node: ProcessId| {
        let life = view.member(node).map_or(0, |member| member.incarnation);
        state.settings.founded && life == 1
    };
    begun(view).iter().filter(|node| !owns(*node)).collect()
}

/// The nodes that are in their first view. If the engine does not tell, no node counts as new: each
/// member speaks for itself, as if it were a part of its own.
fn begun(view: &View) -> ProcessSet {
    let parts = view.came_with.iter().flatten().filter(|part| part.from.is_none());
    parts.flat_map(|part| part.members.iter()).collect()
}

/// The members that came along with this one.
pub(super) fn companions(state: &MemberState, view: &View) -> ProcessSet {
    if state.view.is_none() {
        let together = state.settings.founded && state.is_ready();
        let others = begun(view);
        let fresh = fresh(state, view);
        let others = others.iter().filter(|other| together && !fresh.contains(*other));
        return others.chain([state.me]).collect();
    }
    let same = |node: &ProcessId| {
        let here = view.member(*node);
        here.is_some_and(|here| state.members.contains(&here))
    };
    view.companions(state.me).iter().filter(same).collect()
}

impl Slots {
    /// Enters a new view by the rules that hold.
    pub(super) fn change_view(&mut self, view: &View, session: &mut Session<'_, Slots>) {
        self.own_initial_slots(view);
        let change = ViewChange::new(&self.state, view);
        self.close_view(&change, session);
        self.enter(view);
        let here = view.set();
        self.state.dead = self.state.dead.iter().filter(|node| !here.contains(*node)).collect();
        self.join_or_merge(&here, change.fresh, session);
    }

    /// Closes the last view: all that was under way in it is over.
    pub(super) fn close_view(&mut self, change: &ViewChange, session: &mut Session<'_, Slots>) {
        self.scheme.close(change.parted, &mut self.state, session);
        self.bequeath(change);
        if change.parted {
            self.state.dead.clear();
        }
        if change.accounted {
            self.state.dead.extend(change.ended.iter());
        }
    }

    /// Members that did not come along leave this part. The primary inherits their slots if no
    /// other life can own them (step 5); otherwise these slots are absent (step 4).
    fn bequeath(&mut self, change: &ViewChange) {
        let state = &mut self.state;
        let mut ours = change.companions.clone();
        state.ready = state.ready.iter().filter(|node| ours.contains(*node)).collect();
        // Waiting members do not all know each other. Without an initialised member that speaks for
        // the part, each one speaks for itself.
        if state.ready.is_empty() {
            ours = ProcessSet::from_iter([state.me]);
        }
        let came = |node: &ProcessId| ours.contains(*node);
        state.waiting = state.waiting.iter().filter(came).collect();
        state.primary = state.primary.filter(came).or_else(|| state.ready.first());
        self.new = self.new.iter().filter(came).collect();
        let owners: Vec<Owner> = state.table.counts().map(|(owner, _)| owner).collect();
        for owner in owners {
            let Owner::Of(member) = owner else { continue };
            if came(&member) {
                continue;
            }
            let is_over = !change.parted && change.ended.contains(member)
                || state.settings.unreachable == Unreachable::Inherited;
            let heir = state.primary.filter(|_| is_over);
            state.replace(owner, heir.map_or(Owner::Absent, Owner::Of));
        }
    }
}
