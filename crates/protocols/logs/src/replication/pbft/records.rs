//! The records of a replica, and how it reads them back.
//!
//! A stable checkpoint takes the place of all records before it. A small one is one record. A large
//! state is written in parts, while the replica goes on: first a record that says that it begins,
//! then the log after it, which stands in earlier records and would be forgotten with them.

use super::message::{Certificate, Record, Stable, Whole};
use super::{Pbft, Proof, Rules};
use crate::replication::snapshots::{Writing, save_part};
use serde::{Deserialize, Serialize};
use synod_core::durable::encoded_len;
use synod_core::replication::{Part, Parts};
use synod_core::{Cx, Data, Durable};

/// A checkpoint whose state is being written: its proof, and the length of the log there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) proof: Proof,
    pub(super) index: u64,
}

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// Writes one more record. Messages that are sent after it wait for the disk.
    pub(super) fn save(&mut self, record: &Record<O, S>, cx: &mut Cx<'_, Self>) {
        cx.persist(record);
        self.writing.iter_mut().for_each(|writing| writing.note_record());
    }

    /// Writes the whole state, in the place of all records before.
    pub(super) fn save_all(&mut self, cx: &mut Cx<'_, Self>) {
        self.writing = None;
        cx.checkpoint(&Record::Whole(Box::new(Whole {
            view: self.view,
            changing: self.changing,
            new_view: self.new_view.clone(),
            stable: self.stable.clone(),
            log: self.log.iter().map(|(number, slot)| (*number, slot.kept())).collect(),
            lost_disk: self.lost_disk,
        })));
    }

    /// Writes the stable checkpoint. If an earlier one is still being written, this one follows.
    pub(super) fn save_stable(&mut self, cx: &mut Cx<'_, Self>) {
        if self.writing.is_some() {
            return;
        }
        match self.stable.state.clone().filter(|state| !self.fits_in_a_record(state)) {
            None => self.save_all(cx),
            Some(state) => {
                let Stable { proof, index, .. } = &self.stable;
                let head = Head { proof: proof.clone(), index: *index };
                self.begin_writing(Writing::own(head, state), cx);
                self.work_soon(cx);
            }
        }
    }

    fn fits_in_a_record(&self, state: &S) -> bool {
        let bytes = self.settings.part_bytes;
        let log = || self.log.values().map(|slot| encoded_len(&slot.kept())).sum::<usize>();
        self.has_one_part(state) && log() <= bytes
    }

    /// Says that a checkpoint begins, and writes the log after it once more.
    pub(super) fn begin_writing(&mut self, writing: Box<Writing<Head, S>>, cx: &mut Cx<'_, Self>) {
        let Head { proof, index } = writing.head.clone();
        let (low, lost_disk) = (proof.number, self.lost_disk);
        cx.persist(&Record::Begin { proof, index, lost_disk });
        self.writing = Some(writing);
        if let Some(new) = self.new_view.clone() {
            self.save(&Record::NewView(new), cx);
        }
        if self.changing {
            self.save(&Record::ViewChange(self.view), cx);
        }
        let above = self.log.range(low + 1..);
        let records: Vec<_> = above.flat_map(|(number, slot)| slot.records(*number)).collect();
        for record in &records {
            self.save(record, cx);
        }
    }

    /// Writes the next part of a checkpoint of our own.
    pub(super) fn write_next(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(writing) = &mut self.writing else { return };
        let number = writing.head.proof.number;
        let Some(part) = writing.next_part(self.settings.part_bytes) else { return };
        self.save_part(part, cx);
        if self.writing.is_none() && number < self.low_water_mark() {
            self.save_stable(cx);
        }
    }

    pub(super) fn save_part(&mut self, part: Part<S>, cx: &mut Cx<'_, Self>) {
        save_part(&mut self.writing, part.is_last, &Record::Part(part), cx);
    }

    fn replay_part(&mut self, part: Part<S>) {
        let Some(writing) = &mut self.writing else { return };
        let Some(parts) = writing.incoming().filter(|parts| parts.number() == part.number) else {
            return;
        };
        let Some(state) = parts.join(part) else { return };
        let Head { proof, index } = writing.head.clone();
        self.log.retain(|number, _| *number > proof.number);
        self.stable = Stable { proof, index, state: Some(state) };
        self.writing = None;
    }
}

impl<O: Data, S: Parts, R: Rules> Durable for Pbft<O, S, R> {
    type Record = Record<O, S>;

    fn replay(&mut self, record: Record<O, S>) {
        match record {
            Record::PrePrepare(pre_prepare) => {
                let slot = self.log.entry(pre_prepare.proposal.number).or_default();
                slot.pre_prepare = Some(pre_prepare);
            }
            Record::Prepared(number, prepares) => {
                let slot = self.log.entry(number).or_default();
                let certify = |pre_prepare| Certificate { pre_prepare, prepares };
                slot.prepared = slot.pre_prepare.clone().map(certify);
            }
            Record::ViewChange(view) => (self.view, self.changing) = (view, true),
            Record::NewView(new) => self.replay_new_view(new),
            Record::Whole(whole) => {
                (self.view, self.changing, self.lost_disk) =
                    (whole.view, whole.changing, whole.lost_disk);
                (self.new_view, self.stable, self.log) = (whole.new_view, whole.stable, whole.log);
                self.writing = None;
            }
            Record::Begin { proof, index, lost_disk } => {
                self.lost_disk = lost_disk;
                self.writing = Some(Writing::sent(Head { proof, index }));
            }
            Record::Part(part) => self.replay_part(part),
        }
    }
}
