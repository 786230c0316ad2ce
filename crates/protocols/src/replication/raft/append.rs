//! The leader sends its log, and followers copy it.

use super::leadership::{Leadership, reached};
use super::settings::MOST_ENTRIES;
use super::{Line, Message, Position, Raft, Role, Rules, Timer, WINDOW};
use synod_core::replication::{Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet, Protocol};

/// The leader's side.
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// We are elected.
    pub(super) fn lead(&mut self, cx: &mut Cx<'_, Self>) {
        cx.cancel_timer(Timer::Election);
        let began = self.log.last_index() + 1;
        self.role = Role::Leader(Box::new(Leadership::new(began, self.limits.most_beats)));
        cx.output(Event::Leads(self.term));
        // With an entry of our own term, those of earlier terms can be committed.
        self.log.push(Line { term: self.term, entry: Entry::Nothing });
        self.beat(cx);
        self.flush(cx);
    }

    /// Writes an entry, if we lead.
    pub(super) fn append(&mut self, entry: Entry<C>, cx: &mut Cx<'_, Self>) {
        if self.leads() {
            self.log.push(Line { term: self.term, entry });
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

    /// Sends everything that has not been sent, and then writes it down: the disks work at the same
    /// time.
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
            // Whoever is a majority alone hears of nobody.
            self.finish_reads(cx);
        }
    }

    /// Sends each of the others what it lacks; `all`: also to those who lack nothing.
    fn send_to_all(&mut self, all: bool, cx: &mut Cx<'_, Self>) {
        let Role::Leader(leadership) = &mut self.role else { return };
        let mut others = self.log.voters().clone();
        for next in leadership.target.iter().flat_map(ProcessSet::iter) {
            others.insert(next);
        }
        others.remove(cx.me());
        leadership.installs.retain(|to, _| others.contains(*to));
        for to in others.iter() {
            self.send_log(to, all, cx);
        }
    }

    /// Sends what a follower lacks, as far as there is room on the way; `anyway`: also nothing.
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
        let lines = self.log.after(after.index, most).unwrap_or_default().to_vec();
        if lines.is_empty() && !anyway {
            return;
        }
        peer.next += lines.len() as u64;
        let (term, commit) = (self.term, self.commit);
        cx.send(to, Message::Append { term, after, lines, commit, round });
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
        outcome: Result<u64, u64>,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let last = self.log.last_index();
        let Role::Leader(leadership) = &mut self.role else { return };
        if outcome.is_ok_and(|matched| matched > last) || round > leadership.round {
            return cx.accuse(from, "has more than we sent");
        }
        let peer = leadership.peer(from);
        peer.round = peer.round.max(round);
        match outcome {
            Ok(matched) => {
                peer.matched = peer.matched.max(matched);
                peer.next = peer.next.max(peer.matched + 1);
                let matched = peer.matched;
                leadership
                    .installs
                    .retain(|to, install| *to != from || install.last.index > matched);
                self.advance(cx);
                self.send_log(from, false, cx);
            }
            // It lacks something, or has something else: try where it says, if that is new to us.
            Err(hint) => {
                let next = hint.saturating_add(1).clamp(peer.matched + 1, peer.next);
                let goes_back = next < peer.next;
                peer.next = next;
                self.send_log(from, goes_back, cx);
            }
        }
        self.finish_reads(cx);
        self.hand_over(cx);
    }

    /// What a majority has is committed, if it is of our term; what precedes it with it.
    fn advance(&mut self, cx: &mut Cx<'_, Self>) {
        let me = cx.me();
        let Role::Leader(leadership) = &self.role else { return };
        let matched = |at| match at {
            // Our own disk may still be busy; but so is then whatever we say about it.
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
    /// The leader's entries after a place.
    pub(super) fn on_append(
        &mut self,
        from: ProcessId,
        after: Position,
        lines: Vec<Line<C>>,
        commit: u64,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        if lines.len() as u64 > MOST_ENTRIES
            || !lines.iter().all(|line| is_sensible(line, self.term, cx))
        {
            return cx.accuse(from, "sent entries that no leader writes");
        }
        let outcome = self.copy(after, &lines, cx);
        let Ok(outcome) = outcome else {
            return cx.accuse(from, "wants to change what is committed");
        };
        if let Ok(matched) = outcome {
            self.commit = self.commit.max(commit.min(matched));
            self.apply(cx);
        }
        cx.send(from, Message::Appended { term: self.term, outcome, round });
    }

    /// Copies entries into our log. Says how far it agrees, or where to try; an error, if that would
    /// change what is committed.
    fn copy(
        &mut self,
        after: Position,
        lines: &[Line<C>],
        cx: &mut Cx<'_, Self>,
    ) -> Result<Result<u64, u64>, ()> {
        let end = after.index + lines.len() as u64;
        // What is in our snapshot is committed, and the same everywhere.
        let first = self.log.first_kept();
        if end <= first {
            return Ok(Ok(end));
        }
        if after.index >= first && self.log.position(after.index) != Some(after) {
            return Ok(Err(self.hint(after)));
        }
        let differs = |index: &u64| {
            let line = &lines[(index - after.index - 1) as usize];
            self.log.line(*index).is_none_or(|ours| ours.term != line.term)
        };
        let Some(index) = (after.index.max(first) + 1..=end).find(differs) else {
            return Ok(Ok(end));
        };
        if index <= self.commit {
            return Err(());
        }
        self.give_up_installing();
        self.log.replace_after(index - 1, &lines[(index - after.index - 1) as usize..]);
        self.save_after(index - 1, cx);
        Ok(Ok(end))
    }

    /// Where our log might agree, if it does not at `after`: before the term that is wrong there.
    fn hint(&self, after: Position) -> u64 {
        let Some(ours) = self.log.position(after.index) else { return self.log.last_index() };
        let same = |index: &u64| self.log.position(*index).is_some_and(|at| at.term == ours.term);
        let wrong = (self.commit + 1..=after.index).rev().take_while(same).last();
        wrong.map_or(self.commit, |first| first - 1)
    }
}

/// Whether a leader of this term can have written it.
fn is_sensible<C, P: Protocol>(line: &Line<C>, term: u64, cx: &Cx<'_, P>) -> bool {
    let voters = match &line.entry {
        Entry::Voters(voters) => !voters.is_empty() && voters.iter().all(|at| cx.is_member(at)),
        Entry::Nothing | Entry::Command(_) => true,
    };
    voters && line.term <= term
}
