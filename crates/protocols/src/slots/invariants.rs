//! What must be true in every state, of all members together.
//!
//! Members are told things one by one, so at any moment each may be anywhere in what waits for it.
//! A lazy engine leaves these moments out; so each member is judged as it is, and as it will be
//! after each of the events that it will be told if nothing else happens. Every two such states of
//! two members are states that they can be in at the same time.

use super::estate::{Estate, Stage};
use super::message::Message;
use super::pool::Pool;
use super::ranges::Ranges;
use super::scheme::Scheme;
use super::table::{Owner, Table};
use super::{Slots, SlotsAlgorithm};
use crate::group::GroupEngine;
use crate::group::abstract_engine::{ORACLE, Waiting};
use std::borrow::Cow;
use std::rc::Rc;
use synod_core::group::ViewId;
use synod_core::{Invariant, ProcessId, ProcessSet, Protocol, Setup, Snapshot, step};

/// What a lazy engine relies on: see `lazy.rs` there.
const KEPT: &str = "kept";

/// Whether an invariant says anything about a pool that is set up so: only a lazy engine lets us
/// look far enough ahead to judge what is kept.
pub(super) fn is_judged(invariant: &str, setup: &Setup) -> bool {
    invariant != KEPT || setup.text("passing") == Some("lazy")
}

/// A process that has a pool of slots on some engine, by whichever rules.
pub(super) trait Pooled: Protocol {
    /// The pool and the engine.
    fn pooled(&self) -> &SlotsAlgorithm;

    /// What must be true of all such processes together.
    const INVARIANTS: &'static [Invariant<Self>] = &[
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
        Invariant {
            name: KEPT,
            statement: "nobody loses by the end of a view what it may use and has not promised to \
                        others",
            holds: kept,
        },
    ];
}

impl Pooled for SlotsAlgorithm {
    fn pooled(&self) -> &SlotsAlgorithm {
        self
    }
}

/// A member at some moment.
struct Sight {
    me: ProcessId,
    /// What it owns and has not promised away; nothing if it leaves.
    own: Ranges,
    /// What it knows, if it is settled.
    known: Option<Known>,
    /// Whether it can use what is its own, and nothing else.
    is_honest: bool,
    /// Whether it has what it might have used before, if a view has just ended.
    keeps: bool,
}

/// Every member as it is, and as it will be after each event that waits for it. One member after
/// the other.
fn sights<'a, P: Pooled>(
    snapshot: &Snapshot<'a, P>,
) -> impl Iterator<Item = &'a Sight> + use<'a, P> {
    let all: &Vec<Rc<Vec<Sight>>> = snapshot.once(|| {
        let processes = || snapshot.processes().map(P::pooled);
        let members = ProcessId::all(snapshot.size()).zip(processes());
        let oracle = processes().next().map(|first| &first.engine);
        let look = |(me, process): (ProcessId, &SlotsAlgorithm)| {
            match oracle.and_then(|oracle| oracle.to_be_told(me)) {
                None => Rc::new(vec![Sight::of(&process.service, own_slots(&process.service))]),
                // How much it has delivered makes no other state of it, but tells when it knows
                // what.
                Some(waiting) => {
                    let about = (process.service.estate.delivered.0, &waiting);
                    let look = || look_ahead(me, snapshot.size(), process, &waiting);
                    snapshot.recall(me, about, look)
                }
            }
        };
        members.map(look).collect()
    });
    all.iter().flat_map(|member| member.iter())
}

