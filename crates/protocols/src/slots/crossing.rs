//! From one view to the next: who comes along, whose life ended, and who may have been elsewhere.
//!
//! Slots move only between members of one view. So a member gets a slot without our knowledge only
//! from a member that left our view, or that we never met. A death alone says little: the node may
//! live again by now, with other members, and may have got slots from them.
//!
//! 1. No member of the last view *parted* from us: each member came along, or its life ended in
//!    that very view. Then all who are left have delivered the same, and no other node can have
//!    what the dead had: the primary inherits it.
//! 2. A member parted: it cannot be reached, or it restarted, and it may have dealt with others
//!    before it died. Its slots are absent. Our knowledge of the dead is out of date, because the
//!    member that parted may have met their next lives.
//! 3. A node whose life ended is *accounted for* if no member parted and every other node came
//!    along, ended, too, or was accounted for before. Then no node elsewhere has a slot to give, so
//!    its next life has nothing until it meets us. A new member does not count: its earlier life
//!    may have met the next life of the dead.

use super::Slots;
use super::estate::Estate;
use super::settings::Death;
use super::table::Owner;
use synod_core::group::{Cause, Change, Session, View};
use synod_core::{ProcessId, ProcessSet};

/// What a member can know about those in its last view and in the next.
pub(super) struct Crossing {
    /// Who came with us, and has delivered what we have.
    pub companions: ProcessSet,
    /// Who is here for the first time in this life, and has nothing.
    pub fresh: ProcessSet,
    /// Whose life ended in our last view.
    pub ended: ProcessSet,
    /// Whether a member of our last view is elsewhere, or may have been before it died.
    pub parted: bool,
    /// Whether the ended are accounted for.
    pub accounted: bool,
}

impl Crossing {
    pub(super) fn new(estate: &Estate, view: &View) -> Self {
        let fresh = fresh(estate, view);
        let companions = companions(estate, view);
        let trusts = estate.settings.death == Death::OfItsNode;
        let ended = |change: &&Change| {
            change.cause.is_end_in_view() || trusts && change.cause == Cause::Restart
        };
        let ended: Vec<_> = view.left.iter().filter(ended).map(|change| change.member).collect();
        let stayed = |node: ProcessId| companions.contains(node);
        let mut members = estate.members.iter();
        let parted = members.any(|member| !stayed(member.node) && !ended.contains(member));
        let ended: ProcessSet = ended.iter().map(|member| member.node).collect();
        let known = |node: ProcessId| {
            stayed(node)
                || ended.contains(node)
                || estate.dead.contains(node)
                || trusts && fresh.contains(node)
        };
        let accounted = !parted && estate.settings.configured.iter().all(known);
        Crossing { companions, fresh, ended, parted, accounted }
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
        self.part(&crossing, session);
        self.enter(view);
        let here = view.set();
        self.estate.dead = self.estate.dead.iter().filter(|node| !here.contains(*node)).collect();
        self.join_or_merge(&here, crossing.fresh, session);
    }

    /// The last view is over, with all that was under way in it, and some of its members did not
    /// come along.
    pub(super) fn part(&mut self, crossing: &Crossing, session: &mut Session<'_, Slots>) {
        self.scheme.close(crossing.parted, &mut self.estate, session);
        self.bequeath(crossing);
        if crossing.parted {
            self.estate.dead.clear();
        }
        if crossing.accounted {
            self.estate.dead.extend(crossing.ended.iter());
        }
    }

    /// Whoever did not come along is not of our part any more. The primary inherits what it owned
    /// if it is certain that nobody else has it; otherwise that is absent.
    fn bequeath(&mut self, crossing: &Crossing) {
        let estate = &mut self.estate;
        let mut ours = crossing.companions.clone();
        estate.ready = estate.ready.iter().filter(|node| ours.contains(*node)).collect();
        // Those who wait for a status do not all know of each other. If nobody is initialised who
        // speaks for us all, everybody speaks for itself.
        if estate.ready.is_empty() {
            ours = ProcessSet::from_iter([estate.me]);
        }
        let came = |node: &ProcessId| ours.contains(*node);
        estate.waiting = estate.waiting.iter().filter(came).collect();
        estate.primary = estate.primary.filter(came).or_else(|| estate.ready.first());
        self.new = self.new.iter().filter(came).collect();
        let owners: Vec<Owner> = estate.table.counts().map(|(owner, _)| owner).collect();
        for owner in owners {
            let Owner::Of(member) = owner else { continue };
            if came(&member) {
                continue;
            }
            let is_over = !crossing.parted && crossing.ended.contains(member);
            let heir = estate.primary.filter(|_| is_over);
            estate.replace(owner, heir.map_or(Owner::Absent, Owner::Of));
        }
    }
}
