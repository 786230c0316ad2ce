//! What becomes due as time passes.

use crate::world::Slot;
use std::collections::BTreeMap;
use synod_core::ProcessId;

/// Something that happens by itself when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Deliver(Slot),
    Fire(ProcessId, u64),
    Sync(ProcessId),
}

/// Everything that is due at some time, in order of time, then of making.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BTreeMap<(u64, u64), Due>,
    made: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at_us: u64, due: Due) {
        self.entries.insert((at_us, self.made), due);
        self.made += 1;
    }

    /// It happens now, or never.
    pub(super) fn forget(&mut self, due: Due) {
        self.entries.retain(|_, entry| *entry != due);
    }

    /// What is due until then, the earliest first.
    pub(super) fn until(&self, end_us: u64) -> impl Iterator<Item = (u64, Due)> + '_ {
        self.entries.range(..=(end_us, u64::MAX)).map(|(&(at_us, _), &due)| (at_us, due))
    }
}
