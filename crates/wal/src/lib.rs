//! A write-ahead log: records that survive a crash of the process or of the machine, and detection
//! of damage.
//!
//! A log is a directory of *segments*, `00000001.wal` and so on. Each has a fixed size that is
//! reserved when it is made, begins with a header, and then has one record after the other; zeros
//! mean the end. [`Log::append`] keeps a record in memory, [`Log::sync`] writes all of them with
//! one `write` and one `fdatasync`: append many, sync once. When a segment is full the next one is
//! begun. [`Log::checkpoint`] begins one with a record that stands for all before it, and removes
//! the older ones. [`Log::checkpoint_keeping`] does the same for a checkpoint that was written in
//! parts: it needs the last records before it, and the segments in which they are stay.
//!
//! # Torn tails and damage
//!
//! Records that were not synced may have reached the disk in part and in any order. That is no
//! damage: the log never reported them safe. [`open`] finds such a *torn tail*, removes it, and
//! says so. Every other difference from the written bytes is damage, and the log is refused
//! ([`Error::Corrupt`]): a process that went on without an acknowledged record would lie to its
//! peers.
//!
//! To tell the two apart each record says how many before it were not yet synced when it was
//! written. A bad record is damage if any later item proves that it was synced: a later record, the
//! mark that is written behind the last record after each sync, the next segment, or the header of
//! its own.
//!
//! Checksums cover the record, its length, its number and the identity of the log and the segment,
//! so that no other bytes on the disk pass for a record.
//!
//! # Limits of detection
//!
//! - The mark behind the last record is not synced itself (that would double the price); the next
//!   sync takes it along. If the machine loses power before, no mark vouches for the last batch: a
//!   record of it that the disk damaged looks torn. A killed process loses no mark: the kernel has
//!   it.
//! - If the last segment is removed as a whole, only the seal of the segment before shows that one
//!   is missing. The seal too is written without a sync.
//! - A whole directory that is replaced by an older copy is a valid log.
//!
//! # Cost and bounds
//! A record takes 24 bytes more than its content, and up to 7 to end at a multiple of 8. The log
//! keeps the records since the last sync in memory, at most one segment; opening needs one segment.
//!
//! # Layout
//! - `log`: appending, syncing, the next segment, checkpoints
//! - `opening`: the segments on the disk, judged and repaired
//! - `segment`, `frame`: the formats of segments and records, and the verdict on one segment
//! - `storage`: the disk that a log needs; `files`: a directory
//! - `spoil`: torn records and flipped bits, made on purpose
#![forbid(unsafe_code)]

mod error;
mod files;
mod frame;
mod log;
mod opening;
mod segment;
pub mod spoil;
mod storage;

pub use error::Error;
pub use files::Files;
pub use frame::LARGEST_RECORD;
pub use log::{Durability, Log, Settings};
pub use opening::{Entry, Opened, TornTail, open};
pub use storage::{Storage, Stored};
