//! The records of a server, and how it reads them back.

use super::{Log, Raft, Record, Rules};
use synod_core::replication::Parts;
use synod_core::{Cx, Data, Durable};

impl<C: Data, S: Parts, R: Rules> Raft<C, S, R> {
    /// Writes down the term and the vote.
    pub(super) fn save_ballot(&mut self, cx: &mut Cx<'_, Self>) {
        if self.limits.writes_whole {
            self.save_all(cx);
        } else {
            self.save(&Record::Ballot { term: self.term, vote: self.vote }, cx);
        }
    }

    /// Writes one more record. If a snapshot is being written, the record stands behind its
    /// beginning, and the checkpoint at its end must keep it.
    pub(super) fn save(&mut self, record: &Record<C, S>, cx: &mut Cx<'_, Self>) {
        cx.persist(record);
        if let Some(writing) = &mut self.writing {
            writing.records += 1;
        }
    }

    /// Writes down the entries after a place.
    pub(super) fn save_after(&mut self, after: u64, cx: &mut Cx<'_, Self>) {
        let entries = self.log.after(after, usize::MAX).unwrap_or_default();
        if self.limits.writes_whole {
            self.save_all(cx);
        } else if !entries.is_empty() {
            self.save(&Record::Append { after, entries }, cx);
        }
    }

    /// Writes the whole state, in the place of all records before.
    pub(super) fn save_all(&mut self, cx: &mut Cx<'_, Self>) {
        self.writing = None;
        let keeps = R::KEEPS_VOTES || !self.limits.writes_whole;
        let (term, vote) =
            if keeps { (self.term, self.vote) } else { (self.log.last().term, None) };
        let (snapshot, entries) = (self.log.snapshot().clone(), self.log.to_vec());
        cx.checkpoint(&Record::Whole { term, vote, snapshot, entries, lost_disk: self.lost_disk });
    }
}

impl<C: Data, S: Parts, R: Rules> Durable for Raft<C, S, R> {
    type Record = Record<C, S>;

    fn replay(&mut self, record: Record<C, S>) {
        match record {
            Record::Ballot { term, vote } => (self.term, self.vote) = (term, vote),
            Record::Append { after, entries } => self.replay_append(after, &entries),
            Record::Begin { term, vote, last, voters, lost_disk } => {
                (self.term, self.vote, self.lost_disk) = (term, vote, lost_disk);
                self.replay_begin(last, voters);
            }
            Record::Part(part) => self.replay_part(part),
            Record::Whole { term, vote, snapshot, entries, lost_disk } => {
                (self.term, self.vote, self.lost_disk) = (term, vote, lost_disk);
                (self.log, self.writing) = (Log::restored(snapshot, entries), None);
            }
        }
    }
}
