//! The log of a member: every event that it takes in, written before the member sends the results.
//!
//! An event (an input, a message or a timer) and the random choices during the step determine that
//! step. So the log holds these and the time; the replay computes messages and outputs. The member
//! writes the log in batches. Each batch ends with a digest of all messages and outputs so far. The
//! reader ignores a last batch that is incomplete because its writer was killed: no message of it
//! has left.

use crate::digest::Digest;
use crate::wire::{read_number, write_number};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use synod_core::ProcessId;

/// Limit of one batch in bytes. The reader refuses a larger one before it allocates memory for it.
const LARGEST_BATCH: u32 = 1 << 30;

/// An event that a process takes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The start, always the first event, with the number of records ever synced to the disk; None
    /// if the process has lost its disk.
    Start(Option<u64>),
    /// The effects that waited for the disk happen.
    Sync,
    /// A request of its application, encoded.
    Input(Vec<u8>),
    /// A message: its sender, and its number at the sender.
    Message(ProcessId, u64),
    /// A message that could not be decoded.
    Unreadable(ProcessId, u64),
    /// A timer that fired, encoded.
    Timer(Vec<u8>),
    /// Its application tells that of another process about its request.
    Tell(ProcessId),
}

/// One step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The time in microseconds since the start of the run.
    pub(crate) time_us: u64,
    /// The event.
    pub(crate) event: Event,
    /// The random choices during the step.
    pub(crate) choices: Vec<u32>,
    /// The numbers of the messages of this step that the shim loses,
    pub(crate) lost: Vec<u64>,
    /// and of those that it duplicates.
    pub(crate) copied: Vec<u64>,
    /// The inputs and outputs of the application, in order, if the process will be restarted.
    pub(crate) application: Vec<ApplicationEvent>,
    /// The digest after this step, if it is the last of a batch.
    pub(crate) digest: Option<Digest>,
}

/// An input or output of the application, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApplicationEvent {
    /// An input.
    Input(Vec<u8>),
    /// An output.
    Output(Vec<u8>),
}

const INPUT: u8 = 0;
const MESSAGE: u8 = 1;
const UNREADABLE: u8 = 2;
const TIMER: u8 = 3;
const TELL: u8 = 4;
const CHOICE: u8 = 5;
const LOST: u8 = 6;
const COPIED: u8 = 7;
const START: u8 = 8;
const SYNC: u8 = 9;
const APPLICATION_INPUT: u8 = 10;
const APPLICATION_OUTPUT: u8 = 11;
const START_WITHOUT_DISK: u8 = 12;

/// Writes a log.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    batch: Vec<u8>,
}

/// The size of a batch's first field, its length, which `commit` fills in.
const LENGTH: usize = 4;

