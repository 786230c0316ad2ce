//! What one process can do during a step: send, and have it written down.

use crate::clock::now_us;
use crate::digest::Digest;
use crate::disk::Disk;
use crate::log;
use crate::outbox::Outbox;
use crate::shim::Shim;
use crate::wire::Parcel;
use synod_core::{ProcessId, ProcessSet};
use synod_sim::network::Chance;

/// Everything around a process that does not depend on its algorithm.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) me: ProcessId,
    pub(crate) n: usize,
    /// Which life of the process this is, from 1.
    pub(crate) life: u32,
    /// When the run began, by the machine's clock.
    pub(crate) epoch_us: u64,
    /// The time of this step, in microseconds since then.
    pub(crate) now_us: u64,
    pub(crate) chance: Chance,
    pub(crate) log: log::Writer,
    pub(crate) outbox: Outbox,
    pub(crate) shim: Shim,
    pub(crate) disk: Disk,
    pub(crate) digest: Digest,
    /// The number of the next message; each receiver of one has its own.
    pub(crate) numbered: u64,
    /// Whether what the application asks and is told is written down, too: for the next life.
    pub(crate) remembers: bool,
    /// How often the application asked, or was told.
    pub(crate) progress: u64,
    /// How many operations were completed.
    pub(crate) operations: u64,
    /// Under a sequential load: how many were over, so that the next may begin.
    pub(crate) turns_over: u64,
    pub(crate) unreadable: u64,
    /// What went wrong, in words.
    pub(crate) broken: Vec<String>,
}

/// The number of the first message of a life: no other life has the same numbers.
pub(crate) fn first_number(life: u32) -> u64 {
    u64::from(life - 1) << 40
}

impl Stage {
    /// Looks at the clock.
    #[inline]
    pub(crate) fn look_at_the_clock(&mut self) {
        self.now_us = now_us().saturating_sub(self.epoch_us);
    }

    /// Whether the process had a disk in an earlier life and has none of it now.
    pub(crate) fn has_lost_disk(&self) -> bool {
        self.life > 1 && self.disk.is_new
    }

    /// Sends a message to one process.
    #[inline]
    pub(crate) fn send(&mut self, to: ProcessId, tell: bool, body: &[u8]) {
        let mut only = ProcessSet::EMPTY;
        only.insert(to);
        self.send_all(&only, tell, body);
    }

    /// Sends a message to each of them.
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

    /// Something went wrong that people should know of; once.
    pub(crate) fn complain(&mut self, what: String) {
        if self.broken.len() < 16 && !self.broken.contains(&what) {
            self.broken.push(what);
        }
    }
}
