//! The promises of a log, on disks that crash, fail and lie, and on a real one.

mod bits;
mod disk;
mod faults;
mod files;
mod model;

use disk::Disk;
use synod_wal::{Durability, Error, Log, Settings, Storage, TornTail, open};

/// Segments so small that three records fill one, or one of sixty bytes.
const SMALL: Settings = Settings { segment_bytes: 200, durability: Durability::Sync };

/// The contents of an opened log.
#[derive(Debug)]
struct Found<S: Storage> {
    log: Log<S>,
    records: Vec<(u64, Vec<u8>)>,
    /// Whether the first is a checkpoint.
    from_checkpoint: bool,
    repaired: Option<TornTail>,
}

fn open_all<S: Storage>(storage: S, settings: Settings) -> Result<Found<S>, Error> {
    let (mut records, mut from_checkpoint) = (Vec::new(), false);
    let opened = open(storage, settings, |entry| {
        from_checkpoint |= entry.is_checkpoint;
        records.push((entry.sequence, entry.content.to_vec()));
    })?;
    assert_eq!(opened.records, records.len() as u64);
    Ok(Found { log: opened.log, records, from_checkpoint, repaired: opened.repaired })
}

/// Opens an undamaged log.
fn open_whole(disk: &Disk, settings: Settings) -> Found<Disk> {
    let found = open_all(disk.clone(), settings).expect("the log is whole");
    assert_eq!(found.repaired, None);
    found
}

/// A disk with a log of these records, each synced.
fn disk_with(records: &[&[u8]], settings: Settings) -> Disk {
    let disk = Disk::default();
    let mut log = open_whole(&disk, settings).log;
    for record in records {
        log.append(record).expect("there is room");
        log.sync().expect("the disk works");
    }
    disk
}

fn contents<S: Storage>(found: &Found<S>) -> Vec<&[u8]> {
    found.records.iter().map(|(_, content)| content.as_slice()).collect()
}
