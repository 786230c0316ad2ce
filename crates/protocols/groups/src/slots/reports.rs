//! The number of free slots that each member has reported in this view.

use serde::{Deserialize, Serialize};
use synod_core::ProcessId;

/// The reports of all members, and their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reports {
    /// The number of free slots that each member reported, and the slots that it got since.
    free: Vec<Option<u32>>,
    /// The number of members that have reported.
    reporters: u32,
    sum: u32,
}

impl Reports {
    /// A member reports its free slots.
    pub fn note(&mut self, member: ProcessId, free: u32) {
        let place = member.index();
        if self.free.len() <= place {
            self.free.resize(place + 1, None);
        }
        let before = self.free[place].replace(free);
        self.reporters += u32::from(before.is_none());
        self.sum = (self.sum - before.unwrap_or(0)).saturating_add(free);
    }

    /// A member gets slots.
    pub fn add(&mut self, member: ProcessId, slots: u32) {
        if let Some(Some(free)) = self.free.get_mut(member.index()) {
            *free = free.saturating_add(slots);
            self.sum = self.sum.saturating_add(slots);
        }
    }

    /// The free slots of all members. A member that has not reported counts as having the mean of
    /// those that have.
    pub fn of_all(&self, members: u32) -> u64 {
        let known = u64::from(self.reporters.max(1));
        u64::from(self.sum) * u64::from(members) / known
    }
}
