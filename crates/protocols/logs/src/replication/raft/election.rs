//! Elections (sections 5.2 and 5.4.1): which server campaigns, and which candidate gets its vote.

use super::{Message, Outcome, Position, Raft, Role, Rules, Timer};
use synod_core::replication::Parts;
use synod_core::{Cx, Data, ProcessId};

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Waits for a leader. Servers wait for different times, so that few of them campaign at once.
    pub(super) fn await_election(&self, cx: &mut Cx<'_, Self>) {
        let campaigns = self.limits.candidates.as_ref().is_none_or(|those| those.contains(cx.me()));
        let may = campaigns && self.log.voters().contains(cx.me());
        if self.term >= self.limits.most_terms || !may {
            return;
        }
        let (least, timeouts) = (self.settings.election_ms, self.settings.timeouts);
        let more = if timeouts > 1 { cx.choose(timeouts) } else { 0 };
        cx.set_timer(Timer::Election, least + least * u64::from(more) / u64::from(timeouts));
    }

    /// The election timeout is over: this server campaigns, or asks for pre-votes first.
    pub(super) fn on_election_due(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() || self.lost_disk {
            return;
        }
        if self.settings.pre_vote {
            self.request_pre_votes(cx);
        } else {
            self.campaign(false, cx);
        }
    }

    /// D 9.6: asks whether it would be elected, in the same term. A server that was cut off so does
    /// not bring a later term to a group that has a leader.
    fn request_pre_votes(&mut self, cx: &mut Cx<'_, Self>) {
        self.role = Role::Candidate { is_pre_vote: true, votes: [cx.me()].into_iter().collect() };
        self.await_election(cx);
        self.request_votes(self.term + 1, true, false, cx);
        self.count_votes(cx);
    }

    /// Figure 2, candidates: begins an election in the next term. `called`: the leader told it to.
    pub(super) fn campaign(&mut self, called: bool, cx: &mut Cx<'_, Self>) {
        if self.term >= self.limits.most_terms {
            return;
        }
        self.term += 1;
        self.vote = Some(cx.me());
        if R::KEEPS_VOTES {
            self.save_ballot(cx);
        }
        self.role = Role::Candidate { is_pre_vote: false, votes: [cx.me()].into_iter().collect() };
        self.await_election(cx);
        self.request_votes(self.term, false, called, cx);
        self.count_votes(cx);
    }

    fn request_votes(&self, term: u64, pre: bool, called: bool, cx: &mut Cx<'_, Self>) {
        let message = Message::RequestVote { term, pre, called, last: self.log.last() };
        cx.multicast_to(self.log.voters().clone(), message);
    }

    /// Section 6: a candidate asks for a vote although this server hears the leader. The request is
    /// disregarded: while the leader is heard, no other gets the vote, and leases rely on that.
    pub(super) fn is_disturbance(&self, message: &Message<C, S>) -> bool {
        let is_request = matches!(message, Message::RequestVote { pre: false, called: false, .. });
        let waits = self.settings.pre_vote || self.settings.leases;
        is_request && waits && self.has_leader()
    }

    fn has_leader(&self) -> bool {
        match &self.role {
            Role::Follower { heard_leader, .. } => *heard_leader,
            Role::Leader(_) => true,
            Role::Candidate { .. } => false,
        }
    }

    /// D 9.6: says whether a candidate would get our vote.
    pub(super) fn on_request_pre_vote(
        &mut self,
        from: ProcessId,
        term: u64,
        last: Position,
        cx: &mut Cx<'_, Self>,
    ) {
        let granted =
            term > self.term && !self.has_leader() && !self.lost_disk && self.is_up_to_date(last);
        let term = if granted { term } else { self.term };
        cx.send(from, Message::Vote { term, pre: true, granted });
    }

    /// Figure 2, RequestVote RPC: a candidate asks for our vote. Its term is at most ours by now.
    pub(super) fn on_request_vote(
        &mut self,
        from: ProcessId,
        term: u64,
        last: Position,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_free = self.vote.is_none_or(|vote| vote == from);
        let granted = term == self.term && is_free && !self.lost_disk && self.is_up_to_date(last);
        if granted {
            self.vote = Some(from);
            // This server may have asked for pre-votes itself.
            if matches!(self.role, Role::Candidate { .. }) {
                self.follow(None, cx);
            }
            if R::KEEPS_VOTES {
                self.save_ballot(cx);
            }
            self.await_election(cx);
        }
        cx.send(from, Message::Vote { term: self.term, pre: false, granted });
    }

    /// Section 5.4.1: whether a log that ends there is at least as up-to-date as ours.
    fn is_up_to_date(&self, last: Position) -> bool {
        !R::COMPARES_LOGS || last >= self.log.last()
    }

    pub(super) fn on_vote(
        &mut self,
        from: ProcessId,
        term: u64,
        pre: bool,
        granted: bool,
        cx: &mut Cx<'_, Self>,
    ) {
        let for_term = if pre { self.term + 1 } else { self.term };
        let Role::Candidate { is_pre_vote, votes } = &mut self.role else { return };
        if granted && term == for_term && *is_pre_vote == pre {
            votes.insert(from);
            self.count_votes(cx);
        }
    }

    fn count_votes(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Candidate { is_pre_vote, votes } = &self.role else { return };
        match (self.is_majority(votes), *is_pre_vote) {
            (true, true) => self.campaign(false, cx),
            (true, false) => self.lead(cx),
            (false, _) => {}
        }
    }

    /// D 3.10: the leader makes this server its transfer target.
    pub(super) fn on_timeout_now(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        let leader = match &self.role {
            Role::Follower { leader, .. } => *leader,
            _ => None,
        };
        if leader != Some(from) {
            return cx.accuse(from, "calls an election and does not lead");
        }
        if !self.lost_disk && self.log.voters().contains(cx.me()) {
            self.campaign(true, cx);
        }
    }

    /// A message of a leader: false if its term is over.
    pub(super) fn hears_leader(
        &mut self,
        from: ProcessId,
        term: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) -> bool {
        if term < self.term {
            let outcome = Outcome::Differs(self.log.last_index());
            cx.send(from, Message::Appended { term: self.term, outcome, round });
            return false;
        }
        if self.leads() {
            cx.accuse(from, "leads in our term");
            return false;
        }
        self.follow(Some(from), cx);
        // Also if we follow it already: the next election is put off.
        self.await_election(cx);
        true
    }
}
