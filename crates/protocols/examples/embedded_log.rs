//! A replicated log in a program of your own: three processes with disks, and counters above them.
//!
//! The program does what Synod does not: it carries messages, keeps time and writes to disks. Here
//! all three processes are in one thread, and a disk is a list. Put your sockets, your clock and
//! your files in their places. `cargo run -p synod-protocols --example embedded_log` runs it.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::durable::{self, Record};
use synod_core::host::{Host, Outlet, Write};
use synod_core::replication::{
    Command, Invoke, Map, Notice, Parts, Replicated, Sessions, Settings, StateMachine,
};
use synod_core::{ProcessId, ProcessSet, Protocol};
use synod_protocols::replication::raft::{self, Raft};

/// The state machine: counters by name. What may become large is in a [`Map`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Counters {
    counts: Map<String, u64>,
}

/// Adds to a counter; 0 reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Add(String, u64);

impl StateMachine for Counters {
    type Operation = Add;
    type Answer = u64;

    fn apply(&mut self, Add(name, by): &Add) -> u64 {
        let count = self.counts.get(name).copied().unwrap_or(0).saturating_add(*by);
        self.counts.insert(name.clone(), count);
        count
    }

    fn is_read(Add(_, by): &Add) -> bool {
        *by == 0
    }

    fn read(&self, Add(name, _): &Add) -> Option<u64> {
        Some(self.counts.get(name).copied().unwrap_or(0))
    }
}

/// A snapshot travels in the parts of its map.
impl Parts for Counters {
    type Mark = String;

    fn part(&self, after: Option<&String>, bytes: usize) -> (Self, Option<String>) {
        let (counts, end) = self.counts.part(after, bytes);
        (Counters { counts }, end)
    }

    fn join(&mut self, next: Self) {
        self.counts.join(next.counts);
    }
}

/// Counters above Raft: one process of the group.
type Process = Replicated<Counters, Raft<Command<Add>, Sessions<Counters>>>;
type Message = <Process as Protocol>::Message;

const N: usize = 3;

/// A process before its first start.
fn new_process() -> Process {
    let engine = Raft::new(raft::Settings::new(ProcessSet::all(N))).expect("the settings fit");
    Process::new(engine, Settings::default())
}

/// One machine: a process in its host, and what surrounds it.
struct Machine {
    host: Host<Process>,
    around: Around,
    /// The number of records of this life that are on the disk.
    written: u64,
}

/// The outlet of a host: here its effects become messages, timers and outputs of this program.
struct Around {
    me: ProcessId,
    life: u32,
    now_us: u64,
    timers_set: u64,
    disk: Vec<Record>,
    outbox: Vec<(ProcessId, Message)>,
    answers: Vec<u64>,
}

impl Outlet<Process> for Around {
    fn me(&self) -> ProcessId {
        self.me
    }

    fn group_size(&self) -> usize {
        N
    }

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn incarnation(&self) -> u32 {
        self.life
    }

    fn has_lost_disk(&self) -> bool {
        self.life > 1 && self.disk.is_empty()
    }

    /// A real program draws at random. Here every process always waits for another time.
    fn choose(&mut self, among: u32) -> u32 {
        self.me.0 % among
    }

    fn send(&mut self, to: ProcessId, message: Message, _layer: u8) {
        self.outbox.push((to, message));
    }

    fn multicast(&mut self, to: &ProcessSet, message: Message, _layer: u8) {
        self.outbox.extend(to.iter().map(|to| (to, message.clone())));
    }

    fn output(&mut self, notice: Notice<u64>) {
        if let Notice::Returned { answer, .. } = notice {
            self.answers.push(answer);
        }
    }

    fn accuse(&mut self, who: ProcessId, why: &'static str) {
        panic!("{who} {why}, and no process here lies");
    }

    fn timer_set(&mut self, _after_ms: u64) -> u64 {
        self.timers_set += 1;
        self.timers_set
    }

    fn timer_fired(&mut self, _timer: &<Process as Protocol>::Timer) {}

    // `Machine::sync` looks for records after every step, and writes them itself.
    fn writing(&mut self) {}
    fn written(&mut self, _write: Write<Record>) {}
    fn synced(&mut self, _records: usize) {}
}

