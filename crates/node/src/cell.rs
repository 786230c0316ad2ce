//! A cell: one process of a protocol in its host, which any thread may step.
//!
//! A claim must cost less than a thread switch. So the host stands behind a lock, and the thread
//! that wants a step takes it itself; no thread owns the process. Messages go into the queues of
//! the links, and outputs to the application of the cell, while the lock is held: what one step
//! causes is complete before the next one begins.

use crate::clock::NodeClock;
use crate::links::{Channel, Links};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use synod_core::durable::Record;
use synod_core::host::Write;
use synod_core::{Host, Outlet, ProcessId, ProcessSet, Protocol, Wire};
use tokio::sync::Notify;

/// What stands above a process: it takes in the outputs.
pub(crate) trait Above<P: Protocol>: Send {
    /// The process says this.
    fn on_output(&mut self, output: P::Output);

    /// What the application asks for because of it.
    fn next_input(&mut self) -> Option<P::Input> {
        None
    }
}

/// The facts of a process that never change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// The number of the node.
    pub(crate) me: ProcessId,
    /// The number of nodes that there may be.
    pub(crate) n: usize,
    /// Which life of the node this is, from 1.
    pub(crate) incarnation: u32,
    /// Whether the node lived before, and this process finds no records of it.
    pub(crate) has_lost_disk: bool,
}

/// One process, and what stands above it.
pub(crate) struct Cell<P: Protocol, A> {
    state: Mutex<State<P, A>>,
    /// The next timer is due earlier than before.
    pub(crate) sooner: Notify,
    /// A record waits for the disk.
    records: Condvar,
}

/// The contents of a cell.
pub(crate) struct State<P: Protocol, A> {
    pub(crate) host: Host<P>,
    pub(crate) above: A,
    around: Around<P>,
    /// The number of the last record of this life that is on the disk.
    written: u64,
    pub(crate) is_stopped: bool,
}

/// The outlet of the host.
struct Around<P: Protocol> {
    identity: Identity,
    clock: NodeClock,
    links: Arc<Links>,
    channel: Channel,
    chance: Pcg64Mcg,
    timers_set: u64,
    /// When the last timer is due that was set in this step; the least of them.
    set_for_us: Option<u64>,
    has_records: bool,
    outputs: VecDeque<P::Output>,
    to_myself: VecDeque<P::Message>,
    scratch: Vec<u8>,
}

impl<P: Protocol, A: Above<P>> Cell<P, A> {
    /// A process that has not started.
    pub(crate) fn new(
        host: Host<P>,
        above: A,
        identity: Identity,
        (clock, links, channel): (NodeClock, Arc<Links>, Channel),
    ) -> Self {
        let seed = u64::from(identity.me.0) << 32 | u64::from(identity.incarnation);
        let around = Around {
            identity,
            clock,
            links,
            channel,
            chance: Pcg64Mcg::seed_from_u64(seed ^ u64::from(std::process::id()) << 40),
            timers_set: 0,
            set_for_us: None,
            has_records: false,
            outputs: VecDeque::new(),
            to_myself: VecDeque::new(),
            scratch: Vec::new(),
        };
        let state = State { host, above, around, written: 0, is_stopped: false };
        Cell { state: Mutex::new(state), sooner: Notify::new(), records: Condvar::new() }
    }

    /// The contents, to look at.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<P, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a step, and shows the state after it.
    pub(crate) fn step<R>(&self, step: impl FnOnce(&mut Stepping<'_, P, A>) -> R) -> R {
        let mut state = self.lock();
        let result = step(&mut Stepping { state: &mut state });
        let (sooner, records) = state.end_of_steps();
        drop(state);
        if sooner {
            self.sooner.notify_one();
        }
        if records {
            self.records.notify_one();
        }
        result
    }

    /// A message arrives. Returns false if it cannot be read.
    pub(crate) fn receive(&self, from: ProcessId, bytes: &[u8]) -> bool {
        let Ok(message) = postcard::from_bytes(bytes) else { return false };
        self.step(|stepping| {
            // What a stopped process sent would wait for its disk for ever.
            if !stepping.state.is_stopped {
                stepping.message(from, message);
            }
        });
        true
    }

    /// Fires the timers that are due. Returns when the next one is.
    pub(crate) fn fire(&self) -> Option<u64> {
        self.step(|stepping| {
            // A timer that a handler sets during this call waits for the next one: two timers that
            // set each other would otherwise keep the loop here for ever.
            for _ in 0..stepping.state.host.timers().len() {
                let now_us = stepping.state.around.clock.now_us();
                let due = stepping.state.host.timers().iter().filter(|set| set.due_us <= now_us);
                let Some(first) = due.min_by_key(|set| set.due_us).map(|set| set.number) else {
                    break;
                };
                stepping.take(|host, around| host.on_timer(first, around));
            }
            stepping.state.host.next_due_us()
        })
    }

    /// Fires timers for as long as the cell lives.
    pub(crate) async fn keep_time(&self) {
        loop {
            let next = self.fire();
            if self.lock().is_stopped {
                return;
            }
            let clock = self.lock().around.clock;
            match next {
                Some(due_us) => {
                    let due = clock.at_us(due_us).into();
                    let _ = tokio::time::timeout_at(due, self.sooner.notified()).await;
                }
                None => self.sooner.notified().await,
            }
        }
    }

    /// Waits for records, and copies those that are not written yet; none if the cell is stopped.
    pub(crate) fn next_records(&self) -> Option<Vec<(Record, Option<u64>)>> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            let written = state.written;
            let records: Vec<_> = state.host.writes_after(written).map(copy).collect();
            if !records.is_empty() {
                return Some(records);
            }
            state = self.records.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first records of those that waited, this many, are on the disk.
    pub(crate) fn on_written(&self, records: usize) {
        self.step(|stepping| {
            stepping.state.written += records as u64;
            let up_to = stepping.state.written;
            let mut goes_on = true;
            while goes_on {
                goes_on = stepping.take(|host, around| host.on_written(up_to, around));
            }
        });
    }

    /// The cell takes no further step.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.records.notify_all();
        self.sooner.notify_one();
    }
}

