//! The founder of a pool.
//!
//! Absent slots return only when every node is accounted for. So a pool that is created while a
//! node cannot be reached would have no slots until that node is back. Therefore the registry's
//! record of a pool may name a *founder*: one member, that is, a node in one life. The founder owns
//! all slots at first. It enters its first view of the pool as a part of its own that knows already
//! who owns what; the others are new members that join it, and slots spread to them by the usual
//! rules.
//!
//! # Why no slot has two owners
//! The steps are those of the argument of [`slots`](crate::slots).
//! 1. Besides the founder, a slot gets its first owner only when absent slots are given out: when
//!    every node is accounted for (step 7), or by an operator.
//! 2. The name of the founder is a part of the definition, so each member that knows the pool knows
//!    its founder. If the founder's life is in a view, and has not had the pool before, then all
//!    members count it as a part of its own, and no absent slot returns before that part has said
//!    what it owns. This holds although the founder itself may not have heard of the pool yet, or
//!    leaves the view before it hears of it: the others wait for its status in vain.
//! 3. So absent slots return only after the founder's life has said what it owns, or when that life
//!    is over. Then the slots that it gave away are with other nodes, which must be accounted for,
//!    too.
//! 4. A life founds a pool once: when it enters a view of the pool for the first time. The next
//!    life of the node is another member, and founds nothing.
//!
//! - Assumes: the registry names a life that runs when it makes the record, so that no earlier life
//!   of that node knows the pool.

use super::mutants::Variant;
use synod_core::ProcessId;
use synod_core::family::services::Definition;
use synod_core::group::{Member, View};

/// The founder of a service, if it is in this view in the life that the registry named.
pub(super) fn founder<V: Variant>(view: &View, what: Definition) -> Option<ProcessId> {
    let Member { node, incarnation } = what.founder()?;
    let here = view.member(node)?;
    V::is_life_of_founder(here.incarnation, incarnation).then_some(node)
}
