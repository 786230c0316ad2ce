//! A disk in memory that crashes, fails, writes only a part, and forgets writes that were not
//! synced.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use synod_wal::{Storage, Stored};

/// One write reaches the disk in pieces of this size, each whole, in part or lost. Real sectors are
/// larger; small ones make more faults fit into a short test.
const SECTOR: usize = 64;

/// An operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Write,
    /// A sync that fails, and drops the bytes it should have written.
    Sync,
    /// A sync that fails, because the machine is about to lose power.
    LastSync,
    Reserve,
    Remove,
    Rename,
}

/// A change of names.
#[derive(Clone, Debug)]
enum Change {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

#[derive(Debug, Default)]
struct State {
    /// The bytes that every process sees, and those on the disk; by number, because files change
    /// their names.
    seen: Vec<Vec<u8>>,
    kept: Vec<Vec<u8>>,
    /// The unsynced writes to each file.
    unsynced: Vec<Vec<(usize, Vec<u8>)>>,
    names: BTreeMap<String, usize>,
    kept_names: BTreeMap<String, usize>,
    changes: Vec<Change>,
    is_locked: bool,
    /// The number of these operations that succeed before one fails.
    failure: Option<(Deed, u32, io::ErrorKind)>,
    /// The limit on the length of a write.
    longest_write: Option<usize>,
    pub(crate) syncs: u64,
    pub(crate) writes: u64,
}

/// The disk. Copies are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Rc<RefCell<State>>);

/// An open file.
#[derive(Debug)]
pub(crate) struct OnDisk {
    disk: Disk,
    number: usize,
}

/// Unlocks when dropped.
#[derive(Debug)]
pub(crate) struct Locked(Disk);

impl Drop for Locked {
    fn drop(&mut self) {
        self.0.0.borrow_mut().is_locked = false;
    }
}

impl Disk {
    /// One of these operations fails, after `after` that succeed.
    pub(crate) fn fail(&self, deed: Deed, after: u32, how: io::ErrorKind) {
        self.0.borrow_mut().failure = Some((deed, after, how));
    }

    /// Limits the length of a write.
    pub(crate) fn write_at_most(&self, bytes: usize) {
        self.0.borrow_mut().longest_write = Some(bytes);
    }

    /// The number of writes, and of syncs.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.0.borrow();
        (state.writes, state.syncs)
    }

    /// The machine loses power. `chance` decides which unsynced bytes have reached the disk: it is
    /// asked for a number below the one given.
    pub(crate) fn lose_power(&self, chance: &mut dyn FnMut(usize) -> usize) {
        let state = &mut *self.0.borrow_mut();
        for (kept, unsynced) in state.kept.iter_mut().zip(&mut state.unsynced) {
            for (offset, bytes) in std::mem::take(unsynced) {
                keep_some(kept, offset, &bytes, chance);
            }
        }
        let mut skipped = BTreeSet::new();
        for change in std::mem::take(&mut state.changes) {
            // A change that depends on a lost one is lost too.
            let names = change.names();
            if names.iter().any(|name| skipped.contains(name)) || chance(3) == 0 {
                skipped.extend(names);
            } else {
                change.apply(&mut state.kept_names);
            }
        }
        state.names = state.kept_names.clone();
        state.seen = state.kept.clone();
        state.failure = None;
    }