/// A record to append, or a checkpoint with the number of records before it that stay.
fn copy(write: Write<&Record>) -> (Record, Option<u64>) {
    match write {
        Write::Append(record) => (record.clone(), None),
        Write::Checkpoint(record, keep) => (record.clone(), Some(keep)),
    }
}

/// A cell whose lock is held.
pub(crate) struct Stepping<'s, P: Protocol, A> {
    pub(crate) state: &'s mut State<P, A>,
}

impl<P: Protocol, A: Above<P>> Stepping<'_, P, A> {
    /// The process starts.
    pub(crate) fn start(&mut self) {
        self.take(|host, around| host.on_start(around));
    }

    /// The application asks.
    pub(crate) fn input(&mut self, input: P::Input) {
        self.take(|host, around| host.on_input(input, around));
    }

    fn message(&mut self, from: ProcessId, message: P::Message) {
        self.take(|host, around| host.on_message(from, message, around));
    }

    /// One step of the host; then the messages that it sent to itself, and the outputs.
    fn take<R>(&mut self, step: impl FnOnce(&mut Host<P>, &mut Around<P>) -> R) -> R {
        let State { host, above, around, is_stopped, .. } = &mut *self.state;
        let result = step(host, around);
        while let Some(message) = around.to_myself.pop_front() {
            if !*is_stopped {
                host.on_message(around.identity.me, message, around);
            }
        }
        loop {
            while let Some(output) = around.outputs.pop_front() {
                above.on_output(output);
            }
            let Some(input) = above.next_input() else { return result };
            host.on_input(input, around);
        }
    }
}

impl<P: Protocol, A> State<P, A> {
    /// Whether a timer was set that may be due sooner than the others, and whether records wait.
    fn end_of_steps(&mut self) -> (bool, bool) {
        let set = self.around.set_for_us.take();
        let sooner = set.is_some_and(|set| self.host.next_due_us().is_some_and(|due| due >= set));
        (sooner, std::mem::take(&mut self.around.has_records))
    }
}

impl<P: Protocol> Around<P> {
    fn post(&mut self, to: ProcessId, message: &P::Message) {
        self.scratch.clear();
        let scratch = std::mem::take(&mut self.scratch);
        match postcard::to_extend(message, scratch) {
            Ok(bytes) => {
                let urgent = self.channel == Channel::Registry || message.kind() == "Hello";
                self.links.post(to, self.channel, urgent, &bytes);
                self.scratch = bytes;
            }
            Err(_) => self.scratch = Vec::new(),
        }
    }
}

impl<P: Protocol> Outlet<P> for Around<P> {
    fn me(&self) -> ProcessId {
        self.identity.me
    }

    fn group_size(&self) -> usize {
        self.identity.n
    }

    fn now_us(&self) -> u64 {
        self.clock.now_us()
    }

    fn incarnation(&self) -> u32 {
        self.identity.incarnation
    }

    fn has_lost_disk(&self) -> bool {
        self.identity.has_lost_disk
    }

    fn choose(&mut self, among: u32) -> u32 {
        ((u64::from(self.chance.next_u32()) * u64::from(among)) >> 32) as u32
    }

    fn send(&mut self, to: ProcessId, message: P::Message, _layer: u8) {
        if to == self.identity.me {
            self.to_myself.push_back(message);
        } else {
            self.post(to, &message);
        }
    }

    fn multicast(&mut self, to: &ProcessSet, message: P::Message, _layer: u8) {
        self.scratch.clear();
        let Ok(bytes) = postcard::to_extend(&message, std::mem::take(&mut self.scratch)) else {
            return;
        };
        let urgent = self.channel == Channel::Registry || message.kind() == "Hello";
        let others = to.iter().filter(|to| *to != self.identity.me);
        others.for_each(|to| self.links.post(to, self.channel, urgent, &bytes));
        self.scratch = bytes;
        if to.contains(self.identity.me) {
            self.to_myself.push_back(message);
        }
    }

    fn output(&mut self, output: P::Output) {
        self.outputs.push_back(output);
    }

    fn accuse(&mut self, who: ProcessId, why: &'static str) {
        self.links.accuse(who, why);
    }

    fn timer_set(&mut self, after_ms: u64) -> u64 {
        let due_us = self.clock.now_us().saturating_add(after_ms.saturating_mul(1_000));
        self.set_for_us = Some(self.set_for_us.map_or(due_us, |set| set.min(due_us)));
        self.timers_set += 1;
        self.timers_set
    }

    fn timer_fired(&mut self, _timer: &P::Timer) {}

    fn writing(&mut self) {
        self.has_records = true;
    }

    // The disk thread asks for the records, and writes them itself.
    fn written(&mut self, _write: Write<Record>) {}
    fn synced(&mut self, _records: usize) {}
}