impl Writer {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Writer { file: File::create(path)?, batch: vec![0; LENGTH] })
    }

    #[inline]
    fn begin(&mut self, kind: u8, time_us: u64) {
        self.batch.push(kind);
        write_number(&mut self.batch, time_us);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        write_number(&mut self.batch, bytes.len() as u64);
        self.batch.extend_from_slice(bytes);
    }

    pub(crate) fn start(&mut self, time_us: u64, records: Option<u64>) {
        match records {
            None => self.begin(START_WITHOUT_DISK, time_us),
            Some(records) => {
                self.begin(START, time_us);
                write_number(&mut self.batch, records);
            }
        }
    }

    pub(crate) fn sync(&mut self, time_us: u64) {
        self.begin(SYNC, time_us);
    }

    pub(crate) fn application_input(&mut self, input: &[u8]) {
        self.batch.push(APPLICATION_INPUT);
        self.bytes(input);
    }

    pub(crate) fn application_output(&mut self, output: &[u8]) {
        self.batch.push(APPLICATION_OUTPUT);
        self.bytes(output);
    }

    pub(crate) fn input(&mut self, time_us: u64, input: &[u8]) {
        self.begin(INPUT, time_us);
        self.bytes(input);
    }

    #[inline]
    pub(crate) fn message(&mut self, time_us: u64, from: ProcessId, number: u64, readable: bool) {
        self.begin(if readable { MESSAGE } else { UNREADABLE }, time_us);
        write_number(&mut self.batch, from.0.into());
        write_number(&mut self.batch, number);
    }

    pub(crate) fn timer(&mut self, time_us: u64, timer: &[u8]) {
        self.begin(TIMER, time_us);
        self.bytes(timer);
    }

    pub(crate) fn tell(&mut self, time_us: u64, to: ProcessId) {
        self.begin(TELL, time_us);
        write_number(&mut self.batch, to.0.into());
    }

    /// A detail of the last step.
    fn also(&mut self, kind: u8, number: u64) {
        self.batch.push(kind);
        write_number(&mut self.batch, number);
    }

    pub(crate) fn choice(&mut self, chosen: u32) {
        self.also(CHOICE, chosen.into());
    }

    pub(crate) fn lost(&mut self, number: u64) {
        self.also(LOST, number);
    }

    pub(crate) fn copied(&mut self, number: u64) {
        self.also(COPIED, number);
    }

    /// Writes the batch, unless it is empty. Only now may the messages of its steps leave.
    pub(crate) fn commit(&mut self, digest: Digest) -> io::Result<()> {
        if self.batch.len() == LENGTH {
            return Ok(());
        }
        self.batch.extend_from_slice(&digest.0.to_le_bytes());
        let length = (self.batch.len() - LENGTH) as u32;
        self.batch[..LENGTH].copy_from_slice(&length.to_le_bytes());
        self.file.write_all(&self.batch)?;
        self.batch.truncate(LENGTH);
        Ok(())
    }
}

/// Reads a log, step by step.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    source: R,
    ready: VecDeque<Entry>,
}

/// Opens a log. A member that died before its first write has no file; its log is empty.
pub(crate) fn open(path: &Path) -> io::Result<Reader<Box<dyn Read>>> {
    let source: Box<dyn Read> = match File::open(path) {
        Ok(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Box::new(io::empty()),
        Err(error) => return Err(error),
    };
    Ok(Reader::new(source))
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Reader { source, ready: VecDeque::new() }
    }

    /// The next step, without taking it.
    pub(crate) fn peek(&mut self) -> io::Result<Option<&Entry>> {
        while self.ready.is_empty() {
            let Some(batch) = self.read_batch()? else { return Ok(None) };
            self.ready = parse(&batch).ok_or_else(|| io::Error::other("a log cannot be read"))?;
        }
        Ok(self.ready.front())
    }

    /// Takes the step that [`Reader::peek`] showed.
    pub(crate) fn take(&mut self) -> Option<Entry> {
        self.ready.pop_front()
    }

    /// The next batch; None at the end of the log and at a torn last batch.
    fn read_batch(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; LENGTH];
        if let Err(error) = self.source.read_exact(&mut length) {
            return torn(error);
        }
        let length = u32::from_le_bytes(length);
        if length > LARGEST_BATCH {
            return Err(io::Error::other("a log has a batch beyond all measure"));
        }
        let mut batch = Vec::new();
        let read = self.source.by_ref().take(length.into()).read_to_end(&mut batch)?;
        Ok((read == length as usize).then_some(batch))
    }
}

fn torn<T>(error: io::Error) -> io::Result<Option<T>> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Ok(None),
        _ => Err(error),
    }
}

/// The steps of a batch.
fn parse(batch: &[u8]) -> Option<VecDeque<Entry>> {
    let (mut rest, digest) = batch.split_last_chunk::<8>()?;
    let mut entries = VecDeque::<Entry>::new();
    while let Some((&kind, after)) = rest.split_first() {
        rest = after;
        match kind {
            CHOICE => entries.back_mut()?.choices.push(take_u32(&mut rest)?),
            LOST => entries.back_mut()?.lost.push(take_number(&mut rest)?),
            COPIED => entries.back_mut()?.copied.push(take_number(&mut rest)?),
            APPLICATION_INPUT => entries
                .back_mut()?
                .application
                .push(ApplicationEvent::Input(take_bytes(&mut rest)?)),
            APPLICATION_OUTPUT => entries
                .back_mut()?
                .application
                .push(ApplicationEvent::Output(take_bytes(&mut rest)?)),
            _ => entries.push_back(parse_step(kind, &mut rest)?),
        }
    }
    entries.back_mut()?.digest = Some(Digest(u64::from_le_bytes(*digest)));
    Some(entries)
}

