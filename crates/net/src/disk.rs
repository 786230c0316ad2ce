//! The stable storage of a member: a write-ahead log in a directory of its own.

use crate::coordinator::Fate;
use std::io;
use std::path::Path;
use synod_core::durable::Record;
use synod_wal::{Durability, Files, Log, Opened, Settings, open, spoil as wal};

/// A new segment is filled with zeros. Small segments keep the start of a run short; large ones
/// stop the member less often, because it waits while the next segment is made.
const SEGMENT_BYTES: u64 = 4 << 20;

/// The disk of a member, if its algorithm has one.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    log: Option<Log<Files>>,
    /// Whether this life created it.
    pub(crate) is_new: bool,
}

impl Disk {
    /// Opens the disk and calls `show` with every record on it. Also returns a note in words if a
    /// crash left a torn record, which opening removes.
    pub(crate) fn open(
        directory: &Path,
        fsync: bool,
        show: &mut dyn FnMut(&Record),
    ) -> io::Result<(Self, Option<String>)> {
        let durability = if fsync { Durability::Sync } else { Durability::None };
        let settings = Settings { segment_bytes: SEGMENT_BYTES, durability };
        let opened = open(Files::at(directory)?, settings, |entry| {
            show(&Record(entry.content.to_vec()));
        });
        let here = |error| io::Error::other(format!("in {}: {error}", directory.display()));
        let Opened { log, repaired, is_new, .. } = opened.map_err(here)?;
        let note = repaired.map(|tail| {
            let (bytes, file, offset) = (tail.bytes, tail.file, tail.offset);
            format!("{bytes} bytes that were never safe were removed from {file}, at byte {offset}")
        });
        Ok((Disk { log: Some(log), is_new }, note))
    }

    /// The number of records ever synced to it, removed ones included.
    pub(crate) fn records(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::synced)
    }

    fn log(&mut self) -> io::Result<&mut Log<Files>> {
        self.log.as_mut().ok_or_else(|| io::Error::other("the algorithm writes, but has no REPLAY"))
    }

    /// Appends a record; it is safe only after the next sync.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        self.log()?.append(&record.0).map(drop).map_err(io::Error::other)
    }

    /// Appends a record that replaces all earlier ones except the last `keep`.
    pub(crate) fn checkpoint(&mut self, record: &Record, keep: u64) -> io::Result<()> {
        self.log()?.checkpoint_keeping(&record.0, keep).map(drop).map_err(io::Error::other)
    }

    /// Makes all appended records safe.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.log()?.sync().map_err(io::Error::other)
    }
}

/// Applies a fate to the disk of a dead process; does nothing if the process has no disk.
pub(crate) fn spoil(directory: &Path, fate: Fate) -> io::Result<()> {
    if fate == Fate::Kept || !directory.is_dir() {
        return Ok(());
    }
    let files = Files::at(directory)?;
    match fate {
        Fate::Kept => Ok(()),
        Fate::Torn => wal::tear(&files).map_err(io::Error::other),
        Fate::Flipped => wal::flip(&files).map_err(io::Error::other),
        Fate::Lost => std::fs::remove_dir_all(directory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn records(directory: &Path) -> io::Result<(Vec<Record>, Option<String>)> {
        let mut records = Vec::new();
        let (_, note) = Disk::open(directory, true, &mut |record| records.push(record.clone()))?;
        Ok((records, note))
    }

    /// A disk with two synced records, of which `change` alters the bytes from `from` on.
    fn changed(name: &str, from: usize, change: impl Fn(&mut [u8])) -> PathBuf {
        let directory =
            std::env::temp_dir().join(format!("synod-{name}-{}", crate::clock::now_us()));
        let (mut disk, _) = Disk::open(&directory, true, &mut |_| {}).expect("it is made");
        for content in [b"first".to_vec(), b"second".to_vec()] {
            disk.append(&Record(content)).expect("there is room");
            disk.sync().expect("the disk works");
        }
        let segment = directory.join("00000001.wal");
        let mut bytes = fs::read(&segment).expect("it is there");
        change(&mut bytes[from..]);
        fs::write(&segment, bytes).expect("it can be written");
        directory
    }

    #[test]
    fn a_record_that_is_torn_is_removed_and_told_of() {
        let directory = changed("torn", 64 + 32 + 10, |rest| rest.fill(0));
        let (found, note) = records(&directory).expect("it is repaired");
        assert_eq!(found, [Record(b"first".to_vec())]);
        let note = note.expect("something was removed");
        assert!(note.contains("never safe were removed from 00000001.wal, at byte 96"), "{note}");
        assert_eq!(records(&directory).expect("it was repaired").1, None);
        fs::remove_dir_all(directory).expect("it is there");
    }

    #[test]
    fn a_disk_with_a_flipped_bit_is_refused_with_what_to_do() {
        let directory = changed("flipped", 64 + 24, |rest| rest[0] ^= 1);
        let error = records(&directory).expect_err("it is damaged").to_string();
        assert!(error.contains("00000001.wal is damaged at byte 64"), "{error}");
        assert!(error.contains("let the member join again"), "{error}");
        fs::remove_dir_all(directory).expect("it is there");
    }
}
