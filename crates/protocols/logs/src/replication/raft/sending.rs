//! The leader sends its snapshot to a follower that lacks entries which the leader has no more.
//!
//! The follower gets the next part when it has the last one on its disk. Heartbeats go on between
//! parts.

use super::{Message, Position, Raft, Role, Rules, Snapshot};
use serde::{Deserialize, Serialize};
use synod_core::replication::{Outgoing, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// A leader that hears nothing of this many copies of a part begins again, with its newest
/// snapshot.
const MOST_COPIES: u32 = 4;

/// A snapshot on its way to a follower.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub(super) struct Install<S: Parts> {
    pub(super) last: Position,
    voters: ProcessSet,
    parts: Outgoing<S>,
    /// The heartbeats since the current part.
    beats: u64,
    /// The copies of the current part that were sent.
    copies: u32,
}

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Sends a follower the snapshot: whole, or its first part.
    pub(super) fn send_snapshot(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let snapshot = self.log.snapshot().clone();
        let parts = snapshot.state.as_ref().map(|state| Outgoing::new(state.clone()));
        let parts = parts.filter(|parts| !parts.part(self.settings.part_bytes).is_last);
        let Some(parts) = parts else {
            leadership.peer(to).next = snapshot.last.index + 1;
            let round = leadership.round;
            return cx.send(to, Message::Install { term: self.term, snapshot, round });
        };
        let Snapshot { last, voters, .. } = snapshot;
        leadership.installs.insert(to, Install { last, voters, parts, beats: 0, copies: 0 });
        self.send_part(to, cx);
    }

    /// Sends a follower the part that it lacks.
    fn send_part(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let Some(install) = leadership.installs.get_mut(&to) else { return };
        (install.beats, install.copies) = (0, install.copies + 1);
        let (last, voters) = (install.last, install.voters.clone());
        let part = install.parts.part(self.settings.part_bytes);
        let (term, round) = (self.term, leadership.round);
        cx.send(to, Message::InstallPart { term, last, voters, part, round });
    }

    /// A heartbeat for a follower that waits for parts: it says nothing of the log. If nothing was
    /// heard of a part for as long as others wait for a leader, it is sent again.
    pub(super) fn beat_between_parts(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let (term, round) = (self.term, leadership.round);
        let (after, entries) = (Position::default(), Vec::new());
        cx.send(to, Message::Append { term, after, entries, commit: 0, round });
        let Some(install) = leadership.installs.get_mut(&to) else { return };
        install.beats += 1;
        if install.beats * self.settings.heartbeat_ms < self.settings.election_ms {
            return;
        }
        if install.copies < MOST_COPIES {
            self.send_part(to, cx);
        } else {
            leadership.installs.remove(&to);
            self.send_snapshot(to, cx);
        }
    }

    /// A follower has all parts before this one.
    pub(super) fn on_part_taken(
        &mut self,
        from: ProcessId,
        last: Position,
        next: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if round > leadership.round {
            return cx.accuse(from, "has more than we sent");
        }
        let peer = leadership.peer(from);
        peer.round = peer.round.max(round);
        let install = leadership.installs.get_mut(&from).filter(|install| install.last == last);
        let Some(install) = install else { return };
        let current = install.parts.number();
        if next == current + 1 && install.parts.advance(self.settings.part_bytes) {
            install.copies = 0;
            self.send_part(from, cx);
        } else if next == 0 && current > 0 {
            // It lost_disk the parts that it had, perhaps in a crash.
            install.parts.restart();
            self.send_part(from, cx);
        }
        self.finish_reads(cx);
    }
}
