//! Invariants: true in every state, of all members together.
//!
//! As in the invariants of [`slots`](crate::slots), each member is judged in its present state and
//! in the state after each event that waits for it, because a lazy engine leaves these moments out.

use super::mutants::Variant;
use super::{Line, Message, Stage, Switchboard};
use crate::group::GroupEngine;
use crate::group::abstract_engine::{ORACLE, Waiting};
use crate::slots::ranges::Ranges;
use crate::slots::state::ViewStage;
use crate::slots::table::Owner;
use crate::slots::{Slots, kept_slots, own_slots};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use synod_core::family::services::Tag;
use synod_core::group::{Served, ViewId};
use synod_core::{Invariant, ProcessId, Protocol, Setup, Snapshot, step};

/// No slot has two owners.
pub(super) const OWNED: &str = "pi1-owned";
/// The invariant on which the lazy engine relies; see the header of `abstract_engine/lazy.rs`.
const KEPT: &str = "kept";

/// One node.
pub(super) type Node<V> = Served<Switchboard<V>, GroupEngine<Message>>;

/// Whether an invariant applies to a setup. On a real engine the last state of a crashed process
/// remains in the world, and owns nothing. Only with a lazy engine does this module look far enough
/// ahead to judge `kept`.
pub(super) fn is_judged(invariant: &str, setup: &Setup) -> bool {
    let is = |parameter, value| setup.text(parameter) == Some(value);
    is("engine", "abstract") && (invariant != KEPT || is("passing", "lazy"))
}

impl<V: Variant> Switchboard<V> {
    pub(super) const INVARIANTS: &'static [Invariant<Node<V>>] = &[
        Invariant {
            name: OWNED,
            statement: "no slot of a pool has two owners, on whichever sides of a partition",
            holds: one_owner::<V>,
        },
        Invariant {
            name: "frozen",
            statement: "no slot is claimed by two parts of the group that come together",
            holds: none_frozen::<V>,
        },
        Invariant {
            name: KEPT,
            statement: "the end of a view takes no slot from a member that may use it and has not \
                        promised it to others",
            holds: kept::<V>,
        },
    ];
}

/// A pool of a member at one moment.
struct Sight {
    me: ProcessId,
    tag: Tag,
    /// The slots that the member owns and has not promised, or may use.
    own: Ranges,
    has_frozen: bool,
    /// Whether it still has the slots that it could use before, if a view has just ended.
    keeps: bool,
}

/// Every pool of every member in its present state, and after each event that waits for the member.
fn sights<'a, V: Variant>(
    snapshot: &Snapshot<'a, Node<V>>,
) -> impl Iterator<Item = &'a Sight> + use<'a, V> {
    let all: &Vec<Rc<Vec<Sight>>> = snapshot.once(|| {
        let members = || ProcessId::all(snapshot.size()).zip(snapshot.processes());
        let oracle = members().next().map(|(_, first)| &first.engine);
        let look = |(me, node): (ProcessId, &Node<V>)| {
            let waiting = oracle.and_then(|oracle| oracle.waiting_for(me)).unwrap_or_default();
            snapshot.recall(me, &waiting, || look_ahead(me, snapshot.size(), node, &waiting))
        };
        members().map(look).collect()
    });
    all.iter().flat_map(|member| member.iter())
}

/// A member in its present state, and after each event that waits for it.
fn look_ahead<V: Variant>(
    me: ProcessId,
    n: usize,
    node: &Node<V>,
    waiting: &[Waiting<'_, Message>],
) -> Vec<Sight> {
    let (mut sights, mut before) = (Vec::new(), BTreeMap::new());
    let mut waiting = waiting.iter().peekable();
    let mut later = Cow::Borrowed(node);
    loop {
        let board = &later.service;
        let is_between = matches!(board.stage, Stage::Between(_));
        let ends = !is_between || waiting.peek().is_none_or(|next| next.is_view());
        for (tag, line) in &board.lines {
            sights.push(look(me, *tag, line, ends, before.entry(*tag).or_default()));
        }
        let Some(event) = waiting.next() else { return sights };
        let message = GroupEngine::passing_on(event.to_event());
        step(me, n, |cx| later.to_mut().on_message(ORACLE, message, cx));
    }
}

/// What a member could use before, since its view began.
#[derive(Default)]
struct Before {
    view: Option<ViewId>,
    had: Ranges,
}

/// A pool at one moment. `ends` tells whether the pool has delivered all that it delivers before
/// its next view, if its last view is over.
fn look(me: ProcessId, tag: Tag, line: &Line, ends: bool, before: &mut Before) -> Sight {
    let pool: &Slots = line.pool();
    let state = pool.state();
    let waits = ends && state.stage == ViewStage::Between;
    let mut own = if waits { kept_slots(pool) } else { own_slots(pool) };
    let is_in_new_view = state.view != before.view;
    // Slots that it promised since its new view began count as its own at that beginning.
    let still = if is_in_new_view { state.table.of(Owner::Of(me)) } else { own.clone() };
    let is_new = before.view.is_none() || state.view.is_none();
    let keeps =
        is_new || !(waits || is_in_new_view) || before.had.intersection(&still) == before.had;
    if is_in_new_view {
        *before = Before { view: state.view, had: Ranges::EMPTY };
    }
    if state.is_ready() {
        before.had.extend(&own);
    }
    own.extend(&usable(pool));
    let own = if line.has_left() { Ranges::EMPTY } else { own };
    Sight { me, tag, own, has_frozen: state.table.count(Owner::Frozen) > 0, keeps }
}

/// The slots that the application of a member uses, or may claim.
fn usable(pool: &Slots) -> Ranges {
    let mut usable = pool.state().pool.slots();
    usable.remove(pool.state().pool.pledged_slots());
    usable
}

fn one_owner<V: Variant>(snapshot: &Snapshot<'_, Node<V>>) -> bool {
    two_owners(snapshot).is_none()
}

/// `slot s1 of #0 has two owners: p1 and p2`.
fn two_owners<V: Variant>(snapshot: &Snapshot<'_, Node<V>>) -> Option<String> {
    let mut owners: BTreeMap<(Tag, ProcessId), Ranges> = BTreeMap::new();
    for Sight { me, tag, own, .. } in sights(snapshot) {
        owners.entry((*tag, *me)).or_default().extend(own);
    }
    let mut pairs = owners.iter().flat_map(|one| owners.iter().map(move |other| (one, other)));
    pairs.find_map(|(((tag, one), own), ((other_tag, other), others))| {
        let both = own.intersection(others);
        let slot = both.slots().next().filter(|_| tag == other_tag && one < other)?;
        Some(format!("slot {slot} of {tag} has two owners: {one} and {other}"))
    })
}

/// What breaks an invariant, in words.
pub(super) fn culprit<V: Variant>(
    invariant: &str,
    snapshot: &Snapshot<'_, Node<V>>,
) -> Option<String> {
    (invariant == OWNED).then(|| two_owners(snapshot)).flatten()
}

fn none_frozen<V: Variant>(snapshot: &Snapshot<'_, Node<V>>) -> bool {
    sights(snapshot).all(|sight| !sight.has_frozen)
}

fn kept<V: Variant>(snapshot: &Snapshot<'_, Node<V>>) -> bool {
    sights(snapshot).all(|sight| sight.keeps)
}
