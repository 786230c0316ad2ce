//! Snapshots (section 7): the state in the place of the beginning of the log.
//!
//! A state that fits in one message and in one record goes whole. A larger one goes in parts, each
//! small enough that heartbeats and entries pass between two of them: to the own disk, one part
//! after the other, while the log goes on; and to a follower that lacks entries which the leader
//! has no more (InstallSnapshot, figure 13), the next part when it has the last one on its disk.
//!
//! On the disk a snapshot begins with a record that says so, and counts when its last part is
//! written; only then the records before it are forgotten. A server that crashes on the way finds
//! the old log.

use super::{Log, LogEntry, Message, Outcome, Position, Raft, Record, Rules, Snapshot, Timer};
use serde::{Deserialize, Serialize};
use synod_core::durable::encoded_len;
use synod_core::replication::{Event, Incoming, Outgoing, Part, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// A snapshot of which only a part is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Parts")]
pub(super) struct Writing<C, S: Parts> {
    last: Position,
    voters: ProcessSet,
    source: Source<S>,
    /// The number of records written since it began, its own among them.
    pub(super) records: u64,
    /// While records are read back: the entries after it.
    entries: Vec<LogEntry<C>>,
}

/// The source of the parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
enum Source<S: Parts> {
    /// From the layer above: the server took the snapshot itself.
    Own(Outgoing<S>),
    /// From the leader, or from the disk.
    Sent(Incoming<S>),
}

/// Taking a snapshot.
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// The layer above hands over the state after an entry. While a snapshot is being written there
    /// is no use for another one.
    pub(super) fn compact(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        if index > self.applied || index <= self.log.first_kept() || self.writing.is_some() {
            return;
        }
        self.log.compact(index, state.clone());
        if self.limits.writes_whole || self.fits_in_a_record(&state) {
            return self.save_all(cx);
        }
        let Snapshot { last, voters, .. } = self.log.snapshot().clone();
        self.begin_writing(last, voters, Source::Own(Outgoing::new(state)), cx);
        self.go_on_writing(cx);
    }

    fn fits_in_a_record(&self, state: &S) -> bool {
        let bytes = self.settings.part_bytes;
        state.part(None, bytes).1.is_none() && encoded_len(&self.log.to_vec()) <= bytes
    }

    /// Says that a snapshot begins. The entries after it are on the disk in records before this
    /// one, which the checkpoint at its end forgets: so they are written again.
    fn begin_writing(
        &mut self,
        last: Position,
        voters: ProcessSet,
        source: Source<S>,
        cx: &mut Cx<'_, Self>,
    ) {
        let (term, vote, lost_disk) = (self.term, self.vote, self.lost_disk);
        cx.persist(&Record::Begin { term, vote, last, voters: voters.clone(), lost_disk });
        let writing = Writing { last, voters, source, records: 1, entries: Vec::new() };
        self.writing = Some(Box::new(writing));
        if self.log.position(last.index) != Some(last) {
            return;
        }
        let entries = self.log.after(last.index, usize::MAX).unwrap_or_default();
        let mut after = last.index;
        for chunk in in_chunks(&entries, self.settings.part_bytes) {
            self.save(&Record::Append { after, entries: chunk.to_vec() }, cx);
            after += chunk.len() as u64;
        }
    }

    /// Writes the next part of our own snapshot, and later the one after it.
    pub(super) fn go_on_writing(&mut self, cx: &mut Cx<'_, Self>) {
        let bytes = self.settings.part_bytes;
        let Some(writing) = &mut self.writing else { return };
        let Source::Own(parts) = &mut writing.source else { return };
        let part = parts.take(bytes);
        if !part.is_last {
            // Everything that waits for the disk now waits for one part at most.
            cx.set_timer(Timer::Snapshot, (self.settings.heartbeat_ms / 4).max(1));
        }
        self.save_part(part, cx);
    }

    /// Writes a part. With the last one the snapshot counts, and what was before it is forgotten.
    fn save_part(&mut self, part: Part<S>, cx: &mut Cx<'_, Self>) {
        if part.is_last {
            let keep = self.writing.take().map_or(0, |writing| writing.records);
            cx.checkpoint_keeping(&Record::Part(part), keep);
        } else {
            self.save(&Record::Part(part), cx);
        }
    }

    /// The log changed in a way that a snapshot which the leader sends does not know of.
    pub(super) fn give_up_installing(&mut self) {
        self.writing.take_if(|writing| matches!(writing.source, Source::Sent(_)));
    }
}

/// Entries that fit in a record together.
fn in_chunks<T: Serialize>(items: &[T], bytes: usize) -> impl Iterator<Item = &[T]> {
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut used = 0;
        let fits = |item: &&T| {
            let is_begun = used < bytes;
            used += encoded_len(*item);
            is_begun
        };
        let length = rest.iter().take_while(fits).count();
        let (chunk, after) = rest.split_at_checked(length).filter(|_| length > 0)?;
        rest = after;
        Some(chunk)
    })
}

