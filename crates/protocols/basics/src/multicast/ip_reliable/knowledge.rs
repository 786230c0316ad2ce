//! One member's knowledge of the messages that each member has.

use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::ProcessId;

/// R: for each process in the world, the number up to which all its messages are there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Numbers(pub Vec<u32>);

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        write!(f, "<{}>", numbers.join(","))
    }
}

/// The known R of each process, and its unanswered heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Knowledge {
    /// The R of each process. Our own is right; those of others may be out of date.
    rows: Vec<Numbers>,
    /// For each process: the number of our heartbeats in a row that it has not answered.
    silent: Vec<u32>,
    /// The number of unanswered heartbeats from which on a process is taken for crashed.
    patience: u32,
}

impl Knowledge {
    /// The knowledge at the start: no process has a message.
    pub(super) fn new(n: usize, patience: u32) -> Self {
        Knowledge { rows: vec![Numbers(vec![0; n]); n], silent: vec![0; n], patience }
    }

    pub(super) fn of(&self, process: ProcessId) -> &Numbers {
        &self.rows[process.index()]
    }

    /// The number up to which `process` has all messages of `sender`.
    pub(super) fn upto(&self, process: ProcessId, sender: ProcessId) -> u32 {
        self.rows[process.index()].0[sender.index()]
    }

    /// Notes that `process` has all messages of `sender` up to this number. True if that is news.
    pub(super) fn learn(&mut self, process: ProcessId, sender: ProcessId, upto: u32) -> bool {
        let known = &mut self.rows[process.index()].0[sender.index()];
        let new = *known < upto;
        *known = upto.max(*known);
        new
    }

    /// A message came from the process, so it is alive.
    pub(super) fn hear(&mut self, process: ProcessId) {
        self.silent[process.index()] = 0;
    }

    /// A heartbeat of ours is on its way to the process, which has to answer.
    pub(super) fn wait(&mut self, process: ProcessId) {
        let silent = &mut self.silent[process.index()];
        *silent = (*silent + 1).min(self.patience);
    }

    /// Whether the process still counts. One that is silent for too long does not.
    pub(super) fn counts(&self, process: ProcessId) -> bool {
        self.silent[process.index()] < self.patience
    }
}
