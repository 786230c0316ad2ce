//! A write-ahead log: records that survive a crash of the process or of the machine, and damage that is
//! noticed.
//!
//! A log is a directory of *segments*, `00000001.wal` and so on. Each has a fixed size that is reserved
//! when it is made, begins with a header, and then has one record after the other; zeros mean the end.
//! [`Log::append`] keeps a record in memory, [`Log::sync`] writes all of them with one `write` and one
//! `fdatasync`: append many, sync once. When a segment is full the next one is begun.
//! [`Log::checkpoint`] begins one with a record that stands for all before it, and removes the older ones.
//! [`Log::checkpoint_keeping`] does the same for a checkpoint that was written in parts: it needs the last
//! records before it, and the segments in which they are stay.
//!
//! # What a crash leaves, and what damage looks like
//!
//! What was not synced may have reached the disk in part and in any order. That is no damage: nobody was
//! told that it was safe. [`open`] finds such a *torn tail*, removes it, and says so. Anything else that
//! is not as it was written is damage, and the log is refused ([`Error::Corrupt`]): to go on without a
//! record that was acknowledged would be a lie to its peers.
//!
//! To tell the two apart each record says how many before it were not yet synced when it was written.
//! A bad record is damage if something behind it knows that it was synced: a later record, the mark that
//! is written behind the last record after each sync, the next segment, or the header of its own.
//!
//! Checksums cover the record, its length, its number and the identity of the log and the segment, so
//! that whatever else lies on the disk never passes for a record.
//!
//! # What cannot be noticed
//!
//! - The mark behind the last record is not synced itself (that would double the price); the next sync
//!   takes it along. If the machine loses power before, the last batch has nobody to vouch for it: a
//!   record of it that the disk damaged looks torn. A killed process loses no mark: the kernel has it.
//! - A last segment that is removed as a whole is missed if the one before it knows that it goes on. That
//!   too is written without a sync.
//! - A whole directory that is replaced by an older copy is a valid log.
//!
//! # Cost and bounds
//! A record takes 24 bytes more than its content, and up to 7 to end at a multiple of 8. In memory are at
//! most the records since the last sync, no more than a segment; opening needs one segment.
//!
//! # Layout
//! - `log`: appending, syncing, the next segment, checkpoints
//! - `opening`: what is found on the disk, judged and repaired
//! - `segment`, `frame`: what segments and records look like, and the verdict on one segment
//! - `storage`: what a log needs of a disk; `files`: a directory
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
