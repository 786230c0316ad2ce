//! Elections: who stands, who votes for whom.

use super::{Message, Position, Raft, Role, Rules, Timer};
use synod_core::replication::Parts;
use synod_core::{Cx, Data, ProcessId};

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Waits for a leader; not all for the same time, so that they do not stand at the same time.
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

    /// Nobody leads, as far as we know.
    pub(super) fn on_election_due(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() || self.forgot {
            return;
        }
        if self.settings.pre_vote {
            self.ask_first(cx);
        } else {
            self.stand(false, cx);
        }
    }

    /// Asks whether we would be elected, without disturbing anybody who has a leader.
    fn ask_first(&mut self, cx: &mut Cx<'_, Self>) {
        self.role = Role::Candidate { asks_first: true, votes: [cx.me()].into_iter().collect() };
        self.await_election(cx);
        self.request_votes(self.term + 1, true, false, cx);
        self.count_votes(cx);
    }

    /// Stands for election in a new term. `called`: the leader wants it.
    pub(super) fn stand(&mut self, called: bool, cx: &mut Cx<'_, Self>) {
        if self.term >= self.limits.most_terms {
            return;
        }
        self.term += 1;
        self.vote = Some(cx.me());
        if R::KEEPS_VOTES {
            self.save_ballot(cx);
        }
        self.role = Role::Candidate { asks_first: false, votes: [cx.me()].into_iter().collect() };
        self.await_election(cx);
        self.request_votes(self.term, false, called, cx);
        self.count_votes(cx);
    }

    fn request_votes(&self, term: u64, pre: bool, called: bool, cx: &mut Cx<'_, Self>) {
        let message = Message::RequestVote { term, pre, called, last: self.log.last() };
        cx.multicast_to(self.log.voters().clone(), message);
    }

    /// Somebody who cannot hear the leader wants to be elected. We hear it, so we do not listen: as
    /// long as we do, nobody else gets our vote.
    pub(super) fn is_disturbance(&self, message: &Message<C, S>) -> bool {
        let is_request = matches!(message, Message::RequestVote { pre: false, called: false, .. });
        let waits = self.settings.pre_vote || self.settings.leases;
        is_request && waits && self.has_leader()
    }

    fn has_leader(&self) -> bool {
        match &self.role {
            Role::Follower { patient, .. } => *patient,
            Role::Leader(_) => true,
            Role::Candidate { .. } => false,
        }
    }

    /// Would this server get our vote?
    pub(super) fn on_question(
        &mut self,
        from: ProcessId,
        term: u64,
        last: Position,
        cx: &mut Cx<'_, Self>,
    ) {
        let granted = term > self.term && !self.has_leader() && !self.forgot && self.is_good(last);
        let term = if granted { term } else { self.term };
        cx.send(from, Message::Vote { term, pre: true, granted });
    }

    /// A server asks for our vote in a term that is not greater than ours any more.
    pub(super) fn on_request_vote(
        &mut self,
        from: ProcessId,
        term: u64,
        last: Position,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_free = self.vote.is_none_or(|vote| vote == from);
        let granted = term == self.term && is_free && !self.forgot && self.is_good(last);
        if granted {
            self.vote = Some(from);
            // Perhaps we were about to stand ourselves.
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

    /// Whether a log that ends there has all that ours has, as far as it may be committed.
    fn is_good(&self, last: Position) -> bool {
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
        let Role::Candidate { asks_first, votes } = &mut self.role else { return };
        if granted && term == for_term && *asks_first == pre {
            votes.insert(from);
            self.count_votes(cx);
        }
    }

    fn count_votes(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Candidate { asks_first, votes } = &self.role else { return };
        match (self.is_majority(votes), *asks_first) {
            (true, true) => self.stand(false, cx),
            (true, false) => self.lead(cx),
            (false, _) => {}
        }
    }

    /// The leader wants us to lead.
    pub(super) fn on_timeout_now(&mut self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        let leader = match &self.role {
            Role::Follower { leader, .. } => *leader,
            _ => None,
        };
        if leader != Some(from) {
            return cx.accuse(from, "calls an election and does not lead");
        }
        if !self.forgot && self.log.voters().contains(cx.me()) {
            self.stand(true, cx);
        }
    }

    /// A message of a leader: false if it is not, or not any more.
    pub(super) fn hears_leader(
        &mut self,
        from: ProcessId,
        term: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) -> bool {
        if term < self.term {
            let outcome = Err(self.log.last_index());
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
