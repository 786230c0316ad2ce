//! Opening a log: its segments are read, judged and repaired.

use crate::error::{Error, Trying};
use crate::frame::{Frame, Kind};
use crate::log::{Current, Durability, HALF_MADE, Log, Settings, make_segment};
use crate::segment::{Contents, HEADER, Header, MOST, Tail, examine, name, number};
use crate::storage::{Storage, Stored, read_full, write_all, write_zeros};

/// One record as it is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its number. The first is 1, unless it is a checkpoint.
    pub sequence: u64,
    /// Whether it stands for records before it. It is then the first, or the first ones are those
    /// that it needs.
    pub is_checkpoint: bool,
    /// The appended bytes.
    pub content: &'a [u8],
}

/// An open log, and the findings of its opening.
#[derive(Debug)]
pub struct Opened<S: Storage> {
    /// The log.
    pub log: Log<S>,
    /// The number of records read.
    pub records: u64,
    /// Whether the log did not exist before.
    pub is_new: bool,
    /// The unfinished tail that was removed.
    pub repaired: Option<TornTail>,
}

/// The unfinished bytes that a crash left behind the last whole record. [`open`] removes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The segment.
    pub file: String,
    /// The place in it.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of whole records among them, behind one that is not whole.
    pub records: u64,
}

/// Opens the log, or creates it, and shows every record in order. If it returns an error, the
/// caller must not use the records shown so far.
pub fn open<S: Storage>(
    storage: S,
    settings: Settings,
    mut show: impl FnMut(Entry<'_>),
) -> Result<Opened<S>, Error> {
    settings.check()?;
    let place = storage.place();
    let locked = storage.lock().trying("the log cannot be locked", &place)?;
    let Some(lock) = locked else { return Err(Error::Busy { place }) };
    let names = storage.list().trying("the directory cannot be read", &place)?;
    // The crash came before this segment had its name, so it holds no safe record.
    if names.iter().any(|name| name == HALF_MADE) {
        let removed = storage.remove(HALF_MADE);
        removed.trying("a segment that is half made cannot be removed", HALF_MADE)?;
    }
    let headers = headers(&storage, &names)?;
    let Some((last, older)) = headers.split_last() else {
        let identity = storage.identity().trying("there is no identity", &place)?;
        let header = Header { number: 1, identity, first: 1, base: None };
        let current = make_segment(&storage, &settings, header, None)?;
        let log = Log::new(storage, lock, settings, (current, 1, [(1, 1)].into()));
        return Ok(Opened { log, records: 0, is_new: true, repaired: None });
    };
    let since = headers.iter().rev().find_map(|header| header.base).unwrap_or(1);
    let mut reading =
        Reading { storage: &storage, settings, next: None, since, records: 0, show: &mut show };
    for header in older {
        reading.read_older(header)?;
    }
    let (current, repaired) = reading.read_last(last)?;
    let (records, next) = (reading.records, reading.next.unwrap_or(1));
    let oldest = headers[0].number;
    let needed = headers.iter().map(|header| (header.number, header.first)).collect();
    let mut log = Log::new(storage, lock, settings, (current, next, needed));
    let old = names.into_iter().filter(|name| number(name).is_some_and(|number| number < oldest));
    log.superfluous.extend(old);
    log.remove_superfluous()?;
    if settings.durability == Durability::Sync {
        let synced = log.storage.sync_names();
        synced.trying("the directory cannot be synced", &place)?;
    }
    Ok(Opened { log, records, is_new: false, repaired })
}

/// The headers of all segments that are needed, in order: from the last that is a base, or from the
/// one with the first record that this base needs, or from the very first.
pub(crate) fn headers<S: Storage>(storage: &S, names: &[String]) -> Result<Vec<Header>, Error> {
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    let (mut headers, mut since): (Vec<Header>, Option<u64>) = (Vec::new(), None);
    for &number in numbers.iter().rev() {
        let header = read_header(storage, number)?;
        if let Some(after) = headers.last()
            && after.identity != header.identity
        {
            return Err(corrupt(number, 0, "it belongs to another log than the next segment"));
        }
        headers.push(header);
        since = since.or(header.base);
        if since.is_some_and(|since| header.first <= since) {
            break;
        }
    }
    headers.reverse();
    let is_enough = |header: &&Header| since.is_some_and(|since| header.first <= since);
    let first = headers.first().filter(is_enough).map_or(1, |oldest| oldest.number);
    match (first..).zip(&headers).find(|(expected, header)| header.number != *expected) {
        Some((missing, _)) => Err(corrupt(missing, 0, "the file is missing")),
        None => Ok(headers),
    }
}

fn read_header<S: Storage>(storage: &S, number: u64) -> Result<Header, Error> {
    let mut bytes = [0; HEADER];
    let file = storage.open(&name(number));
    let read = file.and_then(|file| read_full(&file, &mut bytes, 0));
    let read = read.trying("a segment cannot be read", &name(number))?;
    let header = Header::read(&bytes[..read]).map_err(|what| corrupt(number, 0, &what))?;
    match header.number == number {
        true => Ok(header),
        false => Err(corrupt(number, 0, &format!("it is segment {} by its header", header.number))),
    }
}

fn corrupt(number: u64, offset: usize, what: &str) -> Error {
    Error::Corrupt { file: name(number), offset: offset as u64, what: what.to_owned() }
}

/// Segments being read, one after the other.
struct Reading<'r, S: Storage> {
    storage: &'r S,
    settings: Settings,
    /// The number of the next record, once a segment was read.
    next: Option<u64>,
    /// The first record that is needed.
    since: u64,
    records: u64,
    show: &'r mut dyn FnMut(Entry<'_>),
}

