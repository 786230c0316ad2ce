//! One process in a world: the algorithm's state, and what surrounds it.

use std::hash::{Hash, Hasher};
use synod_core::durable::Record;
use synod_core::{Algorithm, Effect, EffectOf, Family};

/// The application above an algorithm.
pub type ApplicationOf<A> = <<A as Algorithm>::Family as Family>::Application;

/// One process.
#[derive(Debug)]
pub struct Process<A: Algorithm> {
    /// The algorithm's state.
    pub state: A,
    /// The application above it.
    pub application: ApplicationOf<A>,
    /// Whether it runs.
    pub status: Status,
    /// Which of its lives it is in, from 1.
    pub incarnation: u32,
    /// Whether it started this life without the disk that it had before.
    pub(crate) has_lost_disk: bool,
    pub(crate) timers: Vec<SetTimer<A::Timer>>,
    /// None until something is written: most algorithms have no disk.
    pub(crate) disk: Option<Box<Disk<A>>>,
    /// The hash of all this; 0 if it is not known.
    pub(crate) print: u64,
}

/// A timer that is set.
#[derive(Debug)]
pub struct SetTimer<T> {
    /// The number that it got when it was set.
    pub number: u64,
    /// Its name.
    pub timer: T,
    /// In how many milliseconds it runs out, if the world is synchronous; else 0.
    pub left_ms: u32,
    /// Whether it stands for a fault.
    pub(crate) is_fault: bool,
}

impl<T: Clone> Clone for SetTimer<T> {
    fn clone(&self) -> Self {
        SetTimer { timer: self.timer.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let SetTimer { number, left_ms, is_fault, .. } = *source;
        (self.number, self.left_ms, self.is_fault) = (number, left_ms, is_fault);
        self.timer.clone_from(&source.timer);
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
    pub(crate) fn new(state: A, application: ApplicationOf<A>) -> Self {
        let (timers, disk) = (Vec::new(), None);
        let (status, incarnation, has_lost_disk) = (Status::Up, 1, false);
        Process { state, application, status, incarnation, has_lost_disk, timers, disk, print: 0 }
    }

    /// Whether it takes anything in.
    pub fn is_up(&self) -> bool {
        self.status == Status::Up
    }

    /// The timers that are set, in the order of setting.
    pub fn timers(&self) -> &[SetTimer<A::Timer>] {
        &self.timers
    }

    /// Whether the disk has something to write.
    pub fn is_writing(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| !disk.held.is_empty())
    }

    /// How many records wait for the disk.
    pub fn waiting_records(&self) -> usize {
        let held = self.disk.iter().flat_map(|disk| &disk.held);
        held.filter(|(_, effect)| is_record(effect)).count()
    }

    /// What is on the disk.
    pub fn records(&self) -> &[Record] {
        self.disk.as_ref().map_or(&[], |disk| &disk.records)
    }
}

impl<A: Algorithm> Clone for Process<A> {
    fn clone(&self) -> Self {
        Process {
            state: self.state.clone(),
            application: self.application.clone(),
            status: self.status,
            incarnation: self.incarnation,
            has_lost_disk: self.has_lost_disk,
            timers: self.timers.clone(),
            disk: self.disk.clone(),
            print: self.print,
        }
    }

    // Explorers copy worlds all the time: keep what is allocated.
    fn clone_from(&mut self, source: &Self) {
        self.state.clone_from(&source.state);
        self.application.clone_from(&source.application);
        self.status = source.status;
        self.incarnation = source.incarnation;
        self.has_lost_disk = source.has_lost_disk;
        self.print = source.print;
        // Most processes have neither timers nor a disk.
        if !(self.timers.is_empty() && source.timers.is_empty()) {
            self.timers.clone_from(&source.timers);
        }
        if self.disk.is_some() || source.disk.is_some() {
            self.disk.clone_from(&source.disk);
        }
    }
}

/// The numbers of timers do not matter, only which are set.
impl<A: Algorithm> Hash for Process<A> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
        self.application.hash(hasher);
        self.status.hash(hasher);
        (self.incarnation, self.has_lost_disk).hash(hasher);
        // Counted, so that no list of timers can be taken for the beginning of a disk.
        let matter = || self.timers.iter().filter(|set| !set.is_fault);
        matter().count().hash(hasher);
        for set in matter() {
            (&set.timer, set.left_ms).hash(hasher);
        }
        if let Some(disk) = &self.disk {
            disk.records.hash(hasher);
            disk.held.hash(hasher);
        }
    }
}

/// Whether it goes to the disk.
pub(super) fn is_record<M, T, O>(effect: &Effect<M, T, O>) -> bool {
    matches!(effect, Effect::Persist(_) | Effect::Checkpoint(_))
}

/// The disk of a process: what is safe, and what waits to be written.
#[derive(Debug)]
pub(crate) struct Disk<A: Algorithm> {
    pub(crate) records: Vec<Record>,
    /// Records not yet written and the effects that wait for them, in order, each with the layer
    /// that asked for it. Begins with a record.
    pub(crate) held: Vec<(u8, EffectOf<A>)>,
}

impl<A: Algorithm> Disk<A> {
    /// What is written, or will be, is nothing: for whoever compares states from which no process
    /// comes back.
    pub(crate) fn forget_records(&mut self) {
        self.records.clear();
        for (_, effect) in &mut self.held {
            if let Effect::Persist(record) | Effect::Checkpoint(record) = effect {
                record.0.clear();
            }
        }
    }

    /// The messages that wait for a record.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = &mut A::Message> {
        self.held.iter_mut().filter_map(|(_, effect)| match effect {
            Effect::Send { message, .. } | Effect::Multicast { message, .. } => Some(message),
            _ => None,
        })
    }

    /// This record is safe now.
    pub(super) fn write(&mut self, record: EffectOf<A>) {
        match record {
            Effect::Persist(record) => self.records.push(record),
            Effect::Checkpoint(record) => self.records = vec![record],
            _ => unreachable!("it is a record"),
        }
    }
}

impl<A: Algorithm> Default for Disk<A> {
    fn default() -> Self {
        Disk { records: Vec::new(), held: Vec::new() }
    }
}

impl<A: Algorithm> Clone for Disk<A> {
    fn clone(&self) -> Self {
        Disk { records: self.records.clone(), held: self.held.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.records.clone_from(&source.records);
        self.held.clone_from(&source.held);
    }
}
