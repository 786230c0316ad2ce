use super::*;
use crate::durable::{Durable, replay};
use crate::protocol::Wire;
use serde::{Deserialize, Serialize};

/// A process that does what it is told, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Puppet {
    /// The records that it found on its disk.
    found: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Do {
    Say(u8),
    Tell(u8),
    Persist(u8),
    Checkpoint(u8),
    Set(u8, u64),
    Cancel(u8),
    Accuse,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Said(u8);

impl Wire for Said {}

impl Protocol for Puppet {
    type Input = Vec<Do>;
    type Output = u8;
    type Message = Said;
    type Timer = u8;

    fn on_input(&mut self, input: Vec<Do>, cx: &mut Cx<'_, Self>) {
        for this in input {
            match this {
                Do::Say(what) => cx.send(ProcessId(1), Said(what)),
                Do::Tell(what) => cx.output(what),
                Do::Persist(what) => cx.persist(&what),
                Do::Checkpoint(what) => cx.checkpoint(&what),
                Do::Set(timer, after_ms) => cx.set_timer(timer, after_ms),
                Do::Cancel(timer) => cx.cancel_timer(timer),
                Do::Accuse => cx.accuse(ProcessId(1), "it is told to"),
            }
        }
    }

    fn on_message(&mut self, _: ProcessId, _: Said, _: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, timer: u8, cx: &mut Cx<'_, Self>) {
        cx.output(timer);
    }
}

impl Durable for Puppet {
    type Record = u8;

    fn replay(&mut self, record: u8) {
        self.found.push(record);
    }
}

/// What a host has handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    Sent(u8),
    Told(u8),
    Accused,
    Fired(u8),
    Writing,
    Written(Write<Vec<u8>>),
    Synced(usize),
}

/// An outlet that writes all of it down.
#[derive(Default)]
struct Paper {
    now_us: u64,
    timers: u64,
    out: Vec<Out>,
    /// The process crashes after so much went out.
    ends_after: Option<usize>,
}

impl Paper {
    fn take(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }
}

impl Outlet<Puppet> for Paper {
    fn me(&self) -> ProcessId {
        ProcessId(0)
    }
    fn group_size(&self) -> usize {
        2
    }
    fn now_us(&self) -> u64 {
        self.now_us
    }
    fn incarnation(&self) -> u32 {
        1
    }
    fn has_lost_disk(&self) -> bool {
        false
    }
    fn choose(&mut self, _among: u32) -> u32 {
        0
    }
    fn send(&mut self, _to: ProcessId, message: Said, _layer: u8) {
        self.out.push(Out::Sent(message.0));
    }
    fn multicast(&mut self, _to: &ProcessSet, message: Said, _layer: u8) {
        self.out.push(Out::Sent(message.0));
    }
    fn output(&mut self, output: u8) {
        self.out.push(Out::Told(output));
    }
    fn accuse(&mut self, _who: ProcessId, _why: &'static str) {
        self.out.push(Out::Accused);
    }
    fn timer_set(&mut self, _after_ms: u64) -> u64 {
        self.timers += 1;
        self.timers
    }
    fn timer_fired(&mut self, timer: &u8) {
        self.out.push(Out::Fired(*timer));
    }
    fn writing(&mut self) {
        self.out.push(Out::Writing);
    }
    fn written(&mut self, write: Write<Record>) {
        self.out.push(Out::Written(match write {
            Write::Append(record) => Write::Append(record.0),
            Write::Checkpoint(record, keep) => Write::Checkpoint(record.0, keep),
        }));
    }
    fn synced(&mut self, records: usize) {
        self.out.push(Out::Synced(records));
    }
    fn is_cut_off(&self) -> bool {
        self.ends_after.is_some_and(|end| self.out.len() >= end)
    }
}

fn host() -> (Host<Puppet>, Paper) {
    (Host::new(Puppet::default()), Paper::default())
}

fn append(record: u8) -> Out {
    Out::Written(Write::Append(vec![record]))
}

#[test]
fn what_follows_a_record_waits_for_it_and_what_precedes_it_does_not() {
    let (mut host, mut paper) = host();
    host.on_input(vec![Do::Say(1), Do::Persist(2), Do::Say(3), Do::Tell(4)], &mut paper);
    assert_eq!(paper.take(), [Out::Sent(1), Out::Writing]);
    host.on_input(vec![Do::Say(5)], &mut paper);
    assert_eq!(paper.take(), [], "a later step waits, too");
    assert!(host.on_written(1, &mut paper));
    let after = [Out::Sent(3), Out::Told(4), Out::Sent(5)];
    assert_eq!(paper.take(), [&[append(2), Out::Synced(1)], &after[..]].concat());
    host.on_input(vec![Do::Say(6)], &mut paper);
    assert_eq!(paper.take(), [Out::Sent(6)], "nothing waits now");
}

