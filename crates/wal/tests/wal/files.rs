//! A real directory.

use crate::{SMALL, contents, open_all};
use std::fs;
use std::path::PathBuf;
use synod_wal::{Error, Files, Settings};

/// A directory of the test's own, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A failed test may have left it.
        let _ = fs::remove_dir_all(&path);
        Directory(path)
    }

    fn files(&self) -> Files {
        Files::at(&self.0).expect("a directory can be made")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_log_in_a_directory_is_read_back_after_rotation_and_checkpoint() {
    let directory = Directory::new("read-back");
    let mut log = open_all(directory.files(), SMALL).expect("it is made").log;
    for number in 0..10_u8 {
        log.append(&[number; 40]).expect("there is room");
        log.sync().expect("the disk works");
    }
    assert!(log.segments() > 2);
    log.close().expect("the disk works");
    let found = open_all(directory.files(), SMALL).expect("it is whole");
    assert_eq!(contents(&found), (0..10_u8).map(|number| [number; 40]).collect::<Vec<_>>());
    let mut log = found.log;
    log.checkpoint(b"everything").expect("there is room");
    log.append(b"more").expect("there is room");
    log.sync().expect("the disk works");
    drop(log);
    let found = open_all(directory.files(), SMALL).expect("it is whole");
    assert_eq!(contents(&found), [b"everything".as_slice(), b"more"]);
    let names = fs::read_dir(&directory.0).expect("it is there").count();
    assert_eq!(names, 2, "one segment and the lock");
}

#[test]
fn a_segment_has_its_room_from_the_beginning() {
    let directory = Directory::new("room");
    let log = open_all(directory.files(), Settings::default()).expect("it is made").log;
    let length = fs::metadata(directory.0.join("00000001.wal")).expect("it is there").len();
    assert_eq!(length, Settings::default().segment_bytes);
    drop(log);
}

#[test]
fn an_open_log_is_refused_to_every_other_process() {
    let directory = Directory::new("busy");
    let first = open_all(directory.files(), SMALL).expect("it is made");
    let second = open_all(directory.files(), SMALL);
    assert!(matches!(second, Err(Error::Busy { .. })));
    let error = second.expect_err("it is in use").to_string();
    assert!(error.contains("is in use by another process; end that process first"), "{error}");
    drop(first);
    open_all(directory.files(), SMALL).expect("it is free again");
}

#[test]
fn two_logs_have_different_identities_and_do_not_read_each_other() {
    let (one, other) = (Directory::new("one"), Directory::new("other"));
    for directory in [&one, &other] {
        let mut log = open_all(directory.files(), SMALL).expect("it is made").log;
        for _ in 0..6 {
            log.append(&[1; 40]).expect("there is room");
            log.sync().expect("the disk works");
        }
    }
    let last = "00000003.wal";
    fs::copy(one.0.join(last), other.0.join(last)).expect("it can be copied");
    let error = open_all(other.files(), SMALL).expect_err("it is another's").to_string();
    assert!(error.contains("it belongs to another log"), "{error}");
}
