//! Who has which messages, as far as one member knows.

use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::ProcessId;

/// R: the last number of each process in the world up to which nothing is missing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Numbers(pub Vec<u32>);

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        write!(f, "<{}>", numbers.join(","))
    }
}

/// What each process is known to have, and who has been silent for how long.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Knowledge {
    /// The R of each process. Our own is right; those of others may be out of date.
    rows: Vec<Numbers>,
    /// How many of our heartbeats in a row each process has not answered.
    silent: Vec<u32>,
    /// From how many on it is taken for crashed.
    patience: u32,
}

impl Knowledge {
    /// Nobody has anything yet.
    pub(super) fn new(n: usize, patience: u32) -> Self {
        Knowledge { rows: vec![Numbers(vec![0; n]); n], silent: vec![0; n], patience }
    }

    pub(super) fn of(&self, process: ProcessId) -> &Numbers {
        &self.rows[process.index()]
    }

    /// The last number of `sender` up to which `process` has everything.
    pub(super) fn upto(&self, process: ProcessId, sender: ProcessId) -> u32 {
        self.rows[process.index()].0[sender.index()]
    }

    /// Takes in that `process` has everything of `sender` up to this number. Whether that is new.
    pub(super) fn learn(&mut self, process: ProcessId, sender: ProcessId, upto: u32) -> bool {
        let known = &mut self.rows[process.index()].0[sender.index()];
        let new = *known < upto;
        *known = upto.max(*known);
        new
    }

    /// A message came from it.
    pub(super) fn hear(&mut self, process: ProcessId) {
        self.silent[process.index()] = 0;
    }

    /// A heartbeat of ours is on its way to it.
    pub(super) fn wait(&mut self, process: ProcessId) {
        let silent = &mut self.silent[process.index()];
        *silent = (*silent + 1).min(self.patience);
    }

    /// Whether it still counts. Whoever is silent for too long does not.
    pub(super) fn counts(&self, process: ProcessId) -> bool {
        self.silent[process.index()] < self.patience
    }
}
