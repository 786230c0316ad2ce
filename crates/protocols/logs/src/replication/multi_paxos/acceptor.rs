//! The acceptor: it promises, accepts, and never forgets. And the follower: it hears who leads.

use super::{Message, MultiPaxos, Record, Role, Rules};
use synod_agreement::consensus::ballot::Ballot;
use synod_core::replication::{Entry, Parts};
use synod_core::{Cx, Data, ProcessId};

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// Another process would like to begin a ballot. One that hears of a leader does not answer:
    /// the ballot would only take the leadership from it.
    pub(super) fn on_ask(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        let has_leader = matches!(self.role, Role::Leader(_) | Role::Follower { leader: Some(_) });
        if has_leader || self.lost_disk || self.refuses(from, ballot, cx) {
            return;
        }
        cx.send(from, Message::Granted { ballot });
    }

    /// Whether a greater ballot was promised. Then the sender is told.
    fn refuses(&self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) -> bool {
        let greater = self.promised.filter(|promised| *promised > ballot);
        if let Some(promised) = greater {
            cx.send(from, Message::Refused { promised });
        }
        greater.is_some()
    }

    /// 1b: promises, for all places, and tells all that it has accepted.
    pub(super) fn on_prepare(
        &mut self,
        from: ProcessId,
        ballot: Ballot,
        after: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        // It answered the first copy of this message.
        if self.lost_disk || self.refuses(from, ballot, cx) || self.promised == Some(ballot) {
            return;
        }
        self.promised = Some(ballot);
        self.save(Record::Promise(ballot), cx);
        self.follow(None, cx);
        self.await_leader(cx);
        let (votes, chosen) = (self.votes(), self.chosen_after(after));
        cx.send(from, Message::Promise { ballot, votes, chosen });
    }

    /// Follows the sender of a leader's message; false if a greater ballot has replaced its own.
    pub(super) fn hears_leader(
        &mut self,
        from: ProcessId,
        ballot: Ballot,
        cx: &mut Cx<'_, Self>,
    ) -> bool {
        if R::KEEPS_PROMISES && self.refuses(from, ballot, cx) {
            return false;
        }
        if self.promised != Some(ballot) {
            self.promised = Some(ballot);
            self.save(Record::Promise(ballot), cx);
        }
        self.follow(Some(from), cx);
        // Also if we follow it already: we wait anew.
        self.await_leader(cx);
        true
    }

    /// 2b: accepts what the leader proposes, as far as there is room.
    pub(super) fn on_accept(
        &mut self,
        from: ProcessId,
        after: u64,
        mut entries: Vec<Entry<C>>,
        commit: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let Some(ballot) = self.promised.filter(|_| !self.lost_disk) else { return };
        entries.truncate(self.log.room_after(after));
        let last = after + entries.len() as u64;
        let is_new = self.log.accept(ballot, after, &entries);
        self.log.choose(Some(ballot), commit);
        if is_new {
            let commit = self.log.commit();
            self.save(Record::Accept { ballot, after, entries, commit }, cx);
        }
        if last > after {
            cx.send(from, Message::Accepted { ballot, after, last });
        }
        self.apply(cx);
    }

    /// The leader is alive. A learner that lacks chosen entries asks for them.
    pub(super) fn on_heartbeat(
        &mut self,
        from: ProcessId,
        commit: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let Some(ballot) = self.promised else { return };
        if !self.lost_disk {
            self.log.choose(Some(ballot), commit);
            cx.send(from, Message::Alive { ballot, round });
        }
        self.apply(cx);
        self.ask_for_more(from, commit, cx);
    }
}
