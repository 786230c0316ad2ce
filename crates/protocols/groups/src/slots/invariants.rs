//! Invariants: true in every state, of all members together.
//!
//! The engine hands its events to the members one by one, so each member may be at any point of its
//! queue of events. A lazy engine leaves these moments out. So this module judges each member in
//! its present state, and in the state after each event that waits for it. Any two such states of
//! two members can occur at the same time.

use super::message::Message;
use super::pool::Pool;
use super::ranges::Ranges;
use super::scheme::Scheme;
use super::state::{MemberState, ViewStage};
use super::table::{Owner, Table};
use super::{Slots, SlotsAlgorithm, waiting};
use crate::group::GroupEngine;
use crate::group::abstract_engine::{ORACLE, Waiting};
use std::borrow::Cow;
use std::rc::Rc;
use synod_core::family::slots::SlotId;
use synod_core::group::ViewId;
use synod_core::{Invariant, ProcessId, ProcessSet, Protocol, Setup, Snapshot, step};

/// No slot has two owners.
const OWNED: &str = "pi1-owned";
/// The invariant on which the lazy engine relies; see the header of `abstract_engine/lazy.rs`.
const KEPT: &str = "kept";

/// Whether an invariant applies to a setup. Only with a lazy engine does this module look far
/// enough ahead to judge `kept`.
pub(super) fn is_judged(invariant: &str, setup: &Setup) -> bool {
    invariant != KEPT || setup.text("passing") == Some("lazy")
}

/// A process with a pool of slots on an engine, by any rule set.
pub(super) trait Pooled: Protocol {
    /// The pool and the engine.
    fn pooled(&self) -> &SlotsAlgorithm;

    /// The invariants of all such processes together. Comments refer to the steps of the argument
    /// in the header of the module [`slots`](super).
    const INVARIANTS: &'static [Invariant<Self>] = &[
        // The conclusion of the argument, steps 1 to 7.
        Invariant {
            name: OWNED,
            statement: "no slot has two owners, on whichever sides of a partition",
            holds: one_owner,
        },
        // Step 3; step 6 makes the tables equal at first.
        Invariant {
            name: "pi2-equal",
            statement: "members of a view that have delivered as much have the same table",
            holds: equal_tables,
        },
        // Step 1.
        Invariant {
            name: "pool",
            statement: "a member's pool has exactly the slots that its table calls its own",
            holds: pools_agree,
        },
        // No starvation, with `offers`: answers to a request of the other schemes need no surplus.
        Invariant {
            name: "pi5",
            statement: "while a member that asked again in vain waits, no member that has heard of it \
                        keeps a free slot that it does not need, unless its own multicast is under way; \
                        and while a claim waits, its member has no slot for it, and has asked for one",
            holds: no_starvation,
        },
        // Step 4, from the other side: a part keeps all that its own members may use.
        Invariant {
            name: KEPT,
            statement: "the end of a view takes no slot from a member that may use it and has not \
                        promised it to others",
            holds: kept,
        },
    ];
}

impl Pooled for SlotsAlgorithm {
    fn pooled(&self) -> &SlotsAlgorithm {
        self
    }
}

/// A member at one moment.
struct Sight {
    me: ProcessId,
    /// The slots that it owns and has not promised; none if it leaves.
    own: Ranges,
    /// Its knowledge, if it is settled.
    known: Option<Known>,
    /// Whether its pool has exactly its own slots.
    is_honest: bool,
    /// Whether it lets go of the slots that it does not need, if another member is in need.
    lets_go: bool,
    /// Whether it still has the slots that it could use before, if a view has just ended.
    keeps: bool,
}

/// Every member in its present state, and after each event that waits for it. The states of one
/// member follow each other.
fn sights<'a, P: Pooled>(
    snapshot: &Snapshot<'a, P>,
) -> impl Iterator<Item = &'a Sight> + use<'a, P> {
    let all: &Vec<Rc<Vec<Sight>>> = snapshot.once(|| {
        let processes = || snapshot.processes().map(P::pooled);
        let members = ProcessId::all(snapshot.size()).zip(processes());
        let oracle = processes().next().map(|first| &first.engine);
        let look = |(me, process): (ProcessId, &SlotsAlgorithm)| {
            // The number of deliveries is no part of a member's state, but the judgement depends on
            // it, so it is part of the key.
            let delivered = process.service.state.delivered.0;
            match oracle.and_then(|oracle| oracle.waiting_for(me)) {
                None => snapshot.recall(me, delivered, || {
                    vec![Sight::of(&process.service, own_slots(&process.service))]
                }),
                Some(waiting) => {
                    let look = || look_ahead(me, snapshot.size(), process, &waiting);
                    snapshot.recall(me, (delivered, &waiting), look)
                }
            }
        };
        members.map(look).collect()
    });
    all.iter().flat_map(|member| member.iter())
}

