//! What all members wrote, in one order: by time, and never an effect before its cause.

use crate::error::{NetError, Trying};
use crate::log::{Entry, Reader, Taken, open};
use std::io::Read;
use std::path::PathBuf;
use synod_core::ProcessId;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A step of a process.
    Step(ProcessId, Entry),
    /// A process dies, at this time.
    Death(ProcessId, u64),
    /// Nothing.
    End,
}

/// All logs, and who died.
pub(crate) struct Merge<R> {
    logs: Vec<Reader<R>>,
    /// When each died, if it did and that has not been told.
    deaths: Vec<Option<u64>>,
}

impl Merge<Box<dyn Read>> {
    /// Opens the logs.
    pub(crate) fn open(paths: &[PathBuf], crashes: &[(ProcessId, u64)]) -> Result<Self, NetError> {
        let logs = paths.iter().map(|path| open(path)).collect::<Result<_, _>>();
        let logs = logs.trying("what a process wrote cannot be read")?;
        Ok(Merge::new(logs, crashes))
    }
}

impl<R: Read> Merge<R> {
    pub(crate) fn new(logs: Vec<Reader<R>>, crashes: &[(ProcessId, u64)]) -> Self {
        let mut deaths = vec![None; logs.len()];
        for (who, at_us) in crashes {
            deaths[who.index()] = Some(*at_us);
        }
        Merge { logs, deaths }
    }

    /// The first step of a process: that it starts. None if it died before.
    pub(crate) fn start(&mut self, at: ProcessId) -> Result<Option<Entry>, NetError> {
        let log = &mut self.logs[at.index()];
        match log.peek().trying("what a process wrote cannot be read")? {
            Some(Entry { taken: Taken::Start, .. }) => Ok(log.take()),
            Some(_) => Err(NetError::Record(format!("{at} did something before it started"))),
            None => Ok(None),
        }
    }

    /// The next step in the order of time, of those that can be taken: a message that `has_left`
    /// denies has not been sent yet in this order. Clocks are read by several processors, so a
    /// message may seem to arrive before it was sent; it is told after that all the same.
    pub(crate) fn next(
        &mut self,
        has_left: impl Fn(ProcessId, u64) -> bool,
    ) -> Result<Next, NetError> {
        let mut first: Option<(u64, ProcessId)> = None;
        let mut blocked = None;
        for (at, log) in ProcessId::all(self.logs.len()).zip(&mut self.logs) {
            let time_us = match log.peek().trying("what a process wrote cannot be read")? {
                None => match self.deaths[at.index()] {
                    None => continue,
                    Some(at_us) => at_us,
                },
                Some(entry) => {
                    if let Taken::Message(from, number) | Taken::Unreadable(from, number) =
                        entry.taken
                        && !has_left(from, number)
                    {
                        blocked = Some((at, from, number));
                        continue;
                    }
                    entry.time_us
                }
            };
            if first.is_none_or(|(earliest_us, _)| time_us < earliest_us) {
                first = Some((time_us, at));
            }
        }
        let Some((time_us, at)) = first else {
            return match blocked {
                None => Ok(Next::End),
                Some((at, from, number)) => Err(NetError::Record(format!(
                    "{at} received message {number} of {from}, which never sent it"
                ))),
            };
        };
        Ok(match self.logs[at.index()].take() {
            Some(entry) => Next::Step(at, entry),
            None => {
                self.deaths[at.index()] = None;
                Next::Death(at, time_us)
            }
        })
    }
}