impl<S: Storage> Reading<'_, S> {
    /// A segment that others follow: all of it was safe before the next one was begun. The header
    /// of the next one shows whether its last records are missing.
    fn read_older(&mut self, header: &Header) -> Result<(), Error> {
        let (file, _, contents) = self.read(header)?;
        match contents.tail {
            Tail::Damaged(why) => Err(corrupt(header.number, contents.end, why)),
            Tail::Clean | Tail::Sealed | Tail::Torn { .. } => self.sync(&file, header),
        }
    }

    /// The last segment: removes a torn tail.
    fn read_last(
        &mut self,
        header: &Header,
    ) -> Result<(Current<S::File>, Option<TornTail>), Error> {
        let (file, bytes, contents) = self.read(header)?;
        let Contents { end, next, safe, tail } = contents;
        let file_name = name(header.number);
        let (torn_end, repaired) = match tail {
            Tail::Clean => (end, None),
            Tail::Sealed => return Err(corrupt(header.number + 1, 0, "the file is missing")),
            Tail::Damaged(why) => return Err(corrupt(header.number, end, why)),
            Tail::Torn { end: torn_end, records } => {
                let (offset, bytes) = (end as u64, (torn_end - end) as u64);
                (torn_end, Some(TornTail { file: file_name.clone(), offset, bytes, records }))
            }
        };
        let (seed, end) = (header.seed(), end as u64);
        let mut mark = Vec::new();
        let kind = Kind::Mark;
        Frame { kind, sequence: next, unsynced: 0, content: &[] }.write(seed, &mut mark);
        let length = (bytes.len() as u64).max(end + mark.len() as u64);
        // Records that no mark vouches for may be in the kernel's memory only. If the disk has
        // failed on them before, the kernel does not try again unless they are written again.
        let unsafe_part = &bytes[safe..end as usize];
        let repairing = "the log cannot be repaired";
        file.reserve(length)
            .and_then(|()| write_all(&file, unsafe_part, safe as u64))
            .and_then(|()| write_zeros(&file, end, torn_end as u64))
            .trying(repairing, &file_name)?;
        self.sync(&file, header)?;
        write_all(&file, &mark, end).trying(repairing, &file_name)?;
        Ok((Current { file, header: *header, seed, length, end }, repaired))
    }

    /// Reads a segment, and shows its records.
    fn read(&mut self, header: &Header) -> Result<(S::File, Vec<u8>, Contents), Error> {
        let Header { number, first, .. } = *header;
        if let Some(next) = self.next
            && next != first
        {
            let what = format!("the records from {next} on are missing, before record {first}");
            return Err(corrupt(number - 1, 0, &what));
        }
        let (file, bytes) = read_file(self.storage, number)?;
        let contents = examine(&bytes, header, |Frame { kind, sequence, content, .. }| {
            if sequence < self.since {
                return;
            }
            self.records += 1;
            (self.show)(Entry { sequence, is_checkpoint: kind == Kind::Checkpoint, content });
        });
        self.next = Some(contents.next);
        Ok((file, bytes, contents))
    }

    fn sync(&self, file: &S::File, header: &Header) -> Result<(), Error> {
        match self.settings.durability {
            Durability::None => Ok(()),
            Durability::Sync => {
                file.sync().trying("the log cannot be synced", &name(header.number))
            }
        }
    }
}

pub(crate) fn read_file<S: Storage>(storage: &S, number: u64) -> Result<(S::File, Vec<u8>), Error> {
    let (file_name, reading) = (name(number), "a segment cannot be read");
    let file = storage.open(&file_name).trying(reading, &file_name)?;
    let length = file.length().trying(reading, &file_name)?;
    if length > MOST {
        let what = format!("it has {length} bytes, and no segment has more than {MOST}");
        return Err(corrupt(number, MOST as usize, &what));
    }
    let mut bytes = vec![0; length as usize];
    let read = read_full(&file, &mut bytes, 0).trying(reading, &file_name)?;
    bytes.truncate(read);
    Ok((file, bytes))
}
