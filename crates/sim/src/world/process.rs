//! One process in a world: its host, and what surrounds it.

use std::hash::{Hash, Hasher};
use synod_core::durable::Record;
use synod_core::host::{SetTimer, Write};
use synod_core::{Algorithm, Family, Host, Reductions, clone_by_field};

/// The application above an algorithm.
pub type ApplicationOf<A> = <<A as Algorithm>::Family as Family>::Application;

/// One process.
#[derive(Debug)]
pub struct Process<A: Algorithm> {
    /// The algorithm's state, its timers, and what waits for the disk.
    pub(super) host: Host<A>,
    /// The application above it.
    pub application: ApplicationOf<A>,
    /// None until the first record: most algorithms have no disk.
    pub(super) disk: Option<Box<Disk>>,
    /// Whether it runs.
    pub status: Status,
    /// Which of its lives it is in, from 1.
    pub incarnation: u32,
    /// Whether it started this life without the disk that it had before.
    pub(super) has_lost_disk: bool,
    /// The hash of all this; 0 if it is not known.
    pub(super) print: u64,
    /// Whether it may differ from the process that it was copied from.
    pub(super) is_touched: bool,
    /// The number of its last change, among those of all processes; 0 where fingerprints are kept.
    pub(super) changed: u64,
}

impl<A: Algorithm> Clone for Process<A> {
    fn clone(&self) -> Self {
        Process {
            host: self.host.clone(),
            application: self.application.clone(),
            disk: self.disk.clone(),
            is_touched: false,
            ..*self
        }
    }

    // Explorers copy similar worlds over one another again and again: most processes are the same
    // already.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.is_touched = false;
        if self.print != 0 && self.is_same(source) {
            return;
        }
        self.host.clone_from(&source.host);
        self.application.clone_from(&source.application);
        self.disk.clone_from(&source.disk);
        (self.status, self.incarnation) = (source.status, source.incarnation);
        self.has_lost_disk = source.has_lost_disk;
        (self.print, self.changed) = (source.print, source.changed);
    }
}

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs.
    Up,
    /// It stands still, and what arrives waits.
    Paused,
    /// It is gone, and what arrives is lost.
    Crashed,
}

impl<A: Algorithm> Process<A> {
    pub(super) fn new(state: A, application: ApplicationOf<A>) -> Self {
        Process {
            host: Host::new(state),
            application,
            disk: None,
            status: Status::Up,
            incarnation: 1,
            has_lost_disk: false,
            print: 0,
            is_touched: false,
            changed: 0,
        }
    }

    /// Its change of this number begins, so the hash is not known any longer.
    pub(super) fn touch(&mut self, change: u64) {
        (self.print, self.is_touched, self.changed) = (0, true, change);
    }

    /// Whether the other process is the same. Hashes leave out a part of the host: the numbers of
    /// its timers, and of its state what makes no difference to an explorer. The rest is compared
    /// by its hash.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.print == other.print && self.host == other.host
    }

    /// The algorithm's state.
    pub fn state(&self) -> &A {
        self.host.state()
    }

    /// Whether it takes anything in.
    pub fn is_up(&self) -> bool {
        self.status == Status::Up
    }

    /// The timers that are set, in the order of setting.
    pub fn timers(&self) -> &[SetTimer<A::Timer>] {
        self.host.timers()
    }

    /// Whether the disk has a record to write.
    pub fn is_writing(&self) -> bool {
        self.host.is_writing()
    }

    /// How many records wait for the disk.
    pub fn waiting_records(&self) -> usize {
        self.host.waiting_records()
    }

    /// The records on the disk.
    pub fn records(&self) -> &[Record] {
        self.disk.as_ref().map_or(&[], |disk| &disk.records)
    }
}

/// In how many milliseconds a timer is due. Where time does not matter every timer is due.
pub(super) fn left_ms<T>(set: &SetTimer<T>, now_us: Option<u64>) -> u32 {
    let left_us = now_us.map_or(0, |now_us| set.due_us.saturating_sub(now_us));
    u32::try_from(left_us / 1_000).unwrap_or(u32::MAX)
}

/// What tells a process from others: of its timers which are set, and how long they have left where
/// that matters, but not their numbers.
pub(super) struct Print<'a, A: Algorithm> {
    pub(super) process: &'a Process<A>,
    /// What time it is, where timers run out by the clock.
    pub(super) now_us: Option<u64>,
    /// Tells timers that stand for faults, which are left out.
    pub(super) reductions: Reductions<A>,
}

impl<A: Algorithm> Hash for Print<'_, A> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let process = self.process;
        process.state().hash(hasher);
        process.application.hash(hasher);
        process.status.hash(hasher);
        (process.incarnation, process.has_lost_disk).hash(hasher);
        // Counted, so that no list of timers can be taken for the beginning of a disk.
        let is_fault = |set: &SetTimer<A::Timer>| self.reductions.is_fault(&set.timer);
        let matter = || process.timers().iter().filter(|set| !is_fault(set));
        matter().count().hash(hasher);
        for set in matter() {
            (&set.timer, left_ms(set, self.now_us)).hash(hasher);
        }
        if let Some(disk) = &process.disk {
            disk.records.hash(hasher);
            process.host.waiting().hash(hasher);
        }
    }
}

/// The disk of a process: the records that a crash leaves.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) records: Vec<Record>,
}

clone_by_field!(Disk { records });

impl Disk {
    pub(super) fn write(&mut self, write: Write<Record>) {
        match write {
            Write::Append(record) => self.records.push(record),
            Write::Checkpoint(record, keep) => {
                let superfluous = self.records.len().saturating_sub(keep as usize);
                self.records.drain(..superfluous);
                self.records.push(record);
            }
        }
    }
}
