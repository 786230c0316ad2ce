//! The settings of [Fast Paxos](super).

use super::{FastProcess, Timer};
use crate::consensus::ballot::{Ballot, LAST_ROUND};
use crate::consensus::quorum::{Quorums, majority};
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::{proposals, proposers};
use synod_core::{Cx, ProcessId, ProcessSet, Setup, SetupError};

/// The least time that a process waits for a decision; it waits up to twice as long.
const TIMEOUT_MS: u64 = 100;

/// The default for the last round of ballots; a process that waits in vain then gives up.
const LAST_RETRY: u64 = 1_000;

/// The settings of a group. They never change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub(super) quorums: Quorums,
    pub(super) proposers: ProcessSet,
    coordinator: ProcessId,
    /// Whether the first ballot is prepared before the start.
    given: bool,
    retries: bool,
    /// The last round of ballots.
    ballots: u32,
    /// Whether acceptors write records.
    pub(super) durable: bool,
}

impl Setting {
    pub(super) fn from_setup(setup: &Setup, checked: bool) -> Result<Self, SetupError> {
        proposals(setup)?;
        let first = || [ProcessId(0)].into_iter().collect();
        let ballots = setup.number("ballots", LAST_RETRY)?;
        Ok(Setting {
            quorums: quorums(setup, checked)?,
            proposers: proposers(setup)?.unwrap_or_else(first),
            coordinator: setup.process("coordinator", ProcessId(0))?,
            given: setup.choice("any", &["given", "asked"])? == "given",
            retries: setup.choice("retry", &["backoff", "never"])? == "backoff",
            ballots: ballots.min(u64::from(LAST_ROUND)) as u32,
            durable: setup.choice("durable", &["yes", "no"])? == "yes",
        })
    }

    /// The fast ballot.
    pub(super) fn first(&self) -> Ballot {
        Ballot { round: 1, owner: self.coordinator }
    }

    /// The ballot after it, in which the coordinator resolves a collision. All others are greater.
    pub(super) fn recovery(&self) -> Ballot {
        Ballot { round: 2, owner: self.coordinator }
    }

    pub(super) fn is_given(&self) -> bool {
        self.given
    }

    /// Whether this process has to prepare the first ballot.
    pub(super) fn must_ask(&self, me: ProcessId) -> bool {
        !self.given && me == self.coordinator
    }

    pub(super) fn allows(&self, ballot: Ballot) -> bool {
        ballot.round <= self.ballots
    }

    /// Sets the time-out of a decision. After it, this process begins a ballot itself.
    pub(super) fn wait<const CHECKED: bool>(&self, cx: &mut Cx<'_, FastProcess<CHECKED>>) {
        if self.retries {
            let more = u64::from(cx.choose(4)) * TIMEOUT_MS / 4;
            cx.set_timer(Timer::Retry, TIMEOUT_MS + more);
        }
    }
}

/// The quorums of the parameters, or the usual ones. In the mutant, which skips the check, fast
/// ones are as small as classic ones.
fn quorums(setup: &Setup, checked: bool) -> Result<Quorums, SetupError> {
    let usual = Quorums::of(setup.n.max(1));
    let classic = setup.number("classic", usual.classic() as u64)? as usize;
    let fast = setup.number("fast", usual.fast() as u64)? as usize;
    match checked {
        true => Quorums::checked(setup.n, classic, fast).map_err(|why| {
            setup.bad(if classic == usual.classic() { "fast" } else { "classic" }, why.to_string())
        }),
        false => Ok(Quorums::unchecked(setup.n, majority(setup.n), majority(setup.n))),
    }
}
