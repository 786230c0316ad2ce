//! From one view to the next: who comes along, who is new, and who may be alive elsewhere.

use super::Slots;
use super::estate::Estate;
use super::table::Owner;
use synod_core::group::{Cause, Member, Session, View};
use synod_core::{ProcessId, ProcessSet};

/// What a member can know about those in its last view and in the next.
pub(super) struct Crossing {
    /// Who came with us, and has delivered what we have.
    pub companions: ProcessSet,
    /// Who is here for the first time in this life, and has nothing.
    pub fresh: ProcessSet,
    /// Who was in our last view, and is dead.
    pub certain: ProcessSet,
    /// Whether somebody who was in our last view may be alive elsewhere, or have been there.
    pub lost: bool,
    /// Whether every node came with us, is new, or is dead.
    pub accounted: bool,
}

impl Crossing {
    pub(super) fn new(estate: &Estate, view: &View) -> Self {
        let fresh = fresh(estate, view);
        let companions = companions(estate, view);
        let left = view.left.iter();
        let died = left.filter(|change| matches!(change.cause, Cause::Disconnect | Cause::Leave));
        let died: Vec<Member> = died.map(|change| change.member).collect();
        let came = |node: ProcessId| companions.contains(node);
        let parted = |member: &&Member| !came(member.node) && !died.contains(member);
        let parted = estate.members.iter().any(|member| parted(&member));
        let certain: ProcessSet = died.iter().map(|member| member.node).collect();
        let known = |node: ProcessId| {
            let dead = !parted && estate.dead.contains(node);
            came(node) || fresh.contains(node) || certain.contains(node) || dead
        };
        let accounted = estate.settings.configured.iter().all(known);
        // A dead member may have been elsewhere before it died, and have given away there what it had:
        // if a node is missing, that node may have it.
        let lost = parted || (!died.is_empty() && !accounted);
        Crossing { companions, fresh, certain, lost, accounted }
    }
}

/// Who has just begun, and owns nothing.
pub(super) fn fresh(estate: &Estate, view: &View) -> ProcessSet {
    // A pool that is set up with owners is as if its members had been together before.
    let owns = |node: ProcessId| {
        let life = view.member(node).map_or(0, |member| member.incarnation);
        estate.settings.founded && life == 1
    };
    begun(view).iter().filter(|node| !owns(*node)).collect()
}

/// Who is in its first view. If the engine does not tell, nobody is taken for new: then everybody
/// speaks for itself, as if it were a part of the group.
fn begun(view: &View) -> ProcessSet {
    let parts = view.came_with.iter().flatten().filter(|part| part.from.is_none());
    parts.flat_map(|part| part.members.iter()).collect()
}

/// Who came with us.
pub(super) fn companions(estate: &Estate, view: &View) -> ProcessSet {
    if estate.view.is_none() {
        let together = estate.settings.founded && estate.is_ready();
        let others = begun(view);
        let fresh = fresh(estate, view);
        let others = others.iter().filter(|other| together && !fresh.contains(*other));
        return others.chain([estate.me]).collect();
    }
    let same = |node: &ProcessId| {
        let here = view.member(*node);
        here.is_some_and(|here| estate.members.contains(&here))
    };
    view.companions(estate.me).iter().filter(same).collect()
}

impl Slots {
    /// A new view, with the rules that hold.
    pub(super) fn cross(&mut self, view: &View, session: &mut Session<'_, Slots>) {
        self.found_if_first(view);
        let crossing = Crossing::new(&self.estate, view);
        self.scheme.close(crossing.lost, &mut self.estate, session);
        self.leave_behind(&crossing);
        self.enter(view);
        let here = view.set();
        if crossing.lost {
            self.estate.dead.clear();
        }
        if crossing.accounted {
            self.estate.dead.extend(crossing.certain.iter());
        }
        self.estate.dead = self.estate.dead.iter().filter(|node| !here.contains(*node)).collect();
        self.join_or_merge(&here, crossing.fresh, session);
    }

    /// Whoever did not come along is not of our part any more; what it owned nobody here owns, or the
    /// primary if it is certain that nobody else does.
    fn leave_behind(&mut self, crossing: &Crossing) {
        let estate = &mut self.estate;
        let came = |node: &ProcessId| crossing.companions.contains(*node);
        estate.ready = estate.ready.iter().filter(came).collect();
        estate.waiting = estate.waiting.iter().filter(came).collect();
        estate.primary = estate.primary.filter(came).or_else(|| estate.ready.first());
        self.new = self.new.iter().filter(came).collect();
        let owners: Vec<Owner> = estate.table.counts().map(|(owner, _)| owner).collect();
        for owner in owners {
            let Owner::Of(member) = owner else { continue };
            if came(&member) {
                continue;
            }
            let is_over = crossing.accounted && crossing.certain.contains(member);
            let heir = estate.primary.filter(|_| is_over);
            estate.replace(owner, heir.map_or(Owner::Absent, Owner::Of));
        }
    }
}
