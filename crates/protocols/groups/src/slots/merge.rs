//! Parts of a group come together (step 6 of the argument in the [module header](super)).
//!
//! One member of each part multicasts what its part owns. No member changes its table until all
//! parts have spoken. If the view ends before that, the merge leaves no trace, and begins again in
//! the next view. No member has to know the parts beforehand: each member belongs to one part, so
//! all parts have spoken when every member of the view is spoken for. This holds even after an
//! interrupted merge, when the engine sees one part where SLOTS still has several.

use super::Slots;
use super::message::Status;
use super::published;
use super::ranges::{Range, Ranges};
use super::state::ViewStage;
use super::table::{Owner, Table};
use serde::{Deserialize, Serialize};
use synod_core::family::slots::Output;
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet};

/// What the parts have said so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Merging {
    /// The members of the view.
    here: ProcessSet,
    /// The members for which no status has spoken yet.
    missing: ProcessSet,
    /// The new members, which belong to no part.
    fresh: ProcessSet,
    statuses: Vec<Status>,
}

impl Merging {
    pub(super) fn new(here: &ProcessSet, fresh: ProcessSet) -> Self {
        let missing = here.iter().filter(|node| !fresh.contains(*node)).collect();
        Merging { here: here.clone(), missing, fresh, statuses: Vec::new() }
    }

    /// Whether a status is plausible: it speaks for its sender, and for no initialised member for
    /// which another status spoke. Two statuses may speak for the same waiting member: its own,
    /// because a waiting member does not know which primary counts it in.
    fn admits(&self, from: ProcessId, status: &Status) -> bool {
        let members = status.members();
        let owns = |(owner, _): (Owner, u32)| match owner {
            Owner::Of(member) => members.contains(member),
            Owner::Absent | Owner::Frozen => true,
        };
        let spoken = |member| self.statuses.iter().any(|other| other.ready.contains(member));
        members.contains(from)
            && members.iter().all(|member| self.here.contains(member))
            && !status.ready.iter().any(spoken)
            && status.table.counts().all(owns)
    }
}

impl Slots {
    /// The status of this part: its members, and their slots.
    pub(super) fn own_status(&self) -> Box<Status> {
        let mut status = self.state.status(&self.new);
        if !self.state.settings.rules.make_slots_of_others_absent() {
            published::leave_out_others(&mut status);
        }
        status
    }

    pub(super) fn on_merge_status(
        &mut self,
        from: ProcessId,
        status: Status,
        session: &mut Session<'_, Slots>,
    ) {
        let size = self.state.settings.slots;
        let Some(merging) = &mut self.merging else { return };
        if self.state.stage != ViewStage::Unsettled
            || status.table.size() != size
            || !merging.admits(from, &status)
        {
            return;
        }
        for member in status.members().iter() {
            merging.missing.remove(member);
        }
        merging.statuses.push(status);
        if merging.missing.is_empty() {
            self.commit(session);
        }
    }

    /// All parts have spoken: every member unites their tables in the same way.
    fn commit(&mut self, session: &mut Session<'_, Slots>) {
        let Some(Merging { fresh, statuses, .. }) = self.merging.take() else { return };
        let state = &mut self.state;
        let me = Owner::Of(state.me);
        let mine = state.table.of(me);
        let (table, twice) = match state.settings.rules.make_unclaimed_slots_absent() {
            true => united(state.settings.slots, &statuses),
            false => (published::overwritten(state.table.clone(), &statuses), Ranges::EMPTY),
        };
        twice.slots().for_each(|slot| session.notify(Output::Alarm(slot)));
        state.table = table;
        let mut lost = mine.clone();
        lost.remove(&state.table.of(me));
        state.part_with(&lost);
        let mut gained = state.table.of(me);
        gained.remove(&mine);
        state.receive(&gained);

        state.ready = statuses.iter().flat_map(|status| status.ready.iter()).collect();
        state.waiting = statuses.iter().flat_map(|status| status.waiting.iter()).collect();
        state.waiting.extend(fresh.iter());
        state.waiting = state.waiting.iter().filter(|p| !state.ready.contains(*p)).collect();
        state.primary = state.ready.first();
        state.dead = dead(&statuses);
        self.new = statuses.iter().flat_map(|status| status.new.iter()).collect();
        self.initialise_next_or_settle(session);
    }
}

/// The nodes that all parts account for. One part's knowledge does not cover the nodes that another
/// part met.
fn dead(statuses: &[Status]) -> ProcessSet {
    let mut parts = statuses.iter().filter(|status| !status.ready.is_empty());
    let Some(first) = parts.next() else { return ProcessSet::EMPTY };
    let rest: Vec<_> = parts.collect();
    first.dead.iter().filter(|node| rest.iter().all(|part| part.dead.contains(*node))).collect()
}

