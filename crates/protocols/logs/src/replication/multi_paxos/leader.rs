//! Phase 2: the leader proposes, and counts who has accepted.

use super::{Message, MultiPaxos, Record, Role, Rules, Timer, is_quorum};
use crate::replication::settings::within_bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use synod_agreement::consensus::ballot::Ballot;
use synod_core::replication::{Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// The state of a leader beside its log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data")]
pub(super) struct Leadership<C> {
    /// The entries that it has not proposed yet.
    pub(super) pending: Vec<Entry<C>>,
    /// Whether a flush will propose them.
    unsent: bool,
    /// The last place at which it proposed.
    last: u64,
    /// The last place that an earlier leader may have used.
    pub(super) began: u64,
    /// The acceptors of its proposals, at the places that are not chosen.
    tally: BTreeMap<u64, ProcessSet>,
    /// The answers to proposals up to here should have come by now.
    overdue: u64,
    /// The number of the last heartbeat. An acceptor that answers it had promised no greater
    /// ballot when it did.
    pub(super) round: u64,
    /// The last heartbeat that each has answered.
    pub(super) answered: BTreeMap<ProcessId, u64>,
    /// The processes that answered since this leader last asked itself whether to resign.
    heard: ProcessSet,
    /// The number of heartbeats since then.
    beats: u64,
    /// For explorers: the heartbeats that it may still send.
    beats_left: u64,
    /// Reads, and the heartbeat whose answers they wait for.
    pub(super) reads: VecDeque<(u64, u64)>,
}

impl<C: Data> Leadership<C> {
    /// The number of open places.
    pub(super) fn open(&self, commit: u64) -> usize {
        self.pending.len() + self.last.saturating_sub(commit) as usize
    }

    /// The leader steps down: its reads cannot be answered here.
    pub(super) fn resign<S: Parts, R: Rules>(self, cx: &mut Cx<'_, MultiPaxos<C, S, R>>) {
        cx.cancel_timer(Timer::Heartbeat);
        cx.cancel_timer(Timer::Flush);
        for (number, _) in self.reads {
            cx.output(Event::Unreadable(number));
        }
    }
}

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// Leads from now on. First of all it proposes what may be chosen already.
    pub(super) fn begin_to_lead(&mut self, pending: Vec<Entry<C>>, cx: &mut Cx<'_, Self>) {
        let last = self.log.commit();
        let is_idle = pending.is_empty();
        self.role = Role::Leader(Box::new(Leadership {
            began: last + pending.len() as u64,
            pending,
            unsent: false,
            last,
            tally: BTreeMap::new(),
            overdue: last,
            round: 0,
            answered: BTreeMap::new(),
            heard: ProcessSet::EMPTY,
            beats: 0,
            beats_left: self.limits.most_beats,
            reads: VecDeque::new(),
        }));
        // Otherwise they hear of us by what we propose.
        if is_idle && self.may_beat() {
            self.begin_round(cx);
        }
        self.beat(cx);
        self.flush(cx);
    }

    /// Proposes an entry, if we lead.
    pub(super) fn propose(&mut self, entry: Entry<C>, cx: &mut Cx<'_, Self>) {
        if let Role::Leader(leadership) = &mut self.role {
            leadership.pending.push(entry);
            self.flush_soon(cx);
        }
    }

    /// Sends what there is, together with what else comes now.
    pub(super) fn flush_soon(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if !self.settings.batches {
            self.flush(cx);
        } else if !std::mem::replace(&mut leadership.unsent, true) {
            cx.set_timer(Timer::Flush, 0);
        }
    }

    /// Sends everything that has not been sent.
    pub(super) fn flush(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.unsent = false;
        if leadership.reads.back().is_some_and(|(_, round)| *round > leadership.round) {
            self.begin_round(cx);
            // A group of one is its own quorum.
            self.finish_reads(cx);
        }
        self.propose_pending(cx);
    }

    /// 2a: proposes at the next places, and then accepts it itself: the disks work at the same
    /// time. What it says when it is chosen waits for its own disk.
    fn propose_pending(&mut self, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        let (most, bytes) = (self.settings.most_entries, self.settings.most_bytes);
        let Some(ballot) = self.promised else { return };
        let Role::Leader(leadership) = &mut self.role else { return };
        let entries = std::mem::take(&mut leadership.pending);
        if entries.is_empty() {
            return;
        }
        let after = leadership.last;
        leadership.last += entries.len() as u64;
        let (mut index, mut rest) = (after, &entries[..]);
        while !rest.is_empty() {
            let chunk = within_bytes(&rest[..rest.len().min(most)], bytes);
            let entries = chunk.to_vec();
            cx.multicast(Message::Accept { ballot, after: index, entries, commit });
            index += chunk.len() as u64;
            rest = &rest[chunk.len()..];
        }
        let last = leadership.last;
        self.log.accept(ballot, after, &entries);
        self.save(Record::Accept { ballot, after, entries, commit }, cx);
        self.count(cx.me(), after, last, cx);
    }

    /// 2b, from another acceptor.
    pub(super) fn on_accepted(
        &mut self,
        from: ProcessId,
        ballot: Ballot,
        after: u64,
        last: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_ours = self.promised == Some(ballot);
        let Role::Leader(leadership) = &mut self.role else { return };
        if is_ours && last > leadership.last {
            return cx.accuse(from, "accepted what was not proposed");
        }
        if is_ours {
            leadership.heard.insert(from);
            self.count(from, after, last, cx);
        }
    }

    /// Counts an acceptor. Entries that a quorum has accepted are chosen, in the order of the log.
    fn count(&mut self, who: ProcessId, after: u64, last: u64, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        let Role::Leader(leadership) = &mut self.role else { return };
        for index in after.max(commit) + 1..=last {
            leadership.tally.entry(index).or_default().insert(who);
        }
        let mut reached = commit;
        while leadership.tally.get(&(reached + 1)).is_some_and(|those| is_quorum(those, cx)) {
            reached += 1;
            leadership.tally.remove(&reached);
        }
        if reached > commit {
            self.log.choose(self.promised, reached);
            self.apply(cx);
            self.finish_reads(cx);
        }
    }

    pub(super) fn on_heartbeat_due(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() && !self.resigns(cx) {
            self.begin_round(cx);
            self.propose_again(cx);
            self.beat(cx);
        }
    }

    /// The next heartbeat: shows that we lead, how far the log is chosen, and asks for an answer.
    fn begin_round(&mut self, cx: &mut Cx<'_, Self>) {
        let (commit, Some(ballot)) = (self.log.commit(), self.promised) else { return };
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.round += 1;
        cx.multicast(Message::Heartbeat { ballot, commit, round: leadership.round });
    }

    /// The next heartbeat is due after a while.
    fn beat(&mut self, cx: &mut Cx<'_, Self>) {
        if self.may_beat() {
            cx.set_timer(Timer::Heartbeat, self.settings.heartbeat_ms);
        }
    }

    /// Whether it may send another heartbeat.
    fn may_beat(&mut self) -> bool {
        let Role::Leader(leadership) = &mut self.role else { return false };
        let left = leadership.beats_left;
        leadership.beats_left = left.saturating_sub(1);
        left > 0
    }

    /// A leader whom no quorum answered for an election timeout gives way: another process may
    /// reach a quorum.
    fn resigns(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let Role::Leader(leadership) = &mut self.role else { return false };
        leadership.beats += 1;
        if leadership.beats * self.settings.heartbeat_ms < self.settings.election_ms {
            return false;
        }
        let mut heard = std::mem::take(&mut leadership.heard);
        leadership.beats = 0;
        heard.insert(cx.me());
        let gives_way = !is_quorum(&heard, cx);
        if gives_way {
            self.follow(None, cx);
            self.await_leader(cx);
        }
        gives_way
    }

    /// 2a once more, to those who have not answered for a while.
    fn propose_again(&mut self, cx: &mut Cx<'_, Self>) {
        let (commit, Some(ballot)) = (self.log.commit(), self.promised) else { return };
        let Role::Leader(leadership) = &mut self.role else { return };
        let overdue = std::mem::replace(&mut leadership.overdue, leadership.last);
        for to in cx.others() {
            let lacks = |those: &ProcessSet| !those.contains(to);
            let mut open = leadership.tally.iter().take_while(|(index, _)| **index <= overdue);
            let Some((first, _)) = open.find(|(_, those)| lacks(those)) else { continue };
            let votes = self.log.votes().range(first..=&leadership.last);
            let votes = votes.take(self.settings.most_entries);
            let entries: Vec<_> = votes.map(|(_, vote)| vote.value.clone()).collect();
            let entries = within_bytes(&entries, self.settings.most_bytes).to_vec();
            cx.send(to, Message::Accept { ballot, after: first - 1, entries, commit });
        }
    }

    /// An acceptor answers a heartbeat.
    pub(super) fn on_alive(
        &mut self,
        from: ProcessId,
        ballot: Ballot,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_ours = self.promised == Some(ballot);
        let Role::Leader(leadership) = &mut self.role else { return };
        if is_ours && round > leadership.round {
            return cx.accuse(from, "answers a heartbeat that was not sent");
        }
        if is_ours {
            leadership.heard.insert(from);
            let answered = leadership.answered.entry(from).or_default();
            *answered = round.max(*answered);
            self.finish_reads(cx);
        }
    }
}
