//! Appending, syncing, the next segment, checkpoints.

use crate::error::{Error, Trying};
use crate::frame::{Frame, HEAD, Kind, LARGEST_RECORD, size_of};
use crate::segment::{HEADER, Header, LEAST, MOST, name, room_for};
use crate::storage::{Storage, Stored, write_all};
use std::collections::VecDeque;
use std::io;

/// A new segment gets its name when it is whole, so that `open` never reads one that is half made.
pub(crate) const HALF_MADE: &str = "next.new";

/// The settings of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The size of a segment. A segment that begins with a larger record is as large as that needs.
    pub segment_bytes: u64,
    /// The meaning of a sync.
    pub durability: Durability,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { segment_bytes: 16 << 20, durability: Durability::Sync }
    }
}

/// The meaning of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Records are on the disk: they survive a crash of the machine.
    Sync,
    /// Records are with the kernel: they survive a crash of the process, and no more. After a loss
    /// of power the log may look damaged, and is then refused.
    None,
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let bytes = self.segment_bytes;
        match (LEAST..=MOST).contains(&bytes) {
            true => Ok(()),
            false => Err(Error::SegmentSize { bytes, least: LEAST, most: MOST }),
        }
    }
}

/// The segment that records are written to.
#[derive(Debug)]
pub(crate) struct Current<F> {
    pub(crate) file: F,
    pub(crate) header: Header,
    /// The initial value for the checksums of its records.
    pub(crate) seed: u32,
    pub(crate) length: u64,
    /// The place of the next record.
    pub(crate) end: u64,
}

/// An open log. It holds the lock of its storage while it lives.
#[derive(Debug)]
pub struct Log<S: Storage> {
    pub(crate) storage: S,
    _lock: S::Lock,
    settings: Settings,
    current: Current<S::File>,
    /// Segments that are superfluous, and may still exist.
    pub(crate) superfluous: Vec<String>,
    /// The segments that are needed, each with the number of its first record.
    needed: VecDeque<(u64, u64)>,
    /// What was appended since the last sync.
    waiting: Vec<u8>,
    /// The number of the next record, and of the last safe one.
    next: u64,
    synced: u64,
    poison: Option<String>,
}

impl<S: Storage> Log<S> {
    /// A log of which everything is safe: its current segment, the number of its next record, and
    /// its segments, each with the number of its first record.
    pub(crate) fn new(
        storage: S,
        lock: S::Lock,
        settings: Settings,
        (current, next, needed): (Current<S::File>, u64, VecDeque<(u64, u64)>),
    ) -> Self {
        Log {
            storage,
            _lock: lock,
            settings,
            current,
            superfluous: Vec::new(),
            needed,
            waiting: Vec::new(),
            next,
            synced: next - 1,
            poison: None,
        }
    }

    /// Adds a record; returns its number, from 1. The record is safe after the next [`Log::sync`].
    /// If the segment is full, the log syncs all earlier records, and begins the next segment.
    pub fn append(&mut self, content: &[u8]) -> Result<u64, Error> {
        self.check(content)?;
        // A mark follows the last record, so there must be room for it.
        let needs = (self.waiting.len() + size_of(content.len()) + HEAD) as u64;
        if self.current.end + needs > self.current.length {
            self.sync()?;
            self.go_on_in_the_next_segment(content.len())?;
        }
        // This cannot overflow: no segment has room for 2^32 records.
        let unsynced = (self.next - 1 - self.synced) as u32;
        let frame = Frame { kind: Kind::Record, sequence: self.next, unsynced, content };
        frame.write(self.current.seed, &mut self.waiting);
        self.next += 1;
        Ok(frame.sequence)
    }

