//! The logs of all members in one order: by time, and never an effect before its cause.

use crate::coordinator::Life;
use crate::error::{NetError, Trying};
use crate::log::{Entry, Event, Reader, open};
use std::collections::VecDeque;
use std::io::{self, Read};
use synod_core::ProcessId;

const UNREADABLE: &str = "what a process wrote cannot be read";

/// The next event of the merged logs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A step of a process.
    Step(ProcessId, Entry),
    /// The death of a process at this time, and the number of records on its disk at its next
    /// start, if it restarts with its disk.
    Death(ProcessId, u64, Option<u64>),
    /// The end of all logs.
    End,
}

/// One life of a process: its log, and the time of its death, if it died.
pub(crate) type Lived<R> = (Reader<R>, Option<u64>);

/// The logs of all members, and their deaths.
pub(crate) struct Merge<R> {
    /// The lives of each process that the merged order has not finished. The last one stays.
    lives: Vec<VecDeque<Lived<R>>>,
}

impl Merge<Box<dyn Read>> {
    /// Opens the logs.
    pub(crate) fn open(lives: &[Vec<Life>]) -> Result<Self, NetError> {
        let life = |life: &Life| Ok((open(&life.log)?, life.died_us));
        let of_one = |lives: &Vec<Life>| lives.iter().map(life).collect::<io::Result<_>>();
        let lives = lives.iter().map(of_one).collect::<io::Result<_>>();
        Ok(Merge { lives: lives.trying(UNREADABLE)? })
    }
}

impl<R: Read> Merge<R> {
    /// The first step of a process, its start; None if it died before.
    pub(crate) fn start(&mut self, at: ProcessId) -> Result<Option<Entry>, NetError> {
        let Some((log, _)) = self.lives[at.index()].front_mut() else { return Ok(None) };
        match log.peek().trying(UNREADABLE)? {
            Some(Entry { event: Event::Start(_), .. }) => Ok(log.take()),
            Some(_) => Err(NetError::Record(format!("{at} did something before it started"))),
            None => Ok(None),
        }
    }

    /// The earliest event whose cause has already been returned. `has_left` says whether a message
    /// has been sent in the merged order. Each processor reads its own clock, so the log of a
    /// receiver may date a message before its sending; such a message waits for its sender here.
    pub(crate) fn next(
        &mut self,
        has_left: impl Fn(ProcessId, u64) -> bool,
    ) -> Result<Next, NetError> {
        let mut first: Option<(u64, ProcessId)> = None;
        let mut blocked = None;
        for (at, lives) in ProcessId::all(self.lives.len()).zip(&mut self.lives) {
            let Some((log, died_us)) = lives.front_mut() else { continue };
            let time_us = match log.peek().trying(UNREADABLE)? {
                None => match *died_us {
                    None => continue,
                    Some(at_us) => at_us,
                },
                Some(entry) => {
                    if let Event::Message(from, number) | Event::Unreadable(from, number) =
                        entry.event
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
        let taken = self.lives[at.index()].front_mut().and_then(|(log, _)| log.take());
        match taken {
            Some(entry) => Ok(Next::Step(at, entry)),
            None => Ok(Next::Death(at, time_us, self.bury(at)?)),
        }
    }

    /// Ends the current life of a process and skips lives without a start. Returns the number of
    /// records that the next life found on its disk, if it has a disk.
    fn bury(&mut self, at: ProcessId) -> Result<Option<u64>, NetError> {
        let lives = &mut self.lives[at.index()];
        lives.pop_front();
        while let Some((log, _)) = lives.front_mut() {
            match log.peek().trying(UNREADABLE)? {
                Some(Entry { event: Event::Start(records), .. }) => return Ok(*records),
                Some(_) => {
                    let what = format!("{at} did something before it started again");
                    return Err(NetError::Record(what));
                }
                None => lives.pop_front(),
            };
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a log with these steps.
    fn log(steps: &[(u64, Event)]) -> Vec<u8> {
        let path = std::env::temp_dir().join(format!("synod-merge-{}", crate::clock::now_us()));
        let mut writer = crate::log::Writer::create(&path).expect("a file can be made");
        for (time_us, event) in steps {
            match event {
                Event::Message(from, number) => writer.message(*time_us, *from, *number, true),
                Event::Tell(to) => writer.tell(*time_us, *to),
                Event::Start(records) => writer.start(*time_us, *records),
                other => panic!("{other:?} is not needed here"),
            }
        }
        writer.commit(crate::digest::Digest(0)).expect("it can be written");
        let bytes = std::fs::read(&path).expect("it was written");
        std::fs::remove_file(path).expect("it is there");
        bytes
    }

    fn merge<'b>(lives: &[&[(&'b [u8], Option<u64>)]]) -> Merge<&'b [u8]> {
        let life = |(log, died_us): &(&'b [u8], _)| (Reader::new(*log), *died_us);
        Merge { lives: lives.iter().map(|lives| lives.iter().map(life).collect()).collect() }
    }

    #[test]
    fn a_process_that_comes_back_dies_first_and_a_life_without_a_start_is_none() {
        let p0 = ProcessId(0);
        let first = log(&[(5, Event::Start(Some(0))), (10, Event::Tell(p0))]);
        let last = log(&[(70, Event::Start(Some(3)))]);
        let mut merge = merge(&[&[(&first, Some(20)), (&[], Some(40)), (&last, None)]]);
        assert!(merge.start(p0).expect("it fits together").is_some());
        let mut order = Vec::new();
        loop {
            match merge.next(|_, _| true).expect("it fits together") {
                Next::Step(_, entry) => order.push((entry.time_us, None)),
                Next::Death(_, at_us, records) => order.push((at_us, records)),
                Next::End => break,
            }
        }
        assert_eq!(order, [(10, None), (20, Some(3)), (70, None)]);
    }

    #[test]
    fn a_message_arrives_after_it_was_sent_whatever_the_clocks_say() {
        let (p0, p1) = (ProcessId(0), ProcessId(1));
        let logs = [log(&[(50, Event::Tell(p1))]), log(&[(20, Event::Message(p0, 0))])];
        let mut merge = merge(&[&[(&logs[0], None)], &[(&logs[1], Some(30))]]);
        let mut order = Vec::new();
        let mut sent = false;
        loop {
            match merge.next(|_, _| sent).expect("it fits together") {
                Next::Step(at, entry) => {
                    sent |= at == p0;
                    order.push((at, entry.time_us));
                }
                Next::Death(at, at_us, _) => order.push((at, at_us)),
                Next::End => break,
            }
        }
        assert_eq!(order, [(p0, 50), (p1, 20), (p1, 30)]);
    }

    #[test]
    fn a_message_that_nobody_sent_is_an_error_and_not_waited_for() {
        let bytes = log(&[(20, Event::Message(ProcessId(1), 4))]);
        let mut merge = merge(&[&[(&bytes, None)], &[(&[], None)]]);
        let error = merge.next(|_, _| false).expect_err("it was never sent").to_string();
        assert!(error.contains("p0 received message 4 of p1, which never sent it"), "{error}");
    }
}
