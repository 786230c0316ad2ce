//! Disks that refuse.

use crate::disk::{Deed, Disk};
use crate::{SMALL, contents, disk_with, open_all, open_whole};
use std::io::ErrorKind;
use synod_wal::{Durability, Error, LARGEST_RECORD, Settings};

#[test]
fn after_a_failed_sync_the_log_takes_nothing_more_and_says_why() {
    for deed in [Deed::Write, Deed::Sync] {
        let disk = disk_with(&[b"safe"], SMALL);
        let mut log = open_whole(&disk, SMALL).log;
        log.append(b"lost").expect("it is only kept in memory");
        disk.fail(deed, 0, ErrorKind::Other);
        assert!(matches!(log.sync(), Err(Error::Disk { .. })));
        for refused in [log.sync(), log.append(b"x").map(drop), log.checkpoint(b"x").map(drop)] {
            let error = refused.expect_err("it is poisoned").to_string();
            assert!(error.contains("takes no more records since the disk failed"), "{error}");
            assert!(error.contains("open the log again"), "{error}");
        }
        assert_eq!(log.synced(), 1);
    }
}

#[test]
fn what_is_read_back_after_a_failed_sync_is_safe_though_the_kernel_has_given_it_up() {
    let disk = disk_with(&[b"safe"], SMALL);
    let mut log = open_whole(&disk, SMALL).log;
    log.append(b"doubtful").expect("there is room");
    disk.fail(Deed::Sync, 0, ErrorKind::Other);
    assert!(log.sync().is_err());
    drop(log);
    // The kernel still shows the record, though it will never write it.
    let found = open_whole(&disk, SMALL);
    assert_eq!(contents(&found), [b"safe".as_slice(), b"doubtful"]);
    disk.lose_power(&mut |_| 0);
    drop(found);
    assert_eq!(contents(&open_whole(&disk, SMALL)), [b"safe".as_slice(), b"doubtful"]);
}

#[test]
fn writes_that_take_only_a_part_are_gone_on_with() {
    let disk = Disk::default();
    disk.write_at_most(7);
    let mut log = open_whole(&disk, SMALL).log;
    let records: Vec<Vec<u8>> = (0..20).map(|number| vec![number; 30]).collect();
    for record in &records {
        log.append(record).expect("there is room");
    }
    log.sync().expect("the disk works, a little at a time");
    drop(log);
    assert_eq!(contents(&open_whole(&disk, SMALL)), records);
}

#[test]
fn a_full_disk_is_an_error_that_passes() {
    let disk = disk_with(&[&[1; 60], &[2; 60]], SMALL);
    let mut log = open_whole(&disk, SMALL).log;
    for _ in 0..2 {
        disk.fail(Deed::Reserve, 0, ErrorKind::StorageFull);
        let error = log.append(&[3; 60]).expect_err("it needs a segment").to_string();
        assert!(error.contains("no room for a segment of 200 bytes; make room"), "{error}");
        disk.fail(Deed::Reserve, 0, ErrorKind::StorageFull);
        assert!(matches!(log.checkpoint(b"all"), Err(Error::Full { .. })));
    }
    assert_eq!(log.append(&[3; 60]).expect("there is room now"), 3);
    log.sync().expect("the disk works");
    drop(log);
    assert_eq!(open_whole(&disk, SMALL).records.len(), 3);
}

