//! Reads that need not be in the log.
//!
//! A leader knows every committed entry, once an entry of its own term is committed (section 8). It
//! only has to be sure that it still leads: that a majority answers a heartbeat sent after the read
//! began; or, with leases, that a majority answered one lately, and votes for no other candidate
//! until the lease is over.

use super::leadership::reached;
use super::{Raft, Role, Rules, Timer};
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data};

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    pub(super) fn read(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else {
            return cx.output(Event::Unreadable(number));
        };
        leadership.reads.push_back((number, leadership.round + 1));
        if !self.has_lease(cx) {
            self.flush_soon(cx);
        }
        self.finish_reads(cx);
    }

    /// The next round of heartbeats.
    pub(super) fn begin_round(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.round += 1;
        if self.settings.leases {
            // Shorter than the time after which a follower votes again, even if its clock is a
            // tenth faster.
            let lease_ms = self.settings.election_ms * 9 / 10;
            cx.set_timer(Timer::Lease(leadership.round), lease_ms);
        }
    }

    pub(super) fn on_lease_over(&mut self, round: u64) {
        if let Role::Leader(leadership) = &mut self.role {
            leadership.expired = leadership.expired.max(round);
        }
    }

    /// The last round that a majority has answered.
    fn answered(&self, cx: &Cx<'_, Self>) -> u64 {
        let Role::Leader(leadership) = &self.role else { return 0 };
        let round = |at| match at {
            at if at == cx.me() => leadership.round,
            at => leadership.peers.get(&at).map_or(0, |peer| peer.round),
        };
        reached(self.log.voters(), round)
    }

    /// A leader that a majority has not answered for an election timeout gives way: another server
    /// may reach a majority.
    pub(super) fn gives_way(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let answered = self.answered(cx);
        let Role::Leader(leadership) = &mut self.role else { return false };
        leadership.beats += 1;
        if leadership.beats * self.settings.heartbeat_ms < self.settings.election_ms {
            return false;
        }
        leadership.beats = 0;
        let gives_way = answered < std::mem::replace(&mut leadership.due, leadership.round);
        if gives_way {
            self.follow(None, cx);
            self.await_election(cx);
        }
        gives_way
    }

    fn has_lease(&self, cx: &Cx<'_, Self>) -> bool {
        let Role::Leader(leadership) = &self.role else { return false };
        let is_granted = self.answered(cx) > leadership.expired;
        self.settings.leases && is_granted && !leadership.has_transferred
    }

    /// Reads whose round is answered can be done now, if an entry of our own term is committed.
    pub(super) fn finish_reads(&mut self, cx: &mut Cx<'_, Self>) {
        let (answered, has_lease) = (self.answered(cx), self.has_lease(cx));
        let Role::Leader(leadership) = &mut self.role else { return };
        if self.commit < leadership.began {
            return;
        }
        while let Some((number, round)) = leadership.reads.front().copied() {
            if round > answered && !has_lease {
                return;
            }
            leadership.reads.pop_front();
            cx.output(Event::Readable(number));
        }
    }
}
