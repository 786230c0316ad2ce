//! Phase 1: a candidate asks for promises, and learns from them which values may be chosen.

use super::settings::Adopts;
use super::{Chosen, Message, MultiPaxos, Record, Role, Rules, Timer, is_quorum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_agreement::consensus::acceptor::Vote;
use synod_agreement::consensus::ballot::Ballot;
use synod_core::replication::{Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// The promises that have come so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data")]
pub(super) struct Candidacy<C> {
    /// The acceptors that have promised.
    promised: ProcessSet,
    /// At each place, of all votes in these promises, that of the greatest ballot.
    votes: BTreeMap<u64, Vote<Entry<C>>>,
    /// The log is chosen at least up to here, says one of them. The candidate learns these entries
    /// before it leads.
    goal: u64,
}

impl<C: Data> Candidacy<C> {
    fn hear(&mut self, votes: Vec<(u64, Vote<Entry<C>>)>, adopts: Adopts) {
        for (index, vote) in votes {
            let known = self.votes.get(&index);
            let replaces = match adopts {
                Adopts::Greatest => known.is_none_or(|known| known.ballot < vote.ballot),
                Adopts::First => known.is_none(),
                Adopts::Nothing => false,
            };
            if replaces {
                self.votes.insert(index, vote);
            }
        }
    }

    /// The proposals after `commit`: each value that may be chosen, and no command in the gaps.
    fn proposals(mut self, commit: u64) -> Vec<Entry<C>> {
        let last = self.votes.last_key_value().map_or(commit, |(last, _)| *last);
        let value = |vote: Vote<Entry<C>>| vote.value;
        let mut at = |index| self.votes.remove(&index).map_or(Entry::Nothing, value);
        (commit + 1..=last).map(&mut at).collect()
    }
}

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// The next ballot of our own, if there is one.
    fn next_ballot(&self, me: ProcessId) -> Option<Ballot> {
        let next = Ballot::above(self.promised.max(self.seen), me);
        next.filter(|ballot| ballot.round <= self.limits.most_rounds)
    }

    /// Waits for a leader. The timeouts differ, so that two processes rarely begin a ballot at the
    /// same time.
    pub(super) fn await_leader(&self, cx: &mut Cx<'_, Self>) {
        let campaigns = self.limits.candidates.as_ref().is_none_or(|those| those.contains(cx.me()));
        if !campaigns || self.lost_disk || self.next_ballot(cx.me()).is_none() {
            return;
        }
        let (least, timeouts) = (self.settings.election_ms, self.settings.timeouts);
        let more = if timeouts > 1 { cx.choose(timeouts) } else { 0 };
        cx.set_timer(Timer::Election, least + least * u64::from(more) / u64::from(timeouts));
    }

    /// The election timeout ran out: this process has heard of no leader.
    pub(super) fn on_election_due(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() || self.lost_disk {
            return;
        }
        if self.settings.asks_first {
            self.ask(cx);
        } else {
            self.prepare(cx);
        }
    }

    /// Asks whether the others hear of no leader either. The question promises nothing, so it
    /// disturbs no process that follows a leader.
    fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(ballot) = self.next_ballot(cx.me()) else { return };
        self.role = Role::Asking { ballot, granted: ProcessSet::EMPTY };
        self.await_leader(cx);
        cx.multicast(Message::Ask { ballot });
        self.on_granted(cx.me(), ballot, cx);
    }

    pub(super) fn on_granted(&mut self, from: ProcessId, of: Ballot, cx: &mut Cx<'_, Self>) {
        if let Role::Asking { ballot, granted } = &mut self.role
            && *ballot == of
            && granted.insert(from)
            && is_quorum(granted, cx)
        {
            self.prepare(cx);
        }
    }

    /// 1a, for all places at once. The candidate's own promise is on its disk before another
    /// process hears of the ballot: so it never begins the same ballot in two lives.
    fn prepare(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(ballot) = self.next_ballot(cx.me()) else { return };
        self.promised = Some(ballot);
        self.save(Record::Promise(ballot), cx);
        let promised = [cx.me()].into_iter().collect();
        let mut candidacy = Candidacy { promised, votes: BTreeMap::new(), goal: 0 };
        candidacy.hear(self.votes(), self.limits.adopts);
        self.role = Role::Preparing(Box::new(candidacy));
        self.await_leader(cx);
        cx.multicast(Message::Prepare { ballot, after: self.log.commit() });
        self.lead_if_ready(cx);
    }

    /// Its votes at the places that it does not know to be chosen.
    pub(super) fn votes(&self) -> Vec<(u64, Vote<Entry<C>>)> {
        self.log.votes().iter().map(|(index, vote)| (*index, vote.clone())).collect()
    }

    pub(super) fn on_promise(
        &mut self,
        from: ProcessId,
        ballot: Ballot,
        votes: Vec<(u64, Vote<Entry<C>>)>,
        chosen: Chosen<C>,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_ours = self.promised == Some(ballot);
        let Role::Preparing(candidacy) = &mut self.role else { return };
        if is_ours && candidacy.promised.insert(from) {
            candidacy.hear(votes, self.limits.adopts);
            candidacy.goal = candidacy.goal.max(chosen.commit);
            self.learn(from, chosen, cx);
        }
    }

    /// Leads, when a quorum has promised, and the candidate has learnt all that the quorum knew to
    /// be chosen.
    pub(super) fn lead_if_ready(&mut self, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        let is_ready = |candidacy: &Candidacy<C>| {
            is_quorum(&candidacy.promised, cx) && commit >= candidacy.goal
        };
        let none = Role::Follower { leader: None };
        match std::mem::replace(&mut self.role, none) {
            Role::Preparing(candidacy) if is_ready(&candidacy) => {
                self.lead(candidacy.proposals(commit), cx);
            }
            other => self.role = other,
        }
    }

    /// An acceptor has promised a greater ballot: ours comes to nothing, also if we lead.
    pub(super) fn on_refused(&mut self, promised: Ballot, cx: &mut Cx<'_, Self>) {
        self.seen = self.seen.max(Some(promised));
        if self.own_ballot().is_some_and(|own| own < promised) {
            self.follow(None, cx);
            self.await_leader(cx);
        }
    }

    /// The leader wants us to lead.
    pub(super) fn on_stand(&mut self, from: ProcessId, ballot: Ballot, cx: &mut Cx<'_, Self>) {
        let follows = self.role == Role::Follower { leader: Some(from) };
        if follows && self.promised == Some(ballot) && !self.lost_disk {
            self.prepare(cx);
        }
    }

    /// Lets another lead: it begins a greater ballot.
    pub(super) fn transfer(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        if let Some(ballot) = self.promised.filter(|_| self.leads())
            && to != cx.me()
            && cx.is_member(to)
        {
            cx.send(to, Message::Stand { ballot });
        }
    }

    /// Phase 1 is over: these are proposed first.
    fn lead(&mut self, proposals: Vec<Entry<C>>, cx: &mut Cx<'_, Self>) {
        cx.cancel_timer(Timer::Election);
        let ballot = self.promised.expect("it was prepared");
        cx.output(Event::Leads(ballot.number(cx.group_size())));
        self.begin_to_lead(proposals, cx);
    }
}
