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

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with these steps, each at a time.
    fn log(steps: &[(u64, Taken)]) -> Vec<u8> {
        let path = std::env::temp_dir().join(format!("synod-merge-{}", crate::clock::now_us()));
        let mut writer = crate::log::Writer::create(&path).expect("a file can be made");
        for (time_us, taken) in steps {
            match taken {
                Taken::Message(from, number) => writer.message(*time_us, *from, *number, true),
                Taken::Tell(to) => writer.tell(*time_us, *to),
                other => panic!("{other:?} is not needed here"),
            }
        }
        writer.commit(crate::digest::Digest(0)).expect("it can be written");
        let bytes = std::fs::read(&path).expect("it was written");
        std::fs::remove_file(path).expect("it is there");
        bytes
    }

    #[test]
    fn a_message_arrives_after_it_was_sent_whatever_the_clocks_say() {
        let (p0, p1) = (ProcessId(0), ProcessId(1));
        let logs = [log(&[(50, Taken::Tell(p1))]), log(&[(20, Taken::Message(p0, 0))])];
        let readers = logs.iter().map(|bytes| Reader::new(bytes.as_slice())).collect();
        let mut merge = Merge::new(readers, &[(p1, 30)]);
        let mut order = Vec::new();
        let mut sent = false;
        loop {
            match merge.next(|_, _| sent).expect("it fits together") {
                Next::Step(at, entry) => {
                    sent |= at == p0;
                    order.push((at, entry.time_us));
                }
                Next::Death(at, at_us) => order.push((at, at_us)),
                Next::End => break,
            }
        }
        assert_eq!(order, [(p0, 50), (p1, 20), (p1, 30)]);
    }

    #[test]
    fn a_message_that_nobody_sent_is_an_error_and_not_waited_for() {
        let bytes = log(&[(20, Taken::Message(ProcessId(1), 4))]);
        let mut merge = Merge::new(vec![Reader::new(bytes.as_slice()), Reader::new(&[])], &[]);
        let error = merge.next(|_, _| false).expect_err("it was never sent").to_string();
        assert!(error.contains("p0 received message 4 of p1, which never sent it"), "{error}");
    }
}
