//! The registry's log on the disk, and the thread that writes it.
//!
//! A sync takes from half a millisecond to many. So no thread that keeps time waits for one: the
//! thread here copies the records that wait, writes them with one sync, and then lets the cell
//! carry out what waited for them.

use super::RegistryCell;
use crate::report::Reporter;
use std::io;
use std::path::Path;
use std::sync::Arc;
use synod_core::durable::Record;
use synod_wal::{Durability, Files, Log, Opened, Settings, open};

/// A new segment is filled with zeros, so a small one is made quickly.
const SEGMENT_BYTES: u64 = 1 << 20;

/// The log of a registry.
pub(crate) struct RegistryDisk {
    log: Log<Files>,
}

impl RegistryDisk {
    /// Opens the log, and reads its records. `is_new` says whether this call made it.
    pub(crate) fn open(
        directory: &Path,
        reporter: &Reporter,
    ) -> io::Result<(Self, Vec<Record>, bool)> {
        let settings = Settings { segment_bytes: SEGMENT_BYTES, durability: Durability::Sync };
        let mut records = Vec::new();
        let keep = |entry: synod_wal::Entry<'_>| records.push(Record(entry.content.to_vec()));
        let here = |error| io::Error::other(format!("in {}: {error}", directory.display()));
        let opened = open(Files::at(directory)?, settings, keep).map_err(here)?;
        let Opened { log, repaired, is_new, .. } = opened;
        if let Some(tail) = repaired {
            reporter.say(format!(
                "{} bytes that were never safe were removed from {}, at byte {}",
                tail.bytes, tail.file, tail.offset
            ));
        }
        Ok((RegistryDisk { log }, records, is_new))
    }

    fn write(&mut self, records: &[(Record, Option<u64>)]) -> Result<(), synod_wal::Error> {
        for (record, checkpoint) in records {
            match checkpoint {
                None => self.log.append(&record.0)?,
                Some(keep) => self.log.checkpoint_keeping(&record.0, *keep)?,
            };
        }
        self.log.sync()
    }

    /// Writes what the cell wants written, until the cell is stopped. Returns the error that ended
    /// it before: a voter that cannot write must not go on.
    pub(crate) fn serve(mut self, cell: &Arc<RegistryCell>) -> Result<(), synod_wal::Error> {
        while let Some(records) = cell.next_records() {
            self.write(&records)?;
            cell.on_written(records.len());
        }
        Ok(())
    }
}