/// Installing a snapshot (figure 13).
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// The leader's state, whole, in the place of entries that its snapshot has replaced.
    pub(super) fn on_install(
        &mut self,
        from: ProcessId,
        snapshot: Snapshot<S>,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let is_sound = self.is_sound(snapshot.last, &snapshot.voters, cx);
        let Some(state) = snapshot.state.clone().filter(|_| is_sound) else {
            return cx.accuse(from, "sent a state that no leader has");
        };
        let index = snapshot.last.index;
        if index > self.commit {
            self.install(snapshot);
            self.save_all(cx);
            cx.output(Event::Restored { index, state });
        }
        cx.send(
            from,
            Message::Appended { term: self.term, outcome: Outcome::Agrees(index), round },
        );
    }

    /// A part of the leader's state.
    pub(super) fn on_install_part(
        &mut self,
        from: ProcessId,
        (last, voters): (Position, ProcessSet),
        part: Part<S>,
        round: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let (term, index) = (self.term, last.index);
        if !self.is_sound(last, &voters, cx) {
            return cx.accuse(from, "sent a state that no leader has");
        }
        if index <= self.commit {
            return cx
                .send(from, Message::Appended { term, outcome: Outcome::Agrees(index), round });
        }
        // 2. Create new snapshot file if first chunk.
        if part.number == 0 {
            self.begin_writing(last, voters.clone(), Source::Sent(Incoming::default()), cx);
        }
        let is_next = |parts: &Incoming<S>| parts.number() == part.number;
        match self.incoming(last) {
            Some(parts) if is_next(parts) => {}
            // 4. Reply and wait for more data chunks: this one is not the next.
            parts => {
                let next = parts.map_or(0, |parts| parts.number());
                return cx.send(from, Message::PartTaken { term, last, next, round });
            }
        }
        let state = self.incoming(last).and_then(|parts| parts.join(part.clone()));
        let next = part.number + 1;
        self.save_part(part, cx);
        let Some(state) = state else {
            return cx.send(from, Message::PartTaken { term, last, next, round });
        };
        // 6 to 8. It is all there: it takes the place of the log, as far as that does not agree.
        self.install(Snapshot { last, voters, state: Some(state.clone()) });
        cx.output(Event::Restored { index, state });
        cx.send(from, Message::Appended { term, outcome: Outcome::Agrees(index), round });
    }

    /// The parts of the snapshot up to this place that have come.
    fn incoming(&mut self, up_to: Position) -> Option<&mut Incoming<S>> {
        match self.writing.as_deref_mut() {
            Some(Writing { last, source: Source::Sent(parts), .. }) if *last == up_to => {
                Some(parts)
            }
            _ => None,
        }
    }

    fn install(&mut self, snapshot: Snapshot<S>) {
        let index = snapshot.last.index;
        self.log.install(snapshot);
        (self.commit, self.applied) = (index, index);
    }

    /// Whether a leader of this term can have such a snapshot.
    fn is_sound(&self, last: Position, voters: &ProcessSet, cx: &Cx<'_, Self>) -> bool {
        let are_members = !voters.is_empty() && voters.iter().all(|at| cx.is_member(at));
        last.term <= self.term && are_members
    }
}

/// Reading a snapshot back that was written in parts.
impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    pub(super) fn replay_begin(&mut self, last: Position, voters: ProcessSet) {
        let source = Source::Sent(Incoming::default());
        let writing = Writing { last, voters, source, records: 0, entries: Vec::new() };
        self.writing = Some(Box::new(writing));
    }

    /// Entries belong to the log that was there before, if it is still there, and to the one that
    /// begins with the snapshot, if it gets so far.
    pub(super) fn replay_append(&mut self, after: u64, entries: &[LogEntry<C>]) {
        if (self.log.first_kept()..=self.log.last_index()).contains(&after) {
            self.log.replace_after(after, entries);
        }
        let Some(writing) = &mut self.writing else { return };
        let Some(keep) = after.checked_sub(writing.last.index) else { return };
        if keep <= writing.entries.len() as u64 {
            writing.entries.truncate(keep as usize);
            writing.entries.extend_from_slice(entries);
        }
    }

    pub(super) fn replay_part(&mut self, part: Part<S>) {
        let Some(mut writing) = self.writing.take() else { return };
        let Source::Sent(parts) = &mut writing.source else { return };
        if parts.number() != part.number {
            return;
        }
        let Some(state) = parts.join(part) else {
            self.writing = Some(writing);
            return;
        };
        let Writing { last, voters, entries, .. } = *writing;
        self.log = Log::restored(Snapshot { last, voters, state: Some(state) }, entries);
    }
}
