//! Torn tails and damage: every end, and every bit.

use crate::disk::Disk;
use crate::{SMALL, contents, disk_with, open_all, open_whole};
use synod_wal::{Durability, Error, Settings, spoil};

const RECORDS: [&[u8]; 7] = [b"one", b"two", b"three", b"", b"five five five five", b"six", b"7"];
const LARGE: Settings = Settings { segment_bytes: 1_024, durability: Durability::Sync };
const HEADER: usize = 64;
const HEAD: usize = 24;

/// Flips one bit.
fn flipped(disk: &Disk, name: &str, bit: usize) -> Disk {
    let copy = disk.copy();
    let mut bytes = copy.read(name);
    bytes[bit / 8] ^= 1 << (bit % 8);
    copy.replace(name, bytes);
    copy
}

#[test]
fn every_bit_that_flips_is_noticed_or_touches_no_record() {
    let disk = disk_with(&RECORDS, SMALL);
    let segments = disk.segments();
    assert_eq!(segments.len(), 3);
    let (mut refused, mut torn, mut unused) = (0, 0, 0);
    for name in &segments {
        for bit in 0..disk.read(name).len() * 8 {
            let place = format!("{name}, byte {}, bit {}", bit / 8, bit % 8);
            match open_all(flipped(&disk, name, bit), SMALL) {
                Err(Error::Corrupt { .. }) => refused += 1,
                Err(other) => panic!("{place}: {other}"),
                Ok(found) => {
                    assert_eq!(contents(&found), RECORDS, "{place}");
                    match found.repaired {
                        Some(tail) => {
                            assert_eq!((tail.records, Some(&tail.file)), (0, segments.last()));
                            torn += 1;
                        }
                        None => unused += 1,
                    }
                }
            }
        }
    }
    // Behind the last record: a mark, or unused bytes. In older segments `open` does not read them.
    let sizes: usize = RECORDS.iter().map(|record| (HEAD + record.len()).next_multiple_of(8)).sum();
    assert_eq!(refused, 8 * (3 * HEADER + sizes));
    assert_eq!(refused + torn + unused, 8 * 3 * SMALL.segment_bytes as usize);
}

/// No record stands behind this header, whose checksum would depend on it: its own one protects it.
#[test]
fn every_bit_of_a_header_that_flips_before_the_first_record_is_noticed() {
    let disk = disk_with(&[], LARGE);
    let name = &disk.segments()[0];
    for bit in 0..HEADER * 8 {
        let found = open_all(flipped(&disk, name, bit), LARGE);
        assert!(matches!(found, Err(Error::Corrupt { .. })), "byte {}", bit / 8);
    }
}

#[test]
fn a_flip_in_the_last_batch_looks_torn_only_if_the_mark_behind_it_is_lost() {
    let disk = disk_with(&RECORDS[..3], LARGE);
    let name = &disk.segments()[0];
    let end = HEADER + 2 * (HEAD + 8);
    // Without the mark: the power failed right after the sync.
    let unmarked = disk.copy();
    let mut bytes = unmarked.read(name);
    bytes[end + HEAD + 8..].fill(0);
    unmarked.replace(name, bytes);
    for bit in end * 8..(end + HEAD + 8) * 8 {
        assert!(open_all(flipped(&disk, name, bit), LARGE).is_err(), "with the mark, bit {bit}");
        let found = open_all(flipped(&unmarked, name, bit), LARGE).expect("it looks torn");
        assert_eq!(contents(&found), RECORDS[..2]);
        assert_eq!(found.repaired.map(|tail| tail.offset), Some(end as u64));
    }
    for bit in HEADER * 8..end * 8 {
        assert!(open_all(flipped(&unmarked, name, bit), LARGE).is_err(), "bit {bit}");
    }
}

#[test]
fn a_batch_that_is_torn_at_any_byte_is_cut_off_there_and_the_log_goes_on() {
    // Records of these lengths need no padding: a record is whole with its last byte.
    let records: [&[u8]; 5] = [b"one of 8", b"two of 8", b"3rd of 8", &[4; 16], &[5; 24]];
    let disk = disk_with(&records[..2], LARGE);
    let before = disk.copy();
    let mut log = open_whole(&disk, LARGE).log;
    for record in &records[2..] {
        log.append(record).expect("there is room");
    }
    log.sync().expect("the disk works");
    let name = &disk.segments()[0];
    let (old, new) = (before.read(name), disk.read(name));
    let start = HEADER + 2 * (HEAD + 8);
    let ends = [start + 32, start + 32 + 40, start + 32 + 40 + 48];
    for torn_at in start..=ends[2] {
        for rest in [old[torn_at..].to_vec(), vec![0xa5; 60], Vec::new()] {
            let copy = before.copy();
            copy.replace(name, [&new[..torn_at], &rest].concat());
            let whole = 2 + ends.iter().filter(|end| **end <= torn_at).count();
            let found = open_all(copy.clone(), LARGE).expect("that is no damage");
            assert_eq!(contents(&found), records[..whole], "torn at {torn_at}");
            let mut log = found.log;
            log.append(b"after").expect("there is room");
            log.sync().expect("the disk works");
            drop(log);
            let again = open_whole(&copy, LARGE);
            assert_eq!(contents(&again).last(), Some(&b"after".as_slice()));
            assert_eq!(again.records.len(), whole + 1);
        }
    }
}

