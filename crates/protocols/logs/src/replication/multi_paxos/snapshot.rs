//! States in the place of the beginning of the log, whole or in parts.
//!
//! A state that fits in one message and in one record goes whole. A larger one goes in parts: to
//! the own disk one after the other, while the log goes on; and to a learner that lacks entries
//! which the snapshot has replaced. The learner asks for each part when it has the last one on its
//! disk. A snapshot on the disk counts when its last part is written; only then the records before
//! it are forgotten.

use super::{Log, Message, MultiPaxos, Record, Rules, Snapshot, Timer};
use serde::{Deserialize, Serialize};
use synod_core::durable::encoded_len;
use synod_core::replication::{Event, Incoming, Outgoing, Part, Parts};
use synod_core::{Cx, Data, ProcessId};

/// A snapshot of which only a part is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "C: Data, S: Parts")]
pub(super) struct Writing<C, S: Parts> {
    index: u64,
    source: Source<S>,
    /// The number of records written since it began, its own among them.
    pub(super) records: u64,
    /// The heartbeats since the last part.
    beats: u64,
    /// While records are read back: the log after it.
    pub(super) log: Option<Log<C, S>>,
}

/// The source of the parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
enum Source<S: Parts> {
    /// From the layer above: the process took the snapshot itself.
    Own(Outgoing<S>),
    /// From another process, or from the disk.
    Sent(Incoming<S>),
}

/// A snapshot on its way to a learner: up to which place it is, and the part that it lacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "S: Parts")]
pub(super) struct Sending<S: Parts> {
    index: u64,
    parts: Outgoing<S>,
}

/// Taking a snapshot.
impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// The layer above hands over the state after a place. While a snapshot is being written there
    /// is no use for another one.
    pub(super) fn compact(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        if index > self.applied || index <= self.log.first_kept() || self.writing.is_some() {
            return;
        }
        self.log.compact(index, state.clone());
        let bytes = self.settings.part_bytes;
        let is_small = || state.part(None, bytes).1.is_none() && self.rest_bytes() <= bytes;
        if self.limits.writes_whole || self.limits.forgetful || is_small() {
            return self.save_all(cx);
        }
        self.begin_writing(index, Source::Own(Outgoing::new(state)), cx);
        self.go_on_writing(cx);
    }

    /// The size of the log after the snapshot, in bytes.
    fn rest_bytes(&self) -> usize {
        let chosen = self.log.after(self.log.first_kept(), usize::MAX);
        encoded_len(&(chosen, self.log.votes()))
    }

    /// Says that a snapshot begins. The records of the log after it stand before this record, and
    /// would be forgotten with all that stands there: they are written again.
    fn begin_writing(&mut self, index: u64, source: Source<S>, cx: &mut Cx<'_, Self>) {
        let (promised, lost_disk) = (self.promised, self.lost_disk);
        cx.persist(&Record::Begin { promised, index, lost_disk });
        let writing = Writing { index, source, records: 1, beats: 0, log: None };
        self.writing = Some(Box::new(writing));
        let most = self.settings.most_entries;
        let chosen = self.log.after(index, usize::MAX).unwrap_or_default().to_vec();
        for (after, entries) in (index..).step_by(most).zip(chosen.chunks(most)) {
            self.save(Record::Learn { after, entries: entries.to_vec() }, cx);
        }
        let commit = self.log.commit();
        let votes: Vec<_> = self.votes();
        for (at, vote) in votes.into_iter().filter(|(at, _)| *at > index) {
            let (ballot, after, entries) = (vote.ballot, at - 1, vec![vote.value]);
            self.save(Record::Accept { ballot, after, entries, commit }, cx);
        }
        // A vote that is read back brings its ballot along; what was promised since comes last.
        if let Some(ballot) = promised {
            self.save(Record::Promise(ballot), cx);
        }
    }

    /// Writes the next part of our own snapshot, and later the one after it.
    pub(super) fn go_on_writing(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(writing) = &mut self.writing else { return };
        let Source::Own(parts) = &mut writing.source else { return };
        let part = parts.take(self.settings.part_bytes);
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
            self.save(Record::Part(part), cx);
        }
    }
}

