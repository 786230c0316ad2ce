//! Stable storage, for the protocols that need it; the others never mention it.
//!
//! The contract is etcd's: effects are carried out in order, and **messages and outputs that follow
//! a `persist` wait for the disk**. So a message that depends on a record never leaves before the
//! record is safe. (Timers and accusations stay inside the process and do not wait.) A restart
//! begins with the initial value and replays the records that reached the disk, in order, from the
//! last checkpoint.

use crate::cx::{Cx, Effect};
use crate::protocol::{Data, Protocol};
use serde::{Deserialize, Serialize};

/// A protocol whose process survives a crash.
pub trait Durable: Protocol {
    /// One entry of its log.
    type Record: Data;

    /// Takes one record of the log back in. Called on the initial value, before `on_start`, once
    /// for each record that reached the disk.
    fn replay(&mut self, record: Self::Record);
}

/// A record as the disk holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Record(pub Vec<u8>);

/// A record that the protocol cannot read: another version wrote it, or the disk lies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record of {length} bytes cannot be read back: {reason}")]
pub struct BadRecord {
    length: usize,
    reason: String,
}

/// How many bytes a value takes up in a record or in a message.
pub fn encoded_len<T: Serialize + ?Sized>(value: &T) -> usize {
    // The format can fail only on lists of unknown length and on foreign impls of Serialize.
    postcard::serialize_with_flavor(value, postcard::ser_flavors::Size::default())
        .expect("values are plain data")
}

impl Record {
    fn write<R: Data>(record: &R) -> Record {
        // The format can fail only on lists of unknown length and on foreign impls of Serialize.
        Record(postcard::to_allocvec(record).expect("records are plain data"))
    }

    fn read<R: Data>(&self) -> Result<R, BadRecord> {
        postcard::from_bytes(&self.0)
            .map_err(|error| BadRecord { length: self.0.len(), reason: error.to_string() })
    }
}

impl<P: Durable> Cx<'_, P> {
    /// Writes a record to the log. Messages and outputs after this wait until it is on the disk.
    pub fn persist(&mut self, record: &P::Record) {
        self.push(Effect::Persist(Record::write(record)));
    }

    /// Writes a record that makes all earlier ones superfluous: the log begins with it. A process
    /// that crashes meanwhile finds either the old log or the new one. So replaying the record must
    /// give the same state after any other records.
    pub fn checkpoint(&mut self, record: &P::Record) {
        self.checkpoint_keeping(record, 0);
    }

    /// Writes a record that, together with the `keep` records right before it, makes all earlier
    /// ones superfluous: the log begins with those. So a large checkpoint is written in parts, with
    /// other records between them, and counts when its last part is on the disk. Until then a
    /// process that crashes finds the old log, and the parts behind it.
    pub fn checkpoint_keeping(&mut self, record: &P::Record, keep: u64) {
        self.push(Effect::Checkpoint { record: Record::write(record), keep });
    }

    /// Like [`Cx::below`], for a durable layer below: its records go into the log of this one.
    #[must_use = "the outputs of the layer below are events for this one"]
    pub fn below_durable<L>(
        &mut self,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) -> smallvec::SmallVec<[L::Output; 1]>
    where
        L: Durable,
        P::Message: From<L::Message>,
        P::Timer: From<L::Timer>,
        P::Record: From<L::Record>,
    {
        self.cross(None, step, |record| {
            let record: L::Record = record.read().expect("the layer below has just written it");
            Record::write(&P::Record::from(record))
        })
    }
}

impl<P: Durable> Cx<'_, P> {
    /// Like [`Cx::below_durable`], for a layer below with the same type of records.
    #[must_use = "the outputs of the layer below are events for this one"]
    pub fn below_logged<L>(
        &mut self,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) -> smallvec::SmallVec<[L::Output; 1]>
    where
        L: Durable<Record = P::Record>,
        P::Message: From<L::Message>,
        P::Timer: From<L::Timer>,
    {
        self.cross(None, step, |record| record)
    }
}

/// Replays one record. An [`Algorithm`](crate::Algorithm) with a disk names this function as its
/// `REPLAY`.
pub fn replay<P: Durable>(state: &mut P, record: &Record) -> Result<(), BadRecord> {
    state.replay(record.read()?);
    Ok(())
}