    /// The content of a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        let state = self.0.borrow();
        state.seen[state.names[name]].clone()
    }

    /// Changes a file behind every process's back, on the disk as well.
    pub(crate) fn replace(&self, name: &str, bytes: Vec<u8>) {
        let state = &mut *self.0.borrow_mut();
        let number = state.names[name];
        state.seen[number].clone_from(&bytes);
        state.kept[number] = bytes;
        state.unsynced[number].clear();
    }

    /// Another disk with the same files, all safe.
    pub(crate) fn copy(&self) -> Disk {
        let state = self.0.borrow();
        Disk(Rc::new(RefCell::new(State {
            seen: state.seen.clone(),
            kept: state.seen.clone(),
            unsynced: vec![Vec::new(); state.seen.len()],
            names: state.names.clone(),
            kept_names: state.names.clone(),
            ..State::default()
        })))
    }

    /// The segments.
    pub(crate) fn segments(&self) -> Vec<String> {
        let state = self.0.borrow();
        state.names.keys().filter(|name| name.ends_with(".wal")).cloned().collect()
    }

    fn may(&self, deed: Deed) -> io::Result<()> {
        let failure = &mut self.0.borrow_mut().failure;
        match failure {
            Some((which, 0, how)) if *which == deed => {
                let how = *how;
                *failure = None;
                Err(how.into())
            }
            Some((which, left, _)) if *which == deed => {
                *left -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn change(&self, change: Change) {
        let state = &mut *self.0.borrow_mut();
        change.apply(&mut state.names);
        state.changes.push(change);
    }
}

fn keep_some(
    kept: &mut Vec<u8>,
    offset: usize,
    bytes: &[u8],
    chance: &mut dyn FnMut(usize) -> usize,
) {
    let mut at = offset;
    for sector in bytes.chunks(SECTOR) {
        let count = match chance(3) {
            0 => 0,
            1 => chance(sector.len() + 1),
            _ => sector.len(),
        };
        put(kept, at, &sector[..count]);
        at += sector.len();
    }
}

fn put(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if file.len() < offset + bytes.len() {
        file.resize(offset + bytes.len(), 0);
    }
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
}

impl Change {
    fn names(&self) -> Vec<String> {
        match self {
            Change::Create(name, _) | Change::Remove(name) => vec![name.clone()],
            Change::Rename(from, to) => vec![from.clone(), to.clone()],
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Change::Create(name, number) => {
                names.insert(name.clone(), *number);
            }
            Change::Rename(from, to) => {
                if let Some(number) = names.remove(from) {
                    names.insert(to.clone(), number);
                }
            }
            Change::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl Storage for Disk {
    type File = OnDisk;
    type Lock = Locked;

    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn lock(&self) -> io::Result<Option<Locked>> {
        let is_locked = std::mem::replace(&mut self.0.borrow_mut().is_locked, true);
        Ok((!is_locked).then(|| Locked(self.clone())))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<OnDisk> {
        let number = self.0.borrow().seen.len();
        let state = &mut *self.0.borrow_mut();
        state.seen.push(Vec::new());
        state.kept.push(Vec::new());
        state.unsynced.push(Vec::new());
        let change = Change::Create(name.to_owned(), number);
        change.apply(&mut state.names);
        state.changes.push(change);
        Ok(OnDisk { disk: self.clone(), number })
    }

    fn open(&self, name: &str) -> io::Result<OnDisk> {
        let number = self.0.borrow().names.get(name).copied();
        let number = number.ok_or(io::ErrorKind::NotFound)?;
        Ok(OnDisk { disk: self.clone(), number })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.may(Deed::Rename)?;
        self.change(Change::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.may(Deed::Remove)?;
        if !self.0.borrow().names.contains_key(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.change(Change::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let state = &mut *self.0.borrow_mut();
        state.kept_names = state.names.clone();
        state.changes.clear();
        Ok(())
    }

    fn identity(&self) -> io::Result<u128> {
        Ok(0x5eed)
    }
}

impl Stored for OnDisk {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.0.borrow().seen[self.number].len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.disk.0.borrow();
        let rest = state.seen[self.number].get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.disk.may(Deed::Write)?;
        let state = &mut *self.disk.0.borrow_mut();
        let count = state.longest_write.map_or(bytes.len(), |most| most.min(bytes.len()));
        put(&mut state.seen[self.number], offset as usize, &bytes[..count]);
        state.unsynced[self.number].push((offset as usize, bytes[..count].to_vec()));
        state.writes += 1;
        Ok(count)
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        self.disk.may(Deed::Reserve)?;
        let state = &mut *self.disk.0.borrow_mut();
        for file in [&mut state.seen[self.number], &mut state.kept[self.number]] {
            let longer = file.len().max(length as usize);
            file.resize(longer, 0);
        }
        Ok(())
    }

    /// Like kernels, it does not repeat a failed write.
    fn sync(&self) -> io::Result<()> {
        self.disk.may(Deed::LastSync)?;
        let may = self.disk.may(Deed::Sync);
        let state = &mut *self.disk.0.borrow_mut();
        let unsynced = std::mem::take(&mut state.unsynced[self.number]);
        may?;
        for (offset, bytes) in unsynced {
            put(&mut state.kept[self.number], offset, &bytes);
        }
        state.syncs += 1;
        Ok(())
    }
}
