//! The settings of [Cheap Paxos](super).

use crate::consensus::ballot::LAST_ROUND;
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::{proposals, proposers};
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The default for the last round of ballots; a process that waits in vain then gives up.
const LAST_RETRY: u64 = 1_000;

/// The settings of a group. They never change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Setting {
    pub(super) proposers: ProcessSet,
    pub(super) retries: bool,
    /// The last round of ballots.
    pub(super) ballots: u32,
    /// Whether acceptors write records.
    pub(super) durable: bool,
}

impl Setting {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        proposals(setup)?;
        let first = || [ProcessId(0)].into_iter().collect();
        let ballots = setup.number("ballots", LAST_RETRY)?;
        Ok(Setting {
            proposers: proposers(setup)?.unwrap_or_else(first),
            retries: setup.choice("retry", &["backoff", "never"])? == "backoff",
            ballots: ballots.min(u64::from(LAST_ROUND)) as u32,
            durable: setup.choice("durable", &["yes", "no"])? == "yes",
        })
    }
}
