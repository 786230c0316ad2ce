//! Log replication (section 5.3): the leader sends its log, and followers copy it.

use super::leadership::{Leadership, reached};
use super::settings::MOST_ENTRIES;
use super::{LogEntry, Message, Outcome, Position, Raft, Role, Rules, Timer, WINDOW};
use crate::replication::settings::within_bytes;
use synod_core::replication::{Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol};

/// The leader's side.
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Figure 2, leaders: upon election.
    pub(super) fn lead(&mut self, cx: &mut Cx<'_, Self>) {
        cx.cancel_timer(Timer::Election);
        let began = self.log.last_index() + 1;
        self.role = Role::Leader(Box::new(Leadership::new(began, self.limits.most_beats)));
        cx.output(Event::Leads(self.term));
        // With an entry of our own term, those of earlier terms can be committed.
        self.log.push(LogEntry { term: self.term, entry: Entry::Nothing });
        self.beat(cx);
        self.flush(cx);
    }

    /// Writes an entry, if we lead.
    pub(super) fn append(&mut self, entry: Entry<C>, cx: &mut Cx<'_, Self>) {
        if self.leads() {
            self.log.push(LogEntry { term: self.term, entry });
            self.flush_soon(cx);
        }
    }

    /// Sends the new entries, together with those that come in the same moment.
    pub(super) fn flush_soon(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if !self.settings.batches {
            self.flush(cx);
        } else if !std::mem::replace(&mut leadership.unsent, true) {
            cx.set_timer(Timer::Flush, 0);
        }
    }

    /// Sends the entries that have not been sent, and then writes them down: so the disks of the
    /// leader and of its followers work at the same time.
    pub(super) fn flush(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.unsent = false;
        let (written, last) = (leadership.written, self.log.last_index());
        leadership.written = last;
        let rounds = leadership.reads.back().is_some_and(|(_, round)| *round > leadership.round);
        if rounds {
            self.begin_round(cx);
        }
        self.send_to_all(rounds, cx);
        if written < last {
            self.save_after(written, cx);
            self.advance(cx);
        }
        if rounds {
            // A leader that is a majority alone gets no answers.
            self.finish_reads(cx);
        }
    }

    /// Sends each of the others the entries that it lacks; `all`: also to those that lack none.
    fn send_to_all(&mut self, all: bool, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let mut others = self.log.voters().clone();
        for next in leadership.next_voters.iter().flat_map(ProcessSet::iter) {
            others.insert(next);
        }
        others.remove(cx.me());
        leadership.installs.retain(|to, _| others.contains(*to));
        for to in others.iter() {
            self.send_log(to, all, cx);
        }
    }

    /// Sends a follower the entries that it lacks, as far as its window has room; `anyway`: also
    /// without entries, as a heartbeat.
    fn send_log(&mut self, to: ProcessId, anyway: bool, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if leadership.installs.contains_key(&to) {
            if anyway {
                self.beat_between_parts(to, cx);
            }
            return;
        }
        let round = leadership.round;
        let peer = leadership.peer(to);
        let Some(after) = self.log.position(peer.next - 1) else {
            return self.send_snapshot(to, cx);
        };
        let is_full = peer.next - 1 - peer.matched.min(peer.next - 1) >= WINDOW as u64;
        let most = if is_full { 0 } else { self.settings.most_entries };
        let mut entries = self.log.after(after.index, most).unwrap_or_default();
        let fits = within_bytes(&entries, self.settings.most_bytes).len();
        entries.truncate(fits);
        if entries.is_empty() && !anyway {
            return;
        }
        peer.next += entries.len() as u64;
        let (term, commit) = (self.term, self.commit);
        cx.send(to, Message::Append { term, after, entries, commit, round });
    }

    pub(super) fn on_heartbeat_due(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() && !self.gives_way(cx) {
            self.begin_round(cx);
            self.send_to_all(true, cx);
            self.beat(cx);
        }
    }

    /// The next heartbeat is due after a while.
    fn beat(&mut self, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if leadership.beats_left > 0 {
            leadership.beats_left -= 1;
            cx.set_timer(Timer::Heartbeat, self.settings.heartbeat_ms);
        }
    }

    /// A follower answers.
    pub(super) fn on_appended(
        &mut self,
        from: ProcessId,
        outcome: Outcome,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let last = self.log.last_index();
        let Role::Leader(leadership) = &mut self.role else { return };
        let has_more = matches!(outcome, Outcome::Agrees(matched) if matched > last);
        if has_more || round > leadership.round {
            return cx.accuse(from, "has more than we sent");
        }
        let peer = leadership.peer(from);
        peer.round = peer.round.max(round);
        match outcome {
            Outcome::Agrees(matched) => {
                peer.matched = peer.matched.max(matched);
                peer.next = peer.next.max(peer.matched + 1);
                let matched = peer.matched;
                leadership
                    .installs
                    .retain(|to, install| *to != from || install.last.index > matched);
                self.advance(cx);
                self.send_log(from, false, cx);
            }
            // Its log is shorter, or conflicts: go back to the place that it names, if that is
            // farther back than before.
            Outcome::Differs(hint) => {
                let next = hint.saturating_add(1).clamp(peer.matched + 1, peer.next);
                let goes_back = next < peer.next;
                peer.next = next;
                self.send_log(from, goes_back, cx);
            }
        }
        self.finish_reads(cx);
        self.hand_over(cx);
    }

    /// Figure 2, leaders: an entry of the current term that a majority has is committed, and all
    /// entries before it with it (sections 5.3 and 5.4.2).
    fn advance(&mut self, cx: &mut Cx<'_, Self>) {
        let me = cx.me();
        let Role::Leader(leadership) = &self.role else { return };
        let matched = |at| match at {
            // Our own disk may still be busy; the messages that follow wait for it.
            at if at == me => leadership.written,
            at => leadership.peers.get(&at).map_or(0, |peer| peer.matched),
        };
        let index = reached(self.log.voters(), matched);
        let is_ours = self.log.position(index).is_some_and(|at| at.term == self.term);
        if index > self.commit && (is_ours || !R::COMMITS_ONLY_ITS_OWN_TERM) {
            self.commit = index;
            self.apply(cx);
            self.go_on_changing(cx);
        }
    }
}