impl Machine {
    fn new(me: ProcessId) -> Self {
        let (outbox, answers) = (Vec::new(), Vec::new());
        let (life, now_us, timers_set, disk) = (1, 0, 0, Vec::new());
        let around = Around { me, life, now_us, timers_set, disk, outbox, answers };
        Machine { host: Host::new(new_process()), around, written: 0 }
    }

    /// Takes a step of the host, then writes its records. What follows a record in the protocol
    /// waits in the host until the record is on the disk.
    fn step(&mut self, step: impl FnOnce(&mut Host<Process>, &mut Around)) {
        step(&mut self.host, &mut self.around);
        while self.host.is_writing() {
            self.sync();
        }
    }

    fn sync(&mut self) {
        let disk = &mut self.around.disk;
        for write in self.host.writes_after(self.written) {
            self.written += 1;
            match write {
                Write::Append(record) => disk.push(record.clone()),
                Write::Checkpoint(record, keep) => {
                    disk.drain(..disk.len() - keep as usize);
                    disk.push(record.clone());
                }
            }
        }
        // A real program syncs its file here, once for all these records.
        while self.host.on_written(self.written, &mut self.around) {}
    }

    /// The process crashes, and starts again with its disk.
    fn restart(&mut self) {
        self.host = Host::restored(new_process(), durable::replay, &self.around.disk)
            .expect("the records can be read");
        (self.written, self.around.life) = (0, self.around.life + 1);
        self.step(|host, around| host.on_start(around));
    }

    /// The number of the first timer that is due.
    fn due(&self) -> Option<u64> {
        let due = self.host.timers().iter().filter(|set| set.due_us <= self.around.now_us);
        due.min_by_key(|set| set.due_us).map(|set| set.number)
    }
}

/// The three machines, and the network between them.
struct Group {
    machines: Vec<Machine>,
    network: VecDeque<(ProcessId, ProcessId, Message)>,
}

impl Group {
    fn started() -> Self {
        let machines = ProcessId::all(N).map(Machine::new).collect();
        let mut group = Group { machines, network: VecDeque::new() };
        for machine in &mut group.machines {
            machine.step(|host, around| host.on_start(around));
        }
        group
    }

    /// Lets a millisecond pass: timers fire, messages arrive.
    fn tick(&mut self) {
        for at in 0..N {
            let machine = &mut self.machines[at];
            machine.around.now_us += 1_000;
            while let Some(number) = machine.due() {
                machine.step(|host, around| host.on_timer(number, around));
            }
            self.post(at);
        }
        for _ in 0..self.network.len() {
            let Some((from, to, message)) = self.network.pop_front() else { break };
            let machine = &mut self.machines[to.index()];
            machine.step(|host, around| host.on_message(from, message, around));
            self.post(to.index());
        }
    }

    fn post(&mut self, at: usize) {
        let around = &mut self.machines[at].around;
        let (from, sent) = (around.me, std::mem::take(&mut around.outbox));
        self.network.extend(sent.into_iter().map(|(to, message)| (from, to, message)));
    }

    /// A client at this machine adds to a counter, and waits for the answer.
    fn add(&mut self, at: usize, name: &str, by: u64) -> u64 {
        let operation = Add(name.to_owned(), by);
        let invoke = Invoke::Operation { client: 0, operation };
        self.machines[at].step(|host, around| host.on_input(invoke, around));
        for _ in 0..10_000 {
            self.tick();
            if let Some(answer) = self.machines[at].around.answers.pop() {
                return answer;
            }
        }
        panic!("no answer after ten seconds");
    }
}

pub(crate) fn main() {
    let mut group = Group::started();
    assert_eq!(group.add(1, "apples", 2), 2);
    assert_eq!(group.add(2, "apples", 3), 5);
    // Every process may crash; what was answered is on the disks of a majority.
    for at in 0..N {
        group.machines[at].restart();
        assert_eq!(group.add(at, "apples", 0), 5);
    }
    println!("apples: {}", group.add(0, "apples", 0));
}
