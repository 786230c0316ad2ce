//! The settings of [Paxos](super).

use super::{PaxosProcess, Timer};
use crate::consensus::ballot::{Ballot, LAST_ROUND};
use crate::consensus::quorum_system::QuorumSystem;
use serde::{Deserialize, Serialize};
use synod_core::family::consensus::{proposals, proposers};
use synod_core::{Cx, ProcessId, ProcessSet, Setup, SetupError};

/// The default time that a proposer waits for answers.
const TIMEOUT_MS: u64 = 100;
/// A proposer that waits in vain does not begin ballots of later rounds than this.
const LAST_RETRY: u32 = 1_000;
/// A back-off does not double more often than this.
const DOUBLINGS: u32 = 6;

/// The reaction of a proposer to a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Retry {
    /// It waits for a random time, longer each time; and tries again, too, if no answer comes.
    Backoff,
    /// It tries again at once; if no answer comes, it waits for ever.
    AtOnce,
    /// It does not try again.
    Never,
}

/// The settings of a group. They never change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub(super) proposers: ProcessSet,
    pub(super) learners: ProcessSet,
    /// The acceptors, and which of them are a quorum.
    pub(super) quorums: QuorumSystem,
    pub(super) retry: Retry,
    timeout_ms: u64,
    /// The last round of ballots.
    pub(super) ballots: u32,
    /// The acceptors that write records.
    pub(super) durable: ProcessSet,
}

impl Setting {
    pub(super) fn from_setup(setup: &Setup, meet: bool) -> Result<Self, SetupError> {
        proposals(setup)?;
        let first = || [ProcessId(0)].into_iter().collect();
        let named = setup.processes("learners")?.map(|named| named.into_iter().collect());
        let retry = match setup.choice("retry", &["backoff", "at-once", "never"])? {
            "at-once" => Retry::AtOnce,
            "never" => Retry::Never,
            _ => Retry::Backoff,
        };
        let ballots = setup.number("ballots", u64::from(LAST_ROUND))?;
        Ok(Setting {
            proposers: proposers(setup)?.unwrap_or_else(first),
            learners: named.unwrap_or_else(|| ProcessSet::all(setup.n)),
            quorums: QuorumSystem::from_setup(setup, meet)?,
            retry,
            timeout_ms: match setup.number("timeout", TIMEOUT_MS)? {
                timeout @ 1..=3_600_000 => timeout,
                _ => return Err(setup.bad("timeout", "it is 1 millisecond to an hour")),
            },
            ballots: ballots.min(u64::from(LAST_ROUND)) as u32,
            durable: match setup.text("durable") {
                None | Some("yes") => ProcessSet::all(setup.n),
                Some("no") => ProcessSet::EMPTY,
                Some(_) => setup.processes("durable")?.unwrap_or_default().into_iter().collect(),
            },
        })
    }

    /// Sets the time-out of a ballot. If no answer comes, the proposer begins another one.
    pub(super) fn await_answers<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>(
        &self,
        cx: &mut Cx<'_, PaxosProcess<NUMBERED, REMEMBER, MEET>>,
    ) {
        if self.retry == Retry::Backoff {
            cx.set_timer(Timer::Retry, self.timeout_ms);
        }
    }

    /// Whether to give up: after that many rounds no quorum is up, or it has lost its disks.
    pub(super) fn gives_up(&self, promised: Option<Ballot>) -> bool {
        promised.is_some_and(|promised| promised.round >= LAST_RETRY)
    }

    /// Waits for a random time, from a range that doubles with each round, so that one of two
    /// proposers gets ahead.
    pub(super) fn back_off<const NUMBERED: bool, const REMEMBER: bool, const MEET: bool>(
        &self,
        round: u32,
        cx: &mut Cx<'_, PaxosProcess<NUMBERED, REMEMBER, MEET>>,
    ) {
        let among = 2 << round.min(DOUBLINGS);
        let share = u64::from(cx.choose(among) + 1);
        cx.set_timer(Timer::Retry, (self.timeout_ms * share).div_ceil(16));
    }
}