/// Unites the tables of all parts. A slot is frozen, and an alarm raised, if two parts name
/// different owners. Two parts that speak for the same waiting member name the same owner: no
/// conflict.
fn united(size: u32, statuses: &[Status]) -> (Table, Ranges) {
    let (mut claimed, mut twice, mut frozen) = (Ranges::EMPTY, Ranges::EMPTY, Ranges::EMPTY);
    let mut table = Table::absent(size);
    for status in statuses {
        for (range, owner) in claims(status) {
            let these = Ranges::from_iter([range]);
            let mut others = claimed.intersection(&these);
            others.remove(&table.of(owner));
            twice.extend(&others);
            claimed.extend(&these);
            table.give_range(range, owner);
        }
        frozen.extend(&status.table.of(Owner::Frozen));
    }
    frozen.extend(&twice);
    table.give(&frozen, Owner::Frozen);
    (table, twice)
}

/// The slots that the members of a part own.
pub(super) fn claims(status: &Status) -> impl Iterator<Item = (Range, Owner)> + '_ {
    status.table.runs().filter(|(_, owner)| matches!(owner, Owner::Of(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::family::slots::SlotId;

    fn set(nodes: &[u32]) -> ProcessSet {
        nodes.iter().copied().map(ProcessId).collect()
    }

    fn slots(slots: &[u32]) -> Ranges {
        slots.iter().copied().map(SlotId).collect()
    }

    /// A part of ready and waiting members, with their slots; it accounts for the `dead`.
    fn part(ready: &[u32], waiting: &[u32], owned: &[(u32, &[u32])], dead: &[u32]) -> Status {
        let mut table = Table::absent(8);
        for (owner, owned) in owned {
            table.give(&slots(owned), Owner::Of(ProcessId(*owner)));
        }
        Status {
            table,
            ready: set(ready),
            waiting: set(waiting),
            primary: ready.first().copied().map(ProcessId),
            dead: set(dead),
            new: ProcessSet::EMPTY,
        }
    }

    #[test]
    fn a_node_is_dead_for_all_if_each_part_accounts_for_it() {
        let one = part(&[0], &[], &[], &[3, 4]);
        let other = part(&[1], &[], &[], &[4, 5]);
        assert_eq!(dead(&[one.clone(), other.clone()]), set(&[4]));
        assert_eq!(dead(&[other, one.clone()]), set(&[4]));
        assert_eq!(dead(std::slice::from_ref(&one)), set(&[3, 4]));
        // A part in which all wait for a status owns nothing, and knows nothing of anyone.
        let waiting = part(&[], &[2], &[], &[]);
        assert_eq!(dead(&[waiting.clone(), one]), set(&[3, 4]));
        assert_eq!(dead(&[waiting]), ProcessSet::EMPTY);
    }

    #[test]
    fn a_slot_that_two_parts_claim_is_frozen_and_an_alarm() {
        let one = part(&[0], &[], &[(0, &[0, 1, 2])], &[]);
        let other = part(&[1], &[], &[(1, &[2, 3])], &[]);
        for statuses in [[one.clone(), other.clone()], [other, one]] {
            let (table, twice) = united(8, &statuses);
            assert_eq!(twice, slots(&[2]));
            assert_eq!(table.of(Owner::Frozen), slots(&[2]));
            assert_eq!(table.of(Owner::Of(ProcessId(0))), slots(&[0, 1]));
            assert_eq!(table.of(Owner::Of(ProcessId(1))), slots(&[3]));
            assert_eq!(table.of(Owner::Absent), slots(&[4, 5, 6, 7]));
        }
    }

    #[test]
    fn two_parts_that_name_the_same_owner_do_not_contradict_each_other() {
        let one = part(&[0], &[2], &[(0, &[0]), (2, &[1])], &[]);
        let other = part(&[1], &[2], &[(1, &[3]), (2, &[1])], &[]);
        let (table, twice) = united(8, &[one, other]);
        assert_eq!((twice, table.of(Owner::Frozen)), (Ranges::EMPTY, Ranges::EMPTY));
        assert_eq!(table.of(Owner::Of(ProcessId(2))), slots(&[1]));
    }

    #[test]
    fn a_slot_that_one_part_has_frozen_stays_so() {
        let mut one = part(&[0], &[], &[(0, &[0])], &[]);
        one.table.give(&slots(&[5]), Owner::Frozen);
        let other = part(&[1], &[], &[(1, &[5])], &[]);
        for statuses in [[one.clone(), other.clone()], [other, one]] {
            assert_eq!(united(8, &statuses).0.of(Owner::Frozen), slots(&[5]));
        }
    }

    #[test]
    fn a_status_speaks_for_its_sender_and_for_none_that_has_been_spoken_for() {
        let mut merging = Merging::new(&set(&[0, 1, 2, 3]), ProcessSet::EMPTY);
        let one = part(&[0, 1], &[3], &[(0, &[0])], &[]);
        assert!(merging.admits(ProcessId(0), &one) && !merging.admits(ProcessId(2), &one));
        merging.statuses.push(one);
        assert!(!merging.admits(ProcessId(1), &part(&[1, 2], &[], &[], &[])), "1 is spoken for");
        assert!(merging.admits(ProcessId(2), &part(&[2], &[3], &[], &[])), "3 waits");
        assert!(!merging.admits(ProcessId(2), &part(&[2], &[4], &[], &[])), "4 is not here");
        assert!(!merging.admits(ProcessId(2), &part(&[2], &[], &[(3, &[1])], &[])), "3's slot");
    }
}