#[test]
fn timers_and_accusations_wait_for_no_record() {
    let (mut host, mut paper) = host();
    host.on_input(vec![Do::Persist(1), Do::Set(2, 10), Do::Accuse], &mut paper);
    assert_eq!(paper.take(), [Out::Writing, Out::Accused]);
    assert_eq!(host.next_due_us(), Some(10_000));
}

#[test]
fn records_leave_in_groups_and_what_waits_for_a_later_one_stays() {
    let (mut host, mut paper) = host();
    let first = vec![Do::Persist(1), Do::Checkpoint(2), Do::Say(3)];
    host.on_input([first, vec![Do::Persist(4), Do::Say(5)]].concat(), &mut paper);
    assert_eq!(paper.take(), [Out::Writing]);
    assert_eq!(host.waiting_records(), 3);
    assert!(!host.on_written(1, &mut paper), "the second record of the group is not written");
    assert!(host.on_written(3, &mut paper));
    let checkpoint = Out::Written(Write::Checkpoint(vec![2], 0));
    assert_eq!(
        paper.take(),
        [append(1), checkpoint, Out::Synced(2), Out::Sent(3), Out::Writing],
        "and the driver learns that there is more to write"
    );
    assert!(host.on_written(3, &mut paper));
    assert_eq!(paper.take(), [append(4), Out::Synced(1), Out::Sent(5)]);
    assert!(!host.on_written(u64::MAX, &mut paper), "nothing is left");
}

#[test]
fn a_driver_is_given_the_records_that_it_has_not_written() {
    let (mut host, mut paper) = host();
    let records = |host: &Host<Puppet>, after| -> Vec<u8> {
        let content = |write| match write {
            Write::Append(record) | Write::Checkpoint(record, _) => record,
        };
        host.writes_after(after).map(|write| content(write).0[0]).collect()
    };
    host.on_input(vec![Do::Persist(1), Do::Say(0), Do::Persist(2)], &mut paper);
    assert_eq!(records(&host, 0), [1, 2]);
    assert_eq!(records(&host, 1), [2]);
    assert!(host.on_written(1, &mut paper));
    host.on_input(vec![Do::Persist(3)], &mut paper);
    assert_eq!(records(&host, 1), [2, 3], "numbers count from the first record of the life");
    assert_eq!(records(&host, 3), []);
}

#[test]
fn a_timer_that_is_set_again_moves_and_one_that_is_cancelled_is_gone() {
    let (mut host, mut paper) = host();
    host.on_input(vec![Do::Set(1, 5), Do::Set(2, 7), Do::Set(1, 9)], &mut paper);
    let set = |host: &Host<Puppet>| -> Vec<_> {
        host.timers().iter().map(|set| (set.number, set.timer, set.due_us)).collect()
    };
    assert_eq!(set(&host), [(2, 2, 7_000), (3, 1, 9_000)]);
    paper.now_us = 7_000;
    host.on_timer(2, &mut paper);
    assert_eq!(paper.take(), [Out::Fired(2), Out::Told(2)]);
    host.on_input(vec![Do::Cancel(1), Do::Set(2, 1)], &mut paper);
    assert_eq!(set(&host), [(4, 2, 8_000)], "a timer is due from the time at which it is set");
    host.put_off_timers(500);
    assert_eq!(host.next_due_us(), Some(8_500));
}

#[test]
fn a_crash_loses_what_waits_and_shows_the_records_that_may_be_on_the_disk() {
    let (mut host, mut paper) = host();
    host.on_input(vec![Do::Set(1, 1), Do::Persist(2), Do::Say(3), Do::Persist(4)], &mut paper);
    let waited: Vec<_> = host.on_crash().collect();
    assert_eq!(waited, [Write::Append(Record(vec![2])), Write::Append(Record(vec![4]))]);
    assert!(host.timers().is_empty() && !host.is_writing());
}

#[test]
fn a_process_that_comes_back_takes_in_its_records_in_order() {
    let records = [Record(vec![7]), Record(vec![8])];
    let host =
        Host::<Puppet>::restored(Puppet::default(), replay, &records).expect("it wrote them");
    assert_eq!(host.state().found, [7, 8]);
    let torn = Host::<Puppet>::restored(Puppet::default(), replay, &[Record(vec![])]);
    assert!(torn.is_err(), "a record that cannot be read is an error");
}

#[test]
fn a_process_that_crashes_in_the_middle_of_a_step_does_nothing_more() {
    let (mut host, mut paper) = host();
    paper.ends_after = Some(1);
    host.on_input(vec![Do::Say(1), Do::Say(2), Do::Set(3, 1), Do::Persist(4)], &mut paper);
    assert_eq!(paper.take(), [Out::Sent(1)]);
    assert!(host.timers().is_empty() && !host.is_writing());
    paper.ends_after = None;
    host.on_input(vec![Do::Persist(1), Do::Say(2), Do::Say(3), Do::Persist(4)], &mut paper);
    paper.take();
    paper.ends_after = Some(3);
    assert!(host.on_written(1, &mut paper));
    assert_eq!(paper.take(), [append(1), Out::Synced(1), Out::Sent(2)]);
}