/// The followers' side.
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Figure 2, AppendEntries RPC: the leader's entries after a place. Step 1, the term, was
    /// checked before.
    pub(super) fn on_append(
        &mut self,
        from: ProcessId,
        after: Position,
        entries: Vec<LogEntry<C>>,
        commit: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        if entries.len() as u64 > MOST_ENTRIES
            || !entries.iter().all(|entry| is_sensible(entry, self.term, cx))
        {
            return cx.accuse(from, "sent entries that no leader writes");
        }
        let Some(outcome) = self.copy(after, &entries, cx) else {
            return cx.accuse(from, "wants to change what is committed");
        };
        // 5. If leaderCommit > commitIndex, set commitIndex to the lesser of it and the last new
        //    entry.
        if let Outcome::Agrees(matched) = outcome {
            self.commit = self.commit.max(commit.min(matched));
            self.apply(cx);
        }
        cx.send(from, Message::Appended { term: self.term, outcome, round });
    }

    /// Copies entries into our log. None, if that would replace a committed entry.
    fn copy(
        &mut self,
        after: Position,
        entries: &[LogEntry<C>],
        cx: &mut Cx<'_, Self>,
    ) -> Option<Outcome> {
        let end = after.index + entries.len() as u64;
        // The entries in our snapshot are committed, and the same everywhere.
        let first = self.log.first_kept();
        if end <= first {
            return Some(Outcome::Agrees(end));
        }
        // 2. Reply false if the log has no entry at prevLogIndex whose term matches prevLogTerm.
        if after.index >= first && self.log.position(after.index) != Some(after) {
            return Some(Outcome::Differs(self.hint(after)));
        }
        let differs = |index: &u64| {
            let entry = &entries[(index - after.index - 1) as usize];
            self.log.entry(*index).is_none_or(|ours| ours.term != entry.term)
        };
        let Some(index) = (after.index.max(first) + 1..=end).find(differs) else {
            return Some(Outcome::Agrees(end));
        };
        if index <= self.commit {
            return None;
        }
        // 3. and 4. Delete the entries that conflict, and append those that are not in the log.
        self.give_up_installing();
        self.log.replace_after(index - 1, &entries[(index - after.index - 1) as usize..]);
        self.save_after(index - 1, cx);
        Some(Outcome::Agrees(end))
    }

    /// Section 5.3: where our log might agree, if it does not at `after`: before the first entry of
    /// the term that conflicts there.
    fn hint(&self, after: Position) -> u64 {
        let Some(ours) = self.log.position(after.index) else { return self.log.last_index() };
        let same = |index: &u64| self.log.position(*index).is_some_and(|at| at.term == ours.term);
        let wrong = (self.commit + 1..=after.index).rev().take_while(same).last();
        wrong.map_or(self.commit, |first| first - 1)
    }
}

/// Whether a leader of this term can have written it.
fn is_sensible<C, P: Protocol>(entry: &LogEntry<C>, term: u64, cx: &Cx<'_, P>) -> bool {
    let voters = match &entry.entry {
        Entry::Voters(voters) => !voters.is_empty() && voters.iter().all(|at| cx.is_member(at)),
        Entry::Nothing | Entry::Command(_) => true,
    };
    voters && entry.term <= term
}
