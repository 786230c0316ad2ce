//! Reads that need not be in the log.
//!
//! A leader knows every chosen entry, once all proposals of earlier leaders that it heard of are
//! chosen. It only has to be sure that it still leads: that a quorum answers a heartbeat sent after
//! the read began, because an acceptor that answers has promised no greater ballot before.

use super::{MultiPaxos, Role, Rules, is_quorum};
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data, ProcessSet};

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    pub(super) fn read(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else {
            return cx.output(Event::Unreadable(number));
        };
        leadership.reads.push_back((number, leadership.round + 1));
        self.flush_soon(cx);
        self.finish_reads(cx);
    }

    /// Reads whose heartbeat a quorum has answered can be done now.
    pub(super) fn finish_reads(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if self.log.commit() < leadership.began {
            return;
        }
        while let Some((number, round)) = leadership.reads.front().copied() {
            let answered = leadership.answered.iter().filter(|(_, last)| **last >= round);
            let mut those: ProcessSet = answered.map(|(at, _)| *at).collect();
            those.insert(cx.me());
            if round > leadership.round || !is_quorum(&those, cx) {
                return;
            }
            leadership.reads.pop_front();
            cx.output(Event::Readable(number));
        }
    }
}