/// A member as it is, and as it will be after each event that waits for it.
fn look_ahead(
    me: ProcessId,
    n: usize,
    process: &SlotsAlgorithm,
    waiting: &[Waiting<'_, Message>],
) -> Vec<Sight> {
    let mut sights = Vec::new();
    let mut waiting = waiting.iter().peekable();
    let mut later = Cow::Borrowed(process);
    // What it might have used since it is in its view, or since it was last told something.
    let mut had = Ranges::EMPTY;
    let mut is_in_new_view = false;
    loop {
        let member = &later.service;
        let waits = member.estate.stage == Stage::Between
            && waiting.peek().is_none_or(|next| next.is_view());
        let own = if waits { kept_slots(member) } else { own_slots(member) };
        // What it promised since it is in its new view, it had when the view began.
        let still =
            if is_in_new_view { member.estate.table.of(Owner::Of(me)) } else { own.clone() };
        let keeps = !(waits || is_in_new_view) || had.intersection(&still) == had;
        if is_in_new_view {
            had = Ranges::EMPTY;
        }
        if member.estate.is_ready() {
            had.extend(&own);
        }
        sights.push(Sight { keeps, ..Sight::of(member, own) });
        let Some(event) = waiting.next() else { return sights };
        is_in_new_view = event.is_view();
        let told = GroupEngine::telling(event.to_event());
        step(me, n, |cx| later.to_mut().on_message(ORACLE, told, cx));
    }
}

impl Sight {
    fn of(member: &Slots, own: Ranges) -> Self {
        let estate = &member.estate;
        Sight {
            me: estate.me,
            own: if member.leaving { Ranges::EMPTY } else { own },
            // Whoever leaves has closed its books, and changes nobody else's.
            known: (estate.is_settled() && !member.leaving).then(|| Known::of(estate)),
            is_honest: member.leaving || pool_agrees(estate),
            keeps: true,
        }
    }
}

/// What a member owns that has delivered all that there is to be delivered between two views: what
/// it promised and has not delivered by now, nobody delivers any more.
pub(super) fn kept_slots(member: &Slots) -> Ranges {
    let mut own = member.estate.table.of(Owner::Of(member.estate.me));
    if let Scheme::Offers(offers) = &member.scheme {
        own.remove(offers.exchange().on_offer());
    }
    own
}

/// What somebody owns and has not promised away. A donation that is under way is its donor's in the
/// donor's table until the donor delivers it, but the donor cannot use it.
pub(super) fn own_slots(member: &Slots) -> Ranges {
    let mut own = member.estate.table.of(Owner::Of(member.estate.me));
    own.remove(member.estate.pool.pledged_slots());
    own
}

/// Nobody is compared with itself: what it owned before, it may have given away.
fn one_owner<P: Pooled>(snapshot: &Snapshot<'_, P>) -> bool {
    let dead = known_dead(snapshot);
    let mut others = Ranges::EMPTY;
    let mut ours = (ProcessId(0), Ranges::EMPTY);
    sights(snapshot).filter(|sight| !dead.contains(sight.me)).all(|sight| {
        if sight.me != ours.0 {
            others.extend(&ours.1);
            ours = (sight.me, Ranges::EMPTY);
        }
        ours.1.extend(&sight.own);
        !others.intersects(&sight.own)
    })
}

/// Of whoever crashed on a real engine and is known to be dead, the last state is all that is left.
/// (On the abstract engine, whoever dies has nothing.)
fn known_dead<P: Pooled>(snapshot: &Snapshot<'_, P>) -> ProcessSet {
    let real = |process: &&SlotsAlgorithm| matches!(process.engine, GroupEngine::Embedded(_));
    let processes = snapshot.processes().map(P::pooled).filter(real);
    processes.flat_map(|process| process.service.estate.dead.iter()).collect()
}

fn equal_tables<P: Pooled>(snapshot: &Snapshot<'_, P>) -> bool {
    let settled = |sight: &'_ Sight| sight.known.is_some();
    let all: Vec<&Sight> = sights(snapshot).filter(|sight| settled(sight)).collect();
    all.iter().enumerate().all(|(place, sight)| {
        let others = all[..place].iter().filter(|other| other.me != sight.me);
        others.filter_map(|other| other.known.as_ref()).all(|other| {
            sight.known.as_ref().is_none_or(|known| !known.is_when(other) || known.is_what(other))
        })
    })
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
        Known { view: *view, delivered: delivered.0, table, ready, primary: *primary }
    }

    fn is_when(&self, other: &Known) -> bool {
        (self.view, self.delivered) == (other.view, other.delivered)
    }

    fn is_what(&self, other: &Known) -> bool {
        let same = self.ready == other.ready && self.primary == other.primary;
        same && self.table == other.table
    }
}

fn pools_agree<P: Pooled>(snapshot: &Snapshot<'_, P>) -> bool {
    sights(snapshot).all(|sight| sight.is_honest)
}

fn kept<P: Pooled>(snapshot: &Snapshot<'_, P>) -> bool {
    sights(snapshot).all(|sight| sight.keeps)
}

pub(super) fn pool_agrees(estate: &Estate) -> bool {
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
