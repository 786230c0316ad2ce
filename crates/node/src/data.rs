//! The directory of a node: who it is, and which of its lives this is.
//!
//! A node that begins a life must be known to be another member than before. So the number of the
//! life is on the disk before the first message leaves, and a directory that cannot be read is
//! never begun anew in silence.

use crate::links::ClusterId;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The contents of `node.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    cluster: String,
    name: String,
    incarnation: u32,
    /// The longest time, in milliseconds, for which a session may outlive its node's silence.
    longest_ttl_ms: u64,
}

/// The directory of a node, locked.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    record: Record,
    /// Whether this life is the first.
    pub(crate) is_new: bool,
    /// The longest TTL that an earlier life has promised.
    pub(crate) promised_ttl_ms: u64,
    _lock: File,
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadData {
    /// The system says no.
    #[error("{path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// Another process uses it.
    #[error("{path} is in use by another node: stop that one, or give this one another --data",
            path = .0.display())]
    InUse(PathBuf),
    /// It belongs to another node.
    #[error("{path} belongs to node '{name}' of cluster {cluster}: give this node another --data, \
             or remove that directory if that node is not needed any longer", path = .path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The name of the node that it belongs to.
        name: String,
        /// Its cluster.
        cluster: String,
    },
    /// It cannot be read.
    #[error("{path} cannot be read ({why}): restore it from a copy; without it this node would \
             forget its past, so remove the whole directory only after 'synod member forget'",
            path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error.
        why: String,
    },
}

impl DataDirectory {
    /// Opens the directory for this node, and begins a life.
    pub(crate) fn open(path: &Path, cluster: ClusterId, name: &str) -> Result<Self, BadData> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |cause| BadData::Io { path, cause }
        };
        fs::create_dir_all(path).map_err(io(path))?;
        let lock_path = path.join("lock");
        let lock = File::create(&lock_path).map_err(io(&lock_path))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| BadData::InUse(path.to_owned()))?;
        let file = path.join("node.json");
        let cluster = cluster.to_string();
        let before = match fs::read_to_string(&file) {
            Ok(text) => Some(read(&file, &text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(io(&file)(cause)),
        };
        if let Some(before) = &before
            && (before.cluster != cluster || before.name != name)
        {
            let Record { cluster, name, .. } = before.clone();
            return Err(BadData::Foreign { path: path.to_owned(), name, cluster });
        }
        let is_new = before.is_none();
        let mut record = before.unwrap_or(Record {
            cluster,
            name: name.to_owned(),
            incarnation: 0,
            longest_ttl_ms: 0,
        });
        record.incarnation += 1;
        let promised_ttl_ms = if is_new { 0 } else { record.longest_ttl_ms };
        let data =
            DataDirectory { path: path.to_owned(), record, is_new, promised_ttl_ms, _lock: lock };
        data.write()?;
        Ok(data)
    }

    /// Which life of the node this is, from 1.
    pub(crate) fn incarnation(&self) -> u32 {
        self.record.incarnation
    }

    /// A directory inside, for one part of the node.
    pub(crate) fn inside(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Remembers that a session may outlive this node's silence for so long.
    pub(crate) fn promise_ttl(&mut self, ttl_ms: u64) -> Result<(), BadData> {
        if ttl_ms > self.record.longest_ttl_ms {
            self.record.longest_ttl_ms = ttl_ms;
            self.write()?;
        }
        Ok(())
    }

    /// Replaces `node.json` as a whole: a crash leaves the old or the new one.
    fn write(&self) -> Result<(), BadData> {
        let file = self.path.join("node.json");
        let new = self.path.join("node.json.new");
        let text = serde_json::to_string_pretty(&self.record).expect("the record is plain data");
        let replace = || {
            let mut output = File::create(&new)?;
            output.write_all(text.as_bytes())?;
            output.sync_all()?;
            fs::rename(&new, &file)?;
            File::open(&self.path)?.sync_all()
        };
        replace().map_err(|cause| BadData::Io { path: file.clone(), cause })
    }
}

fn read(path: &Path, text: &str) -> Result<Record, BadData> {
    serde_json::from_str(text)
        .map_err(|error| BadData::Damaged { path: path.to_owned(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("synod-data-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn each_life_has_the_next_number_and_knows_what_the_one_before_promised() {
        let path = fresh("lives");
        let open = || DataDirectory::open(&path, ClusterId(7), "n1");
        let mut first = open().expect("it is made");
        assert_eq!((first.incarnation(), first.is_new), (1, true));
        first.promise_ttl(3_000).expect("it is written");
        assert!(matches!(open(), Err(BadData::InUse(_))));
        drop(first);
        let second = open().expect("the first life is over");
        assert_eq!(
            (second.incarnation(), second.is_new, second.promised_ttl_ms),
            (2, false, 3_000)
        );
        fs::remove_dir_all(path).expect("it is there");
    }

    #[test]
    fn a_directory_of_another_node_or_a_damaged_one_is_never_begun_anew() {
        let path = fresh("foreign");
        drop(DataDirectory::open(&path, ClusterId(7), "n1").expect("it is made"));
        let other = DataDirectory::open(&path, ClusterId(8), "n1");
        assert!(matches!(other, Err(BadData::Foreign { .. })));
        fs::write(path.join("node.json"), "{").expect("it can be written");
        let error = DataDirectory::open(&path, ClusterId(7), "n1").expect_err("it is damaged");
        assert!(error.to_string().contains("restore it from a copy"), "{error}");
        fs::remove_dir_all(path).expect("it is there");
    }
}
