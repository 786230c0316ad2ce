//! Pools, explored one view at a time; see [`synod_core::group::ViewByView`].

use super::Slots;
use super::invariants::{kept_slots, own_slots, pool_agrees};
use super::ranges::Ranges;
use super::table::Owner;
use super::view_change::ViewChange;
use std::collections::VecDeque;
use synod_core::group::{Capabilities, Member, Session, View, ViewByView, ViewId};

/// Slots as bits. An explored pool is small.
fn bits(slots: &Ranges) -> u64 {
    assert!(slots.end() <= u64::BITS, "an explored pool has at most 64 slots");
    slots.slots().fold(0, |bits, slot| bits | 1 << slot.0)
}

impl ViewByView for Slots {
    fn rename(&mut self, view: ViewId, life: &dyn Fn(Member) -> Member) {
        self.state.view = self.state.view.map(|_| view);
        self.state.members.iter_mut().for_each(|member| *member = life(*member));
        // Invariants compare this number inside one view only, and no rule reads it.
        self.state.delivered.0 = 0;
        // Reports only decide how a claim is refused, and no member claims here.
        self.state.reported_free.0.fill(None);
    }

    /// The first half of every view change depends only on which members left the last view
    /// together.
    fn leave_behind(&mut self, alone: &View) {
        let mut told = VecDeque::new();
        let can = Capabilities {
            safe: false,
            partitionable: true,
            came_with: true,
            longest_message: usize::MAX,
        };
        let change = ViewChange::new(&self.state, alone);
        self.close_view(&change, &mut Session::new(self.state.me, can, 0, &mut told));
        self.state.members.clone_from(&alone.members);
    }

    fn holds(&self) -> u64 {
        bits(&own_slots(self))
    }

    fn owns(&self) -> u64 {
        bits(&self.state.table.of(Owner::Of(self.state.me)))
    }

    fn keeps(&self) -> u64 {
        bits(&kept_slots(self))
    }

    fn is_settled(&self) -> bool {
        self.state.is_settled()
    }

    fn is_initialised(&self) -> bool {
        self.state.is_ready()
    }

    fn agrees(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.state, &other.state);
        ours.table == theirs.table && ours.ready == theirs.ready && ours.primary == theirs.primary
    }

    fn flaw(&self) -> Option<&'static str> {
        if !pool_agrees(&self.state) {
            return Some("pool");
        }
        (self.state.table.count(Owner::Frozen) > 0).then_some("frozen")
    }
}
