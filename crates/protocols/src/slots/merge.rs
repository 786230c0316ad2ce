//! Parts of a group come together (step 6 of the argument in the [module header](super)).
//!
//! One member of each part multicasts what its part owns. No member changes its table until all
//! parts have spoken. If the view ends before that, the merge leaves no trace, and begins again in
//! the next view. No member has to know the parts beforehand: each member belongs to one part, so
//! all parts have spoken when every member of the view is spoken for. This holds even after an
//! interrupted merge, when the engine sees one part where SLOTS still has several.

use super::Slots;
use super::estate::Stage;
use super::message::Status;
use super::ranges::{Range, Ranges};
use super::settings::Rules;
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
        let mut status = self.estate.status(&self.new);
        if self.estate.settings.rules == Rules::Paper {
            // Elsewhere the table knows of nobody else anyway.
            let others = |(owner, _)| match owner {
                Owner::Of(member) if status.ready.contains(member) => None,
                other => Some(other),
            };
            let others: Vec<Owner> = self.estate.table.counts().filter_map(others).collect();
            for owner in others {
                status.table.replace(owner, Owner::Absent);
            }
        }
        status
    }

    pub(super) fn on_merge_status(
        &mut self,
        from: ProcessId,
        status: Status,
        session: &mut Session<'_, Slots>,
    ) {
        let size = self.estate.settings.slots;
        let Some(merging) = &mut self.merging else { return };
        if self.estate.stage != Stage::Unsettled
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
        let estate = &mut self.estate;
        let me = Owner::Of(estate.me);
        let mine = estate.table.of(me);
        let (table, twice) = match estate.settings.rules {
            // What nobody claims keeps the owner that we remember: hazard H6.
            Rules::Paper => (over(estate.table.clone(), &statuses), Ranges::EMPTY),
            Rules::Repaired | Rules::Offers => united(estate.settings.slots, &statuses),
        };
        twice.slots().for_each(|slot| session.tell(Output::Alarm(slot)));
        estate.table = table;
        let mut lost = mine.clone();
        lost.remove(&estate.table.of(me));
        estate.part_with(&lost);
        let mut gained = estate.table.of(me);
        gained.remove(&mine);
        estate.receive(&gained);

        estate.ready = statuses.iter().flat_map(|status| status.ready.iter()).collect();
        estate.waiting = statuses.iter().flat_map(|status| status.waiting.iter()).collect();
        estate.waiting.extend(fresh.iter());
        estate.waiting = estate.waiting.iter().filter(|p| !estate.ready.contains(*p)).collect();
        estate.primary = estate.ready.first();
        estate.dead = dead(&statuses);
        self.new = statuses.iter().flat_map(|status| status.new.iter()).collect();
        self.carry_on(session);
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

/// Writes the claims of all parts over a table.
fn over(mut table: Table, statuses: &[Status]) -> Table {
    for (range, owner) in statuses.iter().flat_map(claims) {
        table.give_range(range, owner);
    }
    table
}

fn claims(status: &Status) -> impl Iterator<Item = (Range, Owner)> + '_ {
    status.table.runs().filter(|(_, owner)| matches!(owner, Owner::Of(_)))
}