#[test]
fn a_batch_of_which_only_the_last_record_arrived_is_torn_and_not_damaged() {
    let disk = disk_with(&RECORDS[..2], LARGE);
    let name = &disk.segments()[0];
    let before = disk.read(name);
    let mut log = open_whole(&disk, LARGE).log;
    log.append(&[1; 100]).expect("there is room");
    log.append(b"last").expect("there is room");
    log.sync().expect("the disk works");
    let (start, middle) = (HEADER + 64, HEADER + 64 + 128);
    let after = disk.read(name);
    let end = middle + 32;
    disk.replace(name, [&before[..middle], &after[middle..end], &before[end..]].concat());
    drop(log);
    let found = open_all(disk, LARGE).expect("nobody was told that it is safe");
    assert_eq!(contents(&found), RECORDS[..2]);
    let tail = found.repaired.expect("a record was removed");
    assert_eq!((tail.offset, tail.bytes, tail.records), (start as u64, 156, 1));
}

#[test]
fn a_sector_of_zeros_among_records_is_damage() {
    let disk = disk_with(&RECORDS, LARGE);
    let name = &disk.segments()[0];
    let mut bytes = disk.read(name);
    bytes[HEADER + 32..HEADER + 64].fill(0);
    disk.replace(name, bytes);
    let error = open_all(disk, LARGE).expect_err("the second record is missing").to_string();
    assert!(error.starts_with("00000001.wal is damaged at byte 96: there are zeros"), "{error}");
    assert!(error.contains("remove it, and let the member join again"), "{error}");
}

#[test]
fn whichever_segment_is_missing_is_missed() {
    for missing in 0..3 {
        let disk = disk_with(&RECORDS, SMALL);
        let name = disk.segments()[missing].clone();
        synod_wal::Storage::remove(&disk, &name).expect("it is there");
        let error = open_all(disk, SMALL).expect_err("it is missing").to_string();
        assert!(error.contains(&format!("{name} is damaged")), "{error}");
        assert!(error.contains("the file is missing"), "{error}");
    }
}

#[test]
fn a_segment_of_another_log_or_of_another_place_is_refused() {
    let disk = disk_with(&RECORDS, SMALL);
    let segments = disk.segments();
    disk.replace(&segments[1], disk.read(&segments[0]));
    let error = open_all(disk, SMALL).expect_err("it is not the second").to_string();
    assert!(error.contains("it is segment 1 by its header"), "{error}");
}

#[test]
fn a_file_of_which_the_end_is_cut_off_is_refused_where_records_were_safe() {
    let disk = disk_with(&RECORDS, LARGE);
    let name = &disk.segments()[0];
    let whole = disk.read(name);
    for length in 0..HEADER {
        disk.replace(name, whole[..length].to_vec());
        assert!(open_all(disk.clone(), LARGE).is_err(), "{length} bytes of the header");
    }
    // The log cannot know that the cut part ever existed.
    disk.replace(name, whole[..HEADER + 32].to_vec());
    assert_eq!(contents(&open_whole(&disk, LARGE)), RECORDS[..1]);
}

#[test]
fn the_end_of_an_older_segment_is_missed_even_without_its_seal() {
    let disk = disk_with(&RECORDS, SMALL);
    let name = &disk.segments()[0];
    let mut bytes = disk.read(name);
    bytes[HEADER + 2 * (HEAD + 8)..].fill(0);
    disk.replace(name, bytes);
    let error = open_all(disk, SMALL).expect_err("the third record is missing").to_string();
    assert!(error.contains("the records from 3 on are missing, before record 4"), "{error}");
}

#[test]
fn every_bit_of_a_checkpoint_that_flips_is_noticed() {
    let disk = disk_with(&RECORDS, SMALL);
    open_whole(&disk, SMALL).log.checkpoint(b"all of them").expect("there is room");
    let name = &disk.segments()[0];
    for bit in 0..(HEADER + HEAD + 16) * 8 {
        assert!(open_all(flipped(&disk, name, bit), SMALL).is_err(), "bit {bit}");
    }
    assert_eq!(contents(&open_whole(&disk, SMALL)), [b"all of them"]);
}

#[test]
fn what_is_spoilt_on_purpose_is_found_and_only_a_torn_record_is_repaired() {
    let records: [&[u8]; 5] = [b"one", b"two", b"three", b"four", b"five"];
    let disk = disk_with(&records, SMALL);
    spoil::tear(&disk).expect("it is a log");
    let found = open_all(disk.clone(), SMALL).expect("it is repaired");
    assert_eq!(contents(&found), records);
    assert!(found.repaired.is_some());
    drop(found);
    spoil::flip(&disk).expect("it is a log");
    assert!(matches!(open_all(disk, SMALL), Err(Error::Corrupt { .. })));
}