#[test]
fn whenever_the_disk_fails_what_was_safe_is_there_and_nothing_else() {
    for deed in [Deed::Write, Deed::Sync, Deed::Reserve, Deed::Rename, Deed::Remove] {
        for after in 0..40 {
            let disk = disk_with(&[b"one", b"two"], SMALL);
            let mut log = open_whole(&disk, SMALL).log;
            disk.fail(deed, after, ErrorKind::Other);
            let mut appended: Vec<Vec<u8>> = vec![b"one".to_vec(), b"two".to_vec()];
            let mut safe = 2;
            for number in 0..12 {
                let record = vec![number; 20];
                // The next number, and the end of the test, show whether that worked.
                let _ = match number {
                    8 => log.checkpoint(&record),
                    _ => log.append(&record),
                };
                if log.next() > appended.len() as u64 + 1 {
                    appended.push(record);
                }
                if log.sync().is_err() {
                    break;
                }
                safe = log.synced();
            }
            drop(log);
            let mut numbers = 0..;
            disk.lose_power(&mut |below| numbers.next().unwrap_or(0) % below);
            let found = open_all(disk, SMALL).expect("it is whole, or torn");
            let last = found.records.last().map_or(0, |(sequence, _)| *sequence);
            assert!(last >= safe, "{deed:?} after {after}: {last} of {safe}");
            for (sequence, content) in &found.records {
                let expected = &appended[*sequence as usize - 1];
                assert_eq!(content, expected, "{deed:?} after {after}, record {sequence}");
            }
        }
    }
}

#[test]
fn a_checkpoint_whose_old_segments_cannot_be_removed_stands_and_they_go_later() {
    let disk = disk_with(&[&[1; 60], &[2; 60], &[3; 60]], SMALL);
    let mut log = open_whole(&disk, SMALL).log;
    disk.fail(Deed::Remove, 0, ErrorKind::PermissionDenied);
    assert!(log.checkpoint(b"all").is_err());
    assert_eq!(disk.segments().len(), 4);
    log.append(b"more").expect("the log goes on");
    log.sync().expect("the disk works");
    drop(log);
    let found = open_whole(&disk, SMALL);
    assert!(found.from_checkpoint);
    assert_eq!(contents(&found), [b"all".as_slice(), b"more"]);
    assert_eq!(disk.segments(), ["00000004.wal"]);
}

#[test]
fn many_records_are_made_safe_by_one_write_and_one_sync() {
    let settings = Settings { segment_bytes: 1 << 16, ..SMALL };
    let disk = Disk::default();
    let mut log = open_whole(&disk, settings).log;
    let before = disk.counts();
    for _ in 0..64 {
        log.append(&[7; 128]).expect("there is room");
    }
    assert_eq!((disk.counts(), log.synced()), (before, 0));
    log.sync().expect("the disk works");
    // The second write is the mark, which waits for no sync.
    assert_eq!((disk.counts(), log.synced()), ((before.0 + 2, before.1 + 1), 64));
    log.sync().expect("there is nothing to do");
    assert_eq!(disk.counts(), (before.0 + 2, before.1 + 1));
}

#[test]
fn without_durability_nothing_is_synced() {
    let settings = Settings { durability: Durability::None, ..SMALL };
    let disk = disk_with(&[&[1; 60], &[2; 60], &[3; 60]], settings);
    assert_eq!(disk.counts().1, 0);
    assert_eq!(open_whole(&disk, settings).records.len(), 3);
}

#[test]
fn a_record_that_is_too_large_is_refused_and_one_larger_than_a_segment_gets_its_own() {
    let disk = Disk::default();
    let mut log = open_whole(&disk, SMALL).log;
    let huge = vec![0; LARGEST_RECORD + 1];
    assert!(matches!(log.append(&huge), Err(Error::TooLarge { .. })));
    log.append(&[8; 5_000]).expect("it gets a segment of its own");
    log.append(b"small").expect("it does not fit there");
    log.sync().expect("the disk works");
    assert_eq!(log.segments(), 3);
    drop(log);
    let found = open_whole(&disk, SMALL);
    assert_eq!(contents(&found), [[8; 5_000].as_slice(), b"small"]);
}

#[test]
fn a_segment_size_that_makes_no_sense_is_refused() {
    for segment_bytes in [0, 111, u64::MAX] {
        let settings = Settings { segment_bytes, ..SMALL };
        let error = open_all(Disk::default(), settings).expect_err("it makes no sense");
        assert!(error.to_string().starts_with("a segment has from 112 to"), "{error}");
    }
}