/// A member in its present state, and after each event that waits for it.
fn look_ahead(
    me: ProcessId,
    n: usize,
    process: &SlotsAlgorithm,
    waiting: &[Waiting<'_, Message>],
) -> Vec<Sight> {
    let mut sights = Vec::new();
    let mut waiting = waiting.iter().peekable();
    let mut later = Cow::Borrowed(process);
    // The slots that it could use since its view began, or since its last event.
    let mut had = Ranges::EMPTY;
    let mut is_in_new_view = false;
    loop {
        let member = &later.service;
        let waits = member.state.stage == ViewStage::Between
            && waiting.peek().is_none_or(|next| next.is_view());
        let own = if waits { kept_slots(member) } else { own_slots(member) };
        // Slots that it promised since its new view began count as its own at that beginning.
        let still = if is_in_new_view { member.state.table.of(Owner::Of(me)) } else { own.clone() };
        let keeps = !(waits || is_in_new_view) || had.intersection(&still) == had;
        if is_in_new_view {
            had = Ranges::EMPTY;
        }
        if member.state.is_ready() {
            had.extend(&own);
        }
        sights.push(Sight { keeps, ..Sight::of(member, own) });
        let Some(event) = waiting.next() else { return sights };
        is_in_new_view = event.is_view();
        let message = GroupEngine::passing_on(event.to_event());
        step(me, n, |cx| later.to_mut().on_message(ORACLE, message, cx));
    }
}

impl Sight {
    fn of(member: &Slots, own: Ranges) -> Self {
        let state = &member.state;
        Sight {
            me: state.me,
            own: if member.leaving { Ranges::EMPTY } else { own },
            // A leaving member has given up its slots, and its table no longer matters.
            known: (state.is_settled() && !member.leaving).then(|| Known::of(state)),
            is_honest: member.leaving || pool_agrees(state),
            lets_go: match &member.scheme {
                Scheme::Offers(offers) => offers.lets_go(state),
                Scheme::Donation(_) | Scheme::Published(_) => true,
            },
            keeps: true,
        }
    }
}

/// The slots of a member that has delivered all messages before its next view. No member will
/// deliver its undelivered promises, so these slots are its own again.
pub(crate) fn kept_slots(member: &Slots) -> Ranges {
    let mut own = member.state.table.of(Owner::Of(member.state.me));
    if let Scheme::Offers(offers) = &member.scheme {
        own.remove(offers.exchange().on_offer());
    }
    own
}

/// The slots that a member owns and has not promised. Until the donor delivers its own donation,
/// the donor's table still names the donor as the owner, but the donor cannot use the slots.
pub(crate) fn own_slots(member: &Slots) -> Ranges {
    let mut own = member.state.table.of(Owner::Of(member.state.me));
    own.remove(member.state.pool.pledged_slots());
    own
}

/// A member is not compared with itself: between two of its states it may give slots away.
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

/// What breaks an invariant, in words.
pub(super) fn culprit<P: Pooled>(invariant: &str, snapshot: &Snapshot<'_, P>) -> Option<String> {
    (invariant == OWNED).then(|| two_owners(snapshot)).flatten()
}

/// `slot s1 has two owners: p1 and p2`.
fn two_owners<P: Pooled>(snapshot: &Snapshot<'_, P>) -> Option<String> {
    let dead = known_dead(snapshot);
    let alive: Vec<&Sight> = sights(snapshot).filter(|sight| !dead.contains(sight.me)).collect();
    let shared = |(place, sight): (usize, &&Sight)| {
        let others = alive[..place].iter().filter(|other| other.me != sight.me);
        let mut with = others.map(|other| (other.me, sight.own.intersection(&other.own)));
        with.find_map(|(other, both)| Some((SlotId(both.iter().next()?.first), other, sight.me)))
    };
    let (slot, one, other) = alive.iter().enumerate().find_map(shared)?;
    Some(format!("slot {slot} has two owners: {one} and {other}"))
}

/// Nodes that are known to be dead. On a real engine, the last state of a crashed process remains
/// in the world, but owns no slot. On the abstract engine, a dead member is empty.
fn known_dead<P: Pooled>(snapshot: &Snapshot<'_, P>) -> ProcessSet {
    let real = |process: &&SlotsAlgorithm| matches!(process.engine, GroupEngine::Embedded(_));
    let processes = snapshot.processes().map(P::pooled).filter(real);
    processes.flat_map(|process| process.service.state.dead.iter()).collect()
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

/// The knowledge of a settled member, and its moment.
struct Known {
    view: Option<ViewId>,
    delivered: u64,
    table: Table,
    ready: ProcessSet,
    primary: Option<ProcessId>,
}

impl Known {
    fn of(state: &MemberState) -> Self {
        let MemberState { view, delivered, table, ready, primary, .. } = state;
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

fn no_starvation<P: Pooled>(snapshot: &Snapshot<'_, P>) -> bool {
    let negligent = |process: &SlotsAlgorithm| waiting::is_negligent(&process.service);
    sights(snapshot).all(|sight| sight.lets_go)
        && !snapshot.processes().map(P::pooled).any(negligent)
}

pub(super) fn pool_agrees(state: &MemberState) -> bool {
    let mut owned = state.table.of(Owner::Of(state.me));
    for (who, reserved) in &state.settings.reserved {
        if *who != state.me {
            owned.remove(reserved);
        }
    }
    let mut usable = state.pool.slots();
    usable.extend(&state.private.as_ref().map_or(Ranges::EMPTY, Pool::slots));
    usable == owned
}