/// Handing a snapshot on.
impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// Sends a learner the snapshot: whole, or its first part.
    pub(super) fn send_snapshot(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let (snapshot, commit) = (self.log.snapshot().clone(), self.log.commit());
        let parts = snapshot.state.as_ref().map(|state| Outgoing::new(state.clone()));
        let parts = parts.filter(|parts| !parts.part(self.settings.part_bytes).is_last);
        let Some(parts) = parts else {
            return cx.send(to, Message::Install { snapshot, commit });
        };
        self.sending.insert(to, Sending { index: snapshot.index, parts });
        self.send_part(to, cx);
    }

    fn send_part(&mut self, to: ProcessId, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        let Some(Sending { index, parts }) = self.sending.get(&to) else { return };
        let (index, part) = (*index, parts.part(self.settings.part_bytes));
        if part.is_last {
            // If it is lost, the learner asks from the beginning.
            self.sending.remove(&to);
        }
        cx.send(to, Message::InstallPart { index, part, commit });
    }

    /// A learner has all parts before this one.
    pub(super) fn on_lacks_part(
        &mut self,
        from: ProcessId,
        index: u64,
        number: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let bytes = self.settings.part_bytes;
        let sending = self.sending.get_mut(&from).filter(|sending| sending.index == index);
        let is_known = sending.is_some_and(|sending| match sending.parts.number() {
            current if number == current => true,
            current if number == current + 1 => sending.parts.advance(bytes),
            _ => false,
        });
        if is_known { self.send_part(from, cx) } else { self.send_snapshot(from, cx) }
    }
}

/// Installing a snapshot.
impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// A state, in the place of entries that are only in it.
    pub(super) fn on_install(
        &mut self,
        from: ProcessId,
        snapshot: Snapshot<S>,
        commit: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let Some(state) = snapshot.state.clone() else { return };
        let index = snapshot.index;
        if self.leads() || index <= self.log.commit() {
            return;
        }
        self.install(snapshot);
        self.save_all(cx);
        cx.output(Event::Restored { index, state });
        self.go_on_learning(from, commit, cx);
    }

    /// A part of such a state.
    pub(super) fn on_install_part(
        &mut self,
        from: ProcessId,
        index: u64,
        part: Part<S>,
        commit: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        if self.leads() || index <= self.log.commit() {
            return;
        }
        if part.number == 0 {
            self.begin_writing(index, Source::Sent(Incoming::default()), cx);
        }
        let is_next = |parts: &mut Incoming<S>| parts.number() == part.number;
        if !self.incoming(index).is_some_and(is_next) {
            return;
        }
        let state = self.incoming(index).and_then(|parts| parts.join(part.clone()));
        let next = part.number + 1;
        self.save_part(part, cx);
        let Some(state) = state else {
            return cx.send(from, Message::LacksPart { index, number: next });
        };
        self.install(Snapshot { index, state: Some(state.clone()) });
        cx.output(Event::Restored { index, state });
        self.go_on_learning(from, commit, cx);
    }

    /// The parts of the snapshot up to this place that have come.
    fn incoming(&mut self, up_to: u64) -> Option<&mut Incoming<S>> {
        let writing = self.writing.as_deref_mut().filter(|writing| writing.index == up_to)?;
        writing.beats = 0;
        match &mut writing.source {
            Source::Sent(parts) => Some(parts),
            Source::Own(_) => None,
        }
    }

    fn install(&mut self, snapshot: Snapshot<S>) {
        self.applied = snapshot.index;
        self.log.install(snapshot);
    }

    /// Whether this process waits for a part, and heard of one lately. Otherwise it asks anew.
    pub(super) fn waits_for_part(&mut self) -> bool {
        let (patience, commit) = (self.settings.election_ms, self.log.commit());
        let Some(writing) = self.writing.as_deref_mut() else { return false };
        if !matches!(writing.source, Source::Sent(_)) {
            return false;
        }
        writing.beats += 1;
        let waits = writing.beats * self.settings.heartbeat_ms < patience && commit < writing.index;
        if !waits {
            self.writing = None;
        }
        waits
    }
}

/// Reading a snapshot back that was written in parts.
impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    pub(super) fn replay_begin(&mut self, index: u64) {
        let source = Source::Sent(Incoming::default());
        let log = Some(Log::after_state(index));
        self.writing = Some(Box::new(Writing { index, source, records: 0, beats: 0, log }));
    }

    pub(super) fn replay_part(&mut self, part: Part<S>) {
        let Some(mut writing) = self.writing.take() else { return };
        let Source::Sent(parts) = &mut writing.source else { return };
        if parts.number() != part.number {
            return;
        }
        match parts.join(part) {
            None => self.writing = Some(writing),
            Some(state) => {
                self.log = writing.log.take().unwrap_or_default();
                self.log.set_state(state);
            }
        }
    }
}
