//! The trace: the events of a run, each with its Lamport and vector time.

mod jsonl;
mod tracer;

pub use jsonl::{Jsonl, write_event};
pub(crate) use tracer::Kept;
pub use tracer::Tracer;

use crate::world::TELL;
use serde::Serialize;
use std::io;
use synod_core::family::Mark;
use synod_core::{ProcessId, Sight, Trigger};

/// An event.
///
/// Flat on purpose: a tracer fills in the same value again and again, and each sink picks the
/// fields that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number in the run, from 0.
    pub index: u64,
    /// Its time, in microseconds of true time.
    pub time_us: u64,
    /// Its process. `None` for changes of the network, such as a partition.
    pub process: Option<ProcessId>,
    /// Its Lamport time.
    pub lamport: u64,
    /// Its vector time.
    pub vector: Vec<u32>,
    /// The kind of event.
    pub what: What,
    /// The number of the message that is sent, received or lost: a send and its receipts share it.
    pub message: Option<u64>,
    /// The other end: where a message goes or comes from, or the accused process.
    pub peer: Option<ProcessId>,
    /// The kind of the message (`Request`), or the id of a violated property; else empty.
    pub kind: &'static str,
    /// The name of an input, as the rules of cards have it; else empty. Written traces leave it
    /// out.
    pub input: &'static str,
    /// The message in full, the words of an input or output, the reason of a loss.
    pub text: String,
    /// Its meaning for the operation under way at this process.
    pub mark: Mark,
    /// What pictures write at a message in place of the text, or empty. Written traces leave it
    /// out.
    pub label: String,
    /// What pictures show of processes from here on: this event is the last of a step that changed
    /// it. Written traces leave it out.
    pub sights: Vec<(ProcessId, Sight)>,
}

impl Event {
    /// What the handler of the process is called with, if this event calls one. The rules of a card
    /// name it the same way.
    pub fn trigger(&self) -> Option<Trigger<'_>> {
        match self.what {
            What::Start | What::Restart => Some(Trigger::Start),
            What::Input => Some(Trigger::Input(self.input)),
            // A message between applications is none of the algorithm.
            What::Receive => (self.kind != TELL).then_some(Trigger::Message(self.kind)),
            What::Timer => Some(Trigger::Timer(first_word(&self.text))),
            _ => None,
        }
    }
}

/// `Lease` of `Lease(3)`.
fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text)
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The process starts.
    Start,
    /// The application asks: `text` has its words.
    Input,
    /// The application is told: `text` has the words.
    Output,
    /// A message leaves for `peer`.
    Send,
    /// A message from `peer` arrives.
    Receive,
    /// A message from `peer` to this process is lost: `text` ends with the reason.
    Lose,
    /// A message from `peer` to this process will arrive once more.
    Duplicate,
    /// A timer expires: `text` names it.
    Timer,
    /// Records reach the disk: `text` has their number.
    Sync,
    /// The process crashes.
    Crash,
    /// The process starts again: `text` says with which disk.
    Restart,
    /// The process stops for a while, and does not notice it.
    Pause,
    /// The process goes on.
    Resume,
    /// The process reports `peer`: `text` has the accusation.
    Accuse,
    /// The network changes: `text` describes the change.
    Network,
    /// A property is violated: `kind` is its id, `text` the reason.
    Violation,
}

impl What {
    /// Its name in traces.
    pub fn name(self) -> &'static str {
        match self {
            What::Start => "start",
            What::Input => "input",
            What::Output => "output",
            What::Send => "send",
            What::Receive => "receive",
            What::Lose => "lose",
            What::Duplicate => "duplicate",
            What::Timer => "timer",
            What::Sync => "sync",
            What::Crash => "crash",
            What::Restart => "restart",
            What::Pause => "pause",
            What::Resume => "resume",
            What::Accuse => "accuse",
            What::Network => "network",
            What::Violation => "violation",
        }
    }
}

/// The receiver of events, one by one. A sink that keeps them all must bound itself.
pub trait Sink {
    /// Takes one event in.
    fn take(&mut self, event: &Event) -> io::Result<()>;

    /// Whether it draws this event, and so wants its label and its sights. Both cost time.
    fn draws(&self, _index: u64) -> bool {
        false
    }

    /// The step of the last event has changed the sight of this process.
    fn sees(&mut self, _at: ProcessId, _sight: &Sight) {}

    /// The run is over: flushes buffered events.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps every event between two numbers: a window on a long run.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The first event to be kept, by number.
    pub from: u64,
    /// The largest number of events kept.
    pub length: usize,
    /// The kept events.
    pub events: Vec<Event>,
    /// The number of events after the window was full.
    pub beyond: u64,
}

impl Window {
    /// A window of `length` events from number `from` on.
    pub fn new(from: u64, length: usize) -> Self {
        Window { from, length, ..Window::default() }
    }
}

impl Sink for Window {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        if event.index < self.from {
            return Ok(());
        }
        if self.events.len() < self.length {
            self.events.push(event.clone());
        } else {
            self.beyond += 1;
        }
        Ok(())
    }

    fn draws(&self, index: u64) -> bool {
        index >= self.from && self.events.len() < self.length
    }

    fn sees(&mut self, at: ProcessId, sight: &Sight) {
        if let Some(last) = self.events.last_mut() {
            last.sights.push((at, sight.clone()));
        }
    }
}

/// Hashes the trace as it would be written: equal digests mean equal traces, byte for byte.
pub struct Digest {
    hash: xxhash_rust::xxh3::Xxh3,
    line: Vec<u8>,
}

impl Default for Digest {
    fn default() -> Self {
        Digest { hash: xxhash_rust::xxh3::Xxh3::new(), line: Vec::new() }
    }
}

impl Digest {
    /// The digest so far.
    pub fn value(&self) -> u64 {
        self.hash.digest()
    }
}

impl Sink for Digest {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        write_event(event, &mut self.line);
        self.hash.update(&self.line);
        Ok(())
    }
}
