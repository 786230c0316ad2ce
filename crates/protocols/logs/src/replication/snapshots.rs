//! A snapshot on its way to the disk, part by part: the same for all engines.
//!
//! On the disk a snapshot begins with a record of its engine that says so. Its parts follow, with
//! other records between them. It counts when its last part is written: only then the records
//! before its beginning are forgotten, and all records since are kept. A process that crashes on
//! the way finds the old log.

use serde::{Deserialize, Serialize};
use synod_core::replication::{Incoming, Outgoing, Part, Parts};
use synod_core::{Cx, Data, Durable};

/// A snapshot of which only the first parts are on the disk. The head holds what its engine must
/// know of it besides the state: for instance, up to which entry it goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "H: Data, S: Parts")]
pub(super) struct Writing<H, S: Parts> {
    pub(super) head: H,
    source: Source<S>,
    /// The number of records written since it began, its own among them.
    records: u64,
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

impl<H: Data, S: Parts> Writing<H, S> {
    /// A snapshot that this process took itself. Its first record is written.
    pub(super) fn own(head: H, state: S) -> Box<Self> {
        Box::new(Writing { head, source: Source::Own(Outgoing::new(state)), records: 1 })
    }

    /// A snapshot whose parts come from another process, or are read back from the disk.
    pub(super) fn sent(head: H) -> Box<Self> {
        Box::new(Writing { head, source: Source::Sent(Incoming::default()), records: 1 })
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self.source, Source::Own(_))
    }

    /// One more record is on its way to the disk. The checkpoint at the end must keep it.
    pub(super) fn note_record(&mut self) {
        self.records += 1;
    }

    /// The next part of a snapshot that this process took itself.
    pub(super) fn next_part(&mut self, bytes: usize) -> Option<Part<S>> {
        match &mut self.source {
            Source::Own(parts) => Some(parts.take(bytes)),
            Source::Sent(_) => None,
        }
    }

    /// The parts that have come from another process, or from the disk.
    pub(super) fn incoming(&mut self) -> Option<&mut Incoming<S>> {
        match &mut self.source {
            Source::Own(_) => None,
            Source::Sent(parts) => Some(parts),
        }
    }
}

/// Writes a part, `record`. With the last one the snapshot counts, and all records before its
/// beginning are forgotten.
pub(super) fn save_part<P: Durable, H: Data, S: Parts>(
    writing: &mut Option<Box<Writing<H, S>>>,
    is_last: bool,
    record: &P::Record,
    cx: &mut Cx<'_, P>,
) {
    if is_last {
        let keep = writing.take().map_or(0, |writing| writing.records);
        cx.checkpoint_keeping(record, keep);
    } else {
        cx.persist(record);
        writing.iter_mut().for_each(|writing| writing.note_record());
    }
}
