//! The effects of a step on a real machine: messages into the outbox, events into the log.

use crate::clock::now_us;
use crate::digest::Digest;
use crate::disk::Disk;
use crate::log;
use crate::outbox::Outbox;
use crate::shim::Shim;
use crate::wire::Parcel;
use synod_core::{ProcessId, ProcessSet};
use synod_sim::network::Chance;

/// The part of a member that does not depend on its algorithm: clock, log, outbox, disk and
/// counters.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) me: ProcessId,
    pub(crate) n: usize,
    /// The number of this life of the process, from 1.
    pub(crate) life: u32,
    /// The start of the run, by the machine's clock.
    pub(crate) epoch_us: u64,
    /// The time of this step, in microseconds since the start.
    pub(crate) now_us: u64,
    pub(crate) chance: Chance,
    pub(crate) log: log::Writer,
    pub(crate) outbox: Outbox,
    pub(crate) shim: Shim,
    pub(crate) disk: Disk,
    pub(crate) digest: Digest,
    /// The number of the next message; a multicast takes one number per receiver.
    pub(crate) numbered: u64,
    /// Whether the log also keeps the application's inputs and outputs: a restarted process
    /// rebuilds its application from them.
    pub(crate) remembers: bool,
    /// Inputs and outputs of the application so far.
    pub(crate) progress: u64,
    /// Completed operations.
    pub(crate) operations: u64,
    /// Under a sequential load: operations that have released their turn.
    pub(crate) turns_over: u64,
    pub(crate) unreadable: u64,
    /// Failures in words, for the report.
    pub(crate) broken: Vec<String>,
}

/// The number of the first message of a life. The lives of a process share no numbers, so the
/// replay can tell a message of a dead life from one of the next.
pub(crate) fn first_number(life: u32) -> u64 {
    u64::from(life - 1) << 40
}

impl Environment {
    #[inline]
    pub(crate) fn look_at_the_clock(&mut self) {
        self.now_us = now_us().saturating_sub(self.epoch_us);
    }

    /// Whether the process had a disk in an earlier life and starts with an empty one now.
    pub(crate) fn has_lost_disk(&self) -> bool {
        self.life > 1 && self.disk.is_new
    }

    #[inline]
    pub(crate) fn send(&mut self, to: ProcessId, tell: bool, body: &[u8]) {
        let mut only = ProcessSet::EMPTY;
        only.insert(to);
        self.send_all(&only, tell, body);
    }

    #[inline]
    pub(crate) fn send_all(&mut self, to: &ProcessSet, tell: bool, body: &[u8]) {
        self.digest.sent(to.iter(), body);
        let number = self.numbered;
        self.numbered += to.len() as u64;
        if !self.outbox.carries(body.len()) {
            let size = body.len();
            self.complain(format!("a message of {size} bytes is larger than the medium carries"));
            return (number..self.numbered).for_each(|number| self.log.lost(number));
        }
        let parcel = Parcel { number, tell, body };
        let now = (self.now_us, self.me);
        self.shim.send(now, to, parcel, &mut self.outbox, &mut self.log);
    }

    /// Adds a failure to the report, once, and no more than sixteen: a failing link repeats itself.
    pub(crate) fn complain(&mut self, what: String) {
        if self.broken.len() < 16 && !self.broken.contains(&what) {
            self.broken.push(what);
        }
    }
}