    /// Makes all appended records safe: one write, and one sync of the disk. After a failure the
    /// log accepts no more records.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.check(&[])?;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = self.waiting.len();
        let (sync, next) = (self.settings.durability == Durability::Sync, self.next);
        let mark = Frame { kind: Kind::Mark, sequence: next, unsynced: 0, content: &[] };
        mark.write(self.current.seed, &mut self.waiting);
        let (records, mark) = self.waiting.split_at(waiting);
        let Current { file, end, header, .. } = &mut self.current;
        let after = *end + waiting as u64;
        let written = match sync {
            // The mark says that the records are safe, so it must not reach the disk before they
            // do.
            true => write_all(file, records, *end)
                .and_then(|()| file.sync())
                .and_then(|()| write_all(file, mark, after)),
            false => write_all(file, &self.waiting, *end),
        };
        let what = "the log cannot be written";
        let written = written.trying(what, &name(header.number));
        self.waiting.clear();
        self.current.end = after;
        self.or_poison(written)?;
        self.synced = next - 1;
        Ok(())
    }

    /// Adds a record that stands for all before it, and removes those; returns its number. The
    /// record is safe when this returns, and the older ones stay until then. It replaces appended
    /// records that are not synced, too. If only the removal fails, the checkpoint stands; the next
    /// checkpoint, or the next opening, removes the rest.
    pub fn checkpoint(&mut self, content: &[u8]) -> Result<u64, Error> {
        self.checkpoint_keeping(content, 0)
    }

    /// The same, but the last `keep` records before it are needed, too, and are shown before it
    /// when the log is opened. What of them was appended and not synced is synced.
    pub fn checkpoint_keeping(&mut self, content: &[u8], keep: u64) -> Result<u64, Error> {
        self.check(content)?;
        let sequence = self.next;
        let since = sequence.saturating_sub(keep).max(1);
        if keep > 0 {
            self.sync()?;
        }
        let header = Header { first: sequence, base: Some(since), ..self.next_header() };
        let frame = Frame { kind: Kind::Checkpoint, sequence, unsynced: 0, content };
        let made = make_segment(&self.storage, &self.settings, header, Some(frame));
        let made = self.or_poison_unless_full(made)?;
        let full = std::mem::replace(&mut self.current, made);
        if keep > 0 {
            self.seal(&full)?;
        }
        self.needed.push_back((header.number, sequence));
        while self.needed.get(1).is_some_and(|(_, first)| *first <= since) {
            self.superfluous.extend(self.needed.pop_front().map(|(number, _)| name(number)));
        }
        self.waiting.clear();
        self.next += 1;
        self.synced = sequence;
        self.remove_superfluous()?;
        Ok(sequence)
    }

    /// The number of the last safe record; 0 if there is none.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// The number that the next record gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of segments in use.
    pub fn segments(&self) -> u64 {
        self.needed.len() as u64
    }

    /// Syncs the appended records, and their mark: every bit of a log closed this way can be
    /// judged.
    pub fn close(mut self) -> Result<(), Error> {
        self.sync()?;
        let synced = self.current.file.sync();
        synced.trying("the log cannot be written", &name(self.current.header.number))
    }

    fn check(&self, content: &[u8]) -> Result<(), Error> {
        match &self.poison {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None if content.len() > LARGEST_RECORD => {
                Err(Error::TooLarge { length: content.len() })
            }
            None => Ok(()),
        }
    }

    fn next_header(&self) -> Header {
        let Header { number, identity, .. } = self.current.header;
        Header { number: number + 1, identity, first: self.next, base: None }
    }

    /// Begins the next segment. The caller has synced the current one.
    fn go_on_in_the_next_segment(&mut self, length: usize) -> Result<(), Error> {
        let settings = Settings {
            segment_bytes: self.settings.segment_bytes.max(room_for(length)),
            ..self.settings
        };
        let header = self.next_header();
        let made = make_segment(&self.storage, &settings, header, None);
        let made = self.or_poison_unless_full(made)?;
        self.needed.push_back((header.number, header.first));
        let full = std::mem::replace(&mut self.current, made);
        self.seal(&full)
    }

    /// Says in a segment that the log goes on in the next one. It is written over the mark, without
    /// a sync: it shows that the next segment is missing, if it is.
    fn seal(&mut self, full: &Current<S::File>) -> Result<(), Error> {
        let mut seal = Vec::new();
        let kind = Kind::Sealed;
        Frame { kind, sequence: self.next, unsynced: 0, content: &[] }.write(full.seed, &mut seal);
        let sealed = write_all(&full.file, &seal, full.end);
        let sealed = sealed.trying("the log cannot be written", &name(full.header.number));
        self.or_poison(sealed)
    }

    /// Removes superfluous segments. A file that cannot be removed now is removed the next time.
    pub(crate) fn remove_superfluous(&mut self) -> Result<(), Error> {
        if self.superfluous.is_empty() {
            return Ok(());
        }
        while let Some(file) = self.superfluous.last() {
            match self.storage.remove(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).trying("an old segment cannot be removed", file);
                }
                _ => self.superfluous.pop(),
            };
        }
        if self.settings.durability == Durability::None {
            return Ok(());
        }
        let synced = self.storage.sync_names();
        synced.trying("the directory cannot be synced", &self.storage.place())
    }

    fn or_poison<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.poison = Some(error.to_string());
        }
        result
    }

    fn or_poison_unless_full<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        match result {
            // No record was written yet, so the log stays usable.
            Err(Error::Full { .. }) => result,
            _ => self.or_poison(result),
        }
    }
}

/// Makes a segment, with a checkpoint if it is a base. It gets its name only when it is safe.
pub(crate) fn make_segment<S: Storage>(
    storage: &S,
    settings: &Settings,
    header: Header,
    checkpoint: Option<Frame<'_>>,
) -> Result<Current<S::File>, Error> {
    let least = checkpoint.map_or(0, |frame| room_for(frame.content.len()));
    let length = settings.segment_bytes.max(least);
    let seed = header.seed();
    let mut bytes = header.write().to_vec();
    if let Some(frame) = checkpoint {
        frame.write(seed, &mut bytes);
    }
    let file_name = name(header.number);
    let making = "a segment cannot be made";
    let file = storage.create(HALF_MADE).trying(making, HALF_MADE)?;
    if let Err(error) = file.reserve(length) {
        // It has no records yet. The next opening removes its remains.
        let _ = storage.remove(HALF_MADE);
        return match error.kind() {
            io::ErrorKind::StorageFull => Err(Error::Full { bytes: length, error }),
            _ => Err(error).trying(making, &file_name),
        };
    }
    let sync = settings.durability == Durability::Sync;
    write_all(&file, &bytes, 0).trying(making, &file_name)?;
    if sync {
        file.sync().trying(making, &file_name)?;
    }
    storage.rename(HALF_MADE, &file_name).trying(making, &file_name)?;
    if sync {
        storage.sync_names().trying(making, &file_name)?;
    }
    Ok(Current { file, header, seed, length, end: bytes.len().max(HEADER) as u64 })
}