fn parse_step(kind: u8, rest: &mut &[u8]) -> Option<Entry> {
    let time_us = take_number(rest)?;
    let event = match kind {
        START => Event::Start(Some(take_number(rest)?)),
        START_WITHOUT_DISK => Event::Start(None),
        SYNC => Event::Sync,
        INPUT => Event::Input(take_bytes(rest)?),
        TIMER => Event::Timer(take_bytes(rest)?),
        MESSAGE => Event::Message(take_process(rest)?, take_number(rest)?),
        UNREADABLE => Event::Unreadable(take_process(rest)?, take_number(rest)?),
        TELL => Event::Tell(take_process(rest)?),
        _ => return None,
    };
    let (choices, lost, copied, application) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    Some(Entry { time_us, event, choices, lost, copied, application, digest: None })
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, used) = read_number(rest).ok()??;
    *rest = &rest[used..];
    Some(number)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    take_number(rest)?.try_into().ok()
}

fn take_process(rest: &mut &[u8]) -> Option<ProcessId> {
    take_u32(rest).map(ProcessId)
}

fn take_bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let length = take_number(rest)? as usize;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of two batches: a start with choices and losses, then a message.
    fn written() -> Vec<u8> {
        let path = std::env::temp_dir().join(format!("synod-log-{}", crate::clock::now_us()));
        let mut log = Writer::create(&path).expect("a file can be made");
        log.start(3, Some(9));
        log.choice(7);
        log.lost(300);
        log.copied(2);
        log.application_output(b"well");
        log.application_input(b"then");
        log.commit(Digest(11)).expect("it can be written");
        log.message(1_000_000, ProcessId(2), 1 << 40, true);
        log.sync(1_000_001);
        log.input(1_000_001, b"ask");
        log.commit(Digest(12)).expect("it can be written");
        log.commit(Digest(13)).expect("nothing is written if nothing was event in");
        let bytes = std::fs::read(&path).expect("it was written");
        std::fs::remove_file(path).expect("it is there");
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<Entry> {
        let mut reader = Reader::new(bytes);
        let mut entries = Vec::new();
        while reader.peek().expect("a log is read").is_some() {
            entries.extend(reader.take());
        }
        entries
    }

    #[test]
    fn what_is_written_is_read() {
        let entries = read(&written());
        let times: Vec<u64> = entries.iter().map(|entry| entry.time_us).collect();
        assert_eq!(times, [3, 1_000_000, 1_000_001, 1_000_001]);
        let first = &entries[0];
        assert_eq!((&first.event, &first.choices[..]), (&Event::Start(Some(9)), &[7][..]));
        assert_eq!((&first.lost[..], &first.copied[..]), (&[300][..], &[2][..]));
        let application =
            [ApplicationEvent::Output(b"well".to_vec()), ApplicationEvent::Input(b"then".to_vec())];
        assert_eq!(first.application, application);
        assert_eq!(entries[1].event, Event::Message(ProcessId(2), 1 << 40));
        assert_eq!(entries[2].event, Event::Sync);
        assert_eq!(entries[3].event, Event::Input(b"ask".to_vec()));
        let digests: Vec<_> = entries.iter().map(|entry| entry.digest).collect();
        assert_eq!(digests, [Some(Digest(11)), None, None, Some(Digest(12))]);
    }

    #[test]
    fn a_batch_that_is_torn_counts_for_nothing() {
        let bytes = written();
        let whole = read(&bytes);
        for length in 0..bytes.len() {
            let entries = read(&bytes[..length]);
            assert!(entries.is_empty() || entries == whole[..1], "{length}: {entries:?}");
        }
    }
}
