//! Why a log does not do what it is asked.

use crate::frame::LARGEST_RECORD;
use std::io;

/// Why a log does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it open.
    #[error(
        "the log in {place} is in use by another process; end that one first, or use another \
         directory"
    )]
    Busy {
        /// Where it is.
        place: String,
    },
    /// What was safe on the disk is not there as it was written.
    #[error(
        "{file} is damaged at byte {offset}: {what}. The log is not used, because records that others \
         rely on may be missing. Restore the directory from a backup made after it was last used; or \
         remove it, and let the member join again as a new one that learns everything from its peers"
    )]
    Corrupt {
        /// The segment.
        file: String,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// There is no room for another segment. Nothing is lost, and it may be tried again.
    #[error(
        "the disk has no room for a segment of {bytes} bytes; make room, and try again: {error}"
    )]
    Full {
        /// How large it would be.
        bytes: u64,
        /// What the machine says.
        error: io::Error,
    },
    /// The disk failed.
    #[error("{what} ({file}): {error}")]
    Disk {
        /// What was tried.
        what: &'static str,
        /// With which file.
        file: String,
        /// What the machine says.
        error: io::Error,
    },
    /// A write or a sync failed before. What the disk has is not known, and no second try can tell: the
    /// kernel forgets what it could not write.
    #[error(
        "the log takes nothing more since the disk failed: {why}. End the process and open the log \
         again; what was synced is still there"
    )]
    Poisoned {
        /// What failed.
        why: String,
    },
    /// A record that is larger than any may be.
    #[error("a record of {length} bytes is too large; the largest has {LARGEST_RECORD}")]
    TooLarge {
        /// Its length.
        length: usize,
    },
    /// Segments that hold nothing, or more than one may hold.
    #[error("a segment has from {least} to {most} bytes, not {bytes}")]
    SegmentSize {
        /// The size wanted.
        bytes: u64,
        /// The least there is,
        least: u64,
        /// and the most.
        most: u64,
    },
}

/// Says what was tried when the disk refused.
pub(crate) trait Trying<T> {
    fn trying(self, what: &'static str, file: &str) -> Result<T, Error>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, what: &'static str, file: &str) -> Result<T, Error> {
        self.map_err(|error| Error::Disk { what, file: file.to_owned(), error })
    }
}
