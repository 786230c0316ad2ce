//! What is set before [Cheap Paxos](super) starts.

use crate::consensus::ballot::LAST_ROUND;
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::{proposals, proposers};
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// After so many rounds whoever waits in vain gives up, unless something else is said.
const LAST_RETRY: u64 = 1_000;

/// What is set before the start, and never changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Setting {
    pub(super) proposers: ProcessSet,
    pub(super) retries: bool,
    /// No round is greater than this.
    pub(super) ballots: u32,
    /// Whether records are written.
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
