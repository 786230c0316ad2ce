//! Errors of a log.

use crate::frame::LARGEST_RECORD;
use std::io;

/// The reason why a log refuses or fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it open.
    #[error(
        "the log in {place} is in use by another process; end that process first, or use another \
         directory"
    )]
    Busy {
        /// The directory.
        place: String,
    },
    /// Records that were safe are no longer on the disk as they were written.
    #[error(
        "{file} is damaged at byte {offset}: {what}. The log is not used, because records that other \
         members rely on may be missing. Restore the directory from a backup made after its last \
         use; or remove it, and let the member join again as a new one that copies the state of its \
         peers"
    )]
    Corrupt {
        /// The segment.
        file: String,
        /// The place in it.
        offset: u64,
        /// The damage.
        what: String,
    },
    /// There is no room for another segment. No record is lost, and the caller may try again.
    #[error(
        "the disk has no room for a segment of {bytes} bytes; make room, and try again: {error}"
    )]
    Full {
        /// The size of the segment.
        bytes: u64,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The disk failed.
    #[error("{what} ({file}): {error}")]
    Disk {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        file: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A write or a sync failed before. The content of the disk is unknown, and a second try cannot
    /// tell: the kernel drops pages that it could not write.
    #[error(
        "the log takes no more records since the disk failed: {why}. End the process and open the \
         log again; synced records are still there"
    )]
    Poisoned {
        /// The first failure.
        why: String,
    },
    /// A record above the limit.
    #[error("a record of {length} bytes is too large; the largest has {LARGEST_RECORD}")]
    TooLarge {
        /// Its length.
        length: usize,
    },
    /// Segments too small for a record, or larger than the format allows.
    #[error("a segment has from {least} to {most} bytes, not {bytes}")]
    SegmentSize {
        /// The size wanted.
        bytes: u64,
        /// The smallest possible size,
        least: u64,
        /// and the largest.
        most: u64,
    },
}

/// Adds the attempted operation to an error of the disk.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str, file: &str) -> Result<T, Error>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, what: &'static str, file: &str) -> Result<T, Error> {
        self.map_err(|error| Error::Disk { what, file: file.to_owned(), error })
    }
}
