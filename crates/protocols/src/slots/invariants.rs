//! What must be true in every state, of all members together.
//!
//! Members are told things one by one, so at any moment each may be anywhere in what waits for it. A lazy
//! engine leaves these moments out; so each member is judged as it is, and as it will be
//! after each of the events that it will be told if nothing else happens. Every two such states of two members
//! are states that they can be in at the same time.

use super::estate::Estate;
use super::message::Message;
use super::pool::Pool;
use super::ranges::Ranges;
use super::table::{Owner, Table};
use super::{Slots, SlotsAlgorithm};
use crate::group::GroupEngine;
use crate::group::abstract_engine::ORACLE;
use synod_core::group::{Event, ViewId};
use synod_core::{Invariant, ProcessId, ProcessSet, Protocol, Snapshot, step};

pub(super) const INVARIANTS: &[Invariant<SlotsAlgorithm>] = &[
    Invariant {
        name: "pi1-owned",
        statement: "no slot has two owners, on whichever sides of a partition",
        holds: one_owner,
    },
    Invariant {
        name: "pi2-equal",
        statement: "members of a view that have delivered as much have the same table",
        holds: equal_tables,
    },
    Invariant {
        name: "pool",
        statement: "a member can use what is its own in its table, and nothing else",
        holds: pools_agree,
    },
];

/// Shows every member as it is, and as it will be after each event that waits for it.
fn each_state(snapshot: &Snapshot<'_, SlotsAlgorithm>, show: &mut dyn FnMut(ProcessId, &Slots)) {
    let n = snapshot.processes().len();
    for (me, process) in ProcessId::all(n).zip(snapshot.processes()) {
        show(me, &process.service);
        let waiting = waiting(snapshot, me);
        if waiting.is_empty() {
            continue;
        }
        let mut later = process.clone();
        for event in waiting {
            let told = GroupEngine::telling(event);
            step(me, n, |cx| later.on_message(ORACLE, told, cx));
            show(me, &later.service);
        }
    }
}

/// What a member will be told if nothing else happens.
fn waiting(snapshot: &Snapshot<'_, SlotsAlgorithm>, me: ProcessId) -> Vec<Event<Message>> {
    let first = snapshot.processes().next();
    first.map_or_else(Vec::new, |first| first.engine.to_be_told(me))
}

/// What somebody owns and has not promised away. A donation that is under way is its donor's in the
/// donor's table until the donor delivers it, but the donor cannot use it.
fn own_slots(member: &Slots) -> Ranges {
    let mut own = member.estate.table.of(Owner::Of(member.estate.me));
    own.remove(member.estate.pool.pledged_slots());
    own
}

/// Nobody is compared with itself: what it owned before, it may have given away.
fn one_owner(snapshot: &Snapshot<'_, SlotsAlgorithm>) -> bool {
    let dead = known_dead(snapshot);
    let mut owned: Vec<(ProcessId, Ranges)> = Vec::new();
    each_state(snapshot, &mut |me, member| {
        if member.leaving || dead.contains(me) {
            return;
        }
        let own = own_slots(member);
        match owned.last_mut() {
            Some((last, slots)) if *last == me => slots.extend(&own),
            _ => owned.push((me, own)),
        }
    });
    let mut all = Ranges::EMPTY;
    owned.iter().all(|(_, own)| {
        let free = !all.intersects(own);
        all.extend(own);
        free
    })
}

/// Of whoever crashed on a real engine and is known to be dead, the last state is all that is left. (On the
/// abstract engine, whoever dies has nothing.)
fn known_dead(snapshot: &Snapshot<'_, SlotsAlgorithm>) -> ProcessSet {
    let real = |process: &&SlotsAlgorithm| matches!(process.engine, GroupEngine::Embedded(_));
    let processes = snapshot.processes().filter(real);
    processes.flat_map(|process| process.service.estate.dead.iter()).collect()
}

fn equal_tables(snapshot: &Snapshot<'_, SlotsAlgorithm>) -> bool {
    let mut known: Vec<(ProcessId, Known)> = Vec::new();
    let mut equal = true;
    each_state(snapshot, &mut |me, member| {
        let estate = &member.estate;
        if estate.is_settled() {
            let is_other =
                |(other, then): &&(ProcessId, Known)| *other != me && then.is_when(estate);
            equal &= known.iter().filter(is_other).all(|(_, then)| then.is_what(estate));
            known.push((me, Known::of(estate)));
        }
    });
    equal
}

/// What a settled member knows, and when.
struct Known {
    view: Option<ViewId>,
    delivered: u64,
    table: Table,
    ready: ProcessSet,
    primary: Option<ProcessId>,
}

impl Known {
    fn of(estate: &Estate) -> Self {
        let Estate { view, delivered, table, ready, primary, .. } = estate;
        let (table, ready) = (table.clone(), ready.clone());
        Known { view: *view, delivered: *delivered, table, ready, primary: *primary }
    }

    fn is_when(&self, estate: &Estate) -> bool {
        (self.view, self.delivered) == (estate.view, estate.delivered)
    }

    fn is_what(&self, estate: &Estate) -> bool {
        let same = self.ready == estate.ready && self.primary == estate.primary;
        same && self.table == estate.table
    }
}

fn pools_agree(snapshot: &Snapshot<'_, SlotsAlgorithm>) -> bool {
    let mut agree = true;
    each_state(snapshot, &mut |_, member| agree &= member.leaving || pool_agrees(&member.estate));
    agree
}

fn pool_agrees(estate: &Estate) -> bool {
    let mut owned = estate.table.of(Owner::Of(estate.me));
    for (who, reserved) in &estate.settings.reserved {
        if *who != estate.me {
            owned.remove(reserved);
        }
    }
    let mut usable = estate.pool.slots();
    usable.extend(&estate.private.as_ref().map_or(Ranges::EMPTY, Pool::slots));
    usable == owned
}
