//! The state of a leader beside its log (figure 2, volatile state on leaders).

use super::sending::Install;
use super::{Raft, Rules, Timer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// The state of a leader beside its log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub(super) struct Leadership<S: Parts> {
    /// The progress of each other server.
    pub(super) peers: BTreeMap<ProcessId, Peer>,
    /// Snapshots on their way, in parts.
    pub(super) installs: BTreeMap<ProcessId, Install<S>>,
    /// The place of the entry with which it began.
    pub(super) began: u64,
    /// The last entry that went to its own disk.
    pub(super) written: u64,
    /// The number of the last round of heartbeats. A follower that answers it had voted for no
    /// later leader before.
    pub(super) round: u64,
    /// The round that a majority must have answered when this leader next checks its quorum.
    pub(super) due: u64,
    /// The heartbeats since the last check.
    pub(super) beats: u64,
    /// For explorers: the heartbeats that it may still send.
    pub(super) beats_left: u64,
    /// Reads, and the round whose answers they wait for.
    pub(super) reads: VecDeque<(u64, u64)>,
    /// The last round whose lease is over.
    pub(super) expired: u64,
    /// The voters at the end of a change that is under way.
    pub(super) next_voters: Option<ProcessSet>,
    /// The follower that is to lead next, once it has the whole log.
    pub(super) transfer_target: Option<ProcessId>,
    /// Whether the transfer target was told to campaign. Others may elect it although they hear
    /// this leader, so no lease counts from then on.
    pub(super) has_transferred: bool,
    /// Whether a flush is due, with entries that were not sent yet.
    pub(super) unsent: bool,
}

/// The progress of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Peer {
    /// Figure 2, nextIndex: the next entry to send.
    pub(super) next: u64,
    /// Figure 2, matchIndex: up to here its log agrees with the leader's, and is on its disk.
    pub(super) matched: u64,
    /// The last round of heartbeats that it answered.
    pub(super) round: u64,
}

impl<S: Parts> Leadership<S> {
    /// Knows nothing of the others, whose logs may be as long as ours; and writes `began` next.
    pub(super) fn new(began: u64, beats_left: u64) -> Self {
        Leadership {
            peers: BTreeMap::new(),
            installs: BTreeMap::new(),
            began,
            written: began - 1,
            round: 0,
            due: 0,
            beats: 0,
            beats_left,
            reads: VecDeque::new(),
            expired: 0,
            next_voters: None,
            transfer_target: None,
            has_transferred: false,
            unsent: false,
        }
    }

    /// The progress of a server. If nothing is known of it, its log may be as long as ours was when
    /// we began.
    pub(super) fn peer(&mut self, at: ProcessId) -> &mut Peer {
        self.peers.entry(at).or_insert(Peer { next: self.began, matched: 0, round: 0 })
    }

    /// The leader steps down: its reads cannot be answered here.
    pub(super) fn resign<C: Data, R: Rules>(self, cx: &mut Cx<'_, Raft<C, S, R>>) {
        cx.cancel_timer(Timer::Heartbeat);
        cx.cancel_timer(Timer::Flush);
        for round in self.expired + 1..=self.round {
            cx.cancel_timer(Timer::Lease(round));
        }
        for (number, _) in self.reads {
            cx.output(Event::Unreadable(number));
        }
    }
}

/// The greatest number that more than half of the voters have reached.
pub(super) fn reached(voters: &ProcessSet, of: impl Fn(ProcessId) -> u64) -> u64 {
    let mut numbers: Vec<u64> = voters.iter().map(of).collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers.get(voters.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_if_a_majority_has_reached_it() {
        let reached =
            |numbers: &[u64]| reached(&ProcessSet::all(numbers.len()), |at| numbers[at.index()]);
        assert_eq!(reached(&[5]), 5);
        assert_eq!(reached(&[5, 3]), 3);
        assert_eq!(reached(&[5, 3, 1]), 3);
        assert_eq!(reached(&[1, 5, 4, 2]), 2);
        assert_eq!(reached(&[1, 5, 4, 2, 3]), 3);
    }
}
