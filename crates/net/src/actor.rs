//! One process of an algorithm, with its application and its timers.

use crate::control::{Config, Medium};
use crate::environment::Environment;
use crate::outbox::Outbox;
use crate::recovery;
use crate::wire::{LARGEST_BODY, Parcel};
use serde::Serialize;
use std::io;
use synod_core::boxed::{BoxedMessage, BoxedTimer};
use synod_core::card::Rounds;
use synod_core::durable::Record;
use synod_core::family::any::AnyApplication;
use synod_core::family::{AnyFamily, AnyInput, AnyOutput, Mark};
use synod_core::host::Write;
use synod_core::{
    Algorithm, Application, Boxed, Clock, Family, Host, Moment, Outlet, ProcessId, ProcessSet,
    Setup,
};
use synod_sim::network::{below, happens};
use synod_sim::workload::{When, Workload};

/// Limit of open requests per application. It bounds the queues of the algorithm under load.
const MOST_OPEN: u64 = 512;
/// On UDP, a full application asks again after this time without an answer: the answer may be lost.
const GIVE_UP_US: u64 = 20_000;
/// The same on TCP, which loses nothing: only a dead process leaves a request unanswered.
const GIVE_UP_ON_THE_DEAD_US: u64 = 1_000_000;

/// Sends the parcels in the outbox.
pub(crate) type Send<'s> = &'s mut dyn FnMut(&mut Outbox);

/// A process of any algorithm, as the event loop of a member drives it.
pub(crate) trait AnyActor {
    fn start(&mut self, environment: &mut Environment);
    /// Delivers a message to the process; false if it cannot be decoded.
    fn receive(
        &mut self,
        from: ProcessId,
        parcel: Parcel<'_>,
        environment: &mut Environment,
    ) -> bool;
    /// Fires the timers that are due.
    fn fire(&mut self, environment: &mut Environment);
    /// Submits the application's due requests, `at_most` of them; returns their number.
    fn ask(&mut self, at_most: u32, environment: &mut Environment) -> u32;
    /// Syncs the records of the process to its disk, then carries out the effects that waited for
    /// them. Messages that wait for no record leave before the sync, so that the disks of other
    /// members work at the same time.
    fn sync(&mut self, environment: &mut Environment, send: Send<'_>) -> io::Result<()>;
    /// Under a sequential load: the coordinator grants the next request.
    fn turn(&mut self, environment: &mut Environment);
    /// When the next timer or request is due. With `quiet`, requests do not count.
    fn next_us(&self, quiet: bool) -> Option<u64>;
    /// What the application waits for.
    fn activity(&self) -> Activity;
}

/// What the application waits for, whether timers are set, and the longest that ever was: the
/// coordinator ends a run when no member waits for anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    pub(crate) content: bool,
    pub(crate) waits: bool,
    pub(crate) wants_turn: bool,
    pub(crate) timers: bool,
    pub(crate) longest_timer_ms: u64,
}

/// The application's next request.
#[derive(Debug)]
enum Plan<I> {
    Nothing,
    /// Waits for the coordinator to grant a turn.
    AtTurn(I),
    /// Due at this time, in microseconds since the start.
    At(u64, I),
}

/// A process of any algorithm of the family: its host, its application, and the application's next
/// request.
pub(crate) struct Actor {
    host: Host<Boxed>,
    /// Names the algorithm, which decodes messages.
    setup: Setup,
    /// The number of the last record of this life that is on the disk.
    written: u64,
    around: Surroundings,
    plan: Plan<AnyInput>,
    workload: Workload,
    tells: f64,
    give_up_us: u64,
}

/// The application and the buffers that a step uses beside the host.
struct Surroundings {
    application: AnyApplication,
    clocks: Vec<Clock>,
    /// The number of open requests, and the time of the last answer.
    open: u64,
    answered_us: u64,
    timers_set: u64,
    longest_timer_ms: u64,
    scratch: Vec<u8>,
    answers: Vec<AnyInput>,
}

impl Actor {
    /// A process of the algorithm that `setup` names. If it has lived before, its state comes from
    /// the records on `disk` and its application from the logs of the earlier lives.
    pub(crate) fn new(config: &Config, setup: Setup, disk: &[Record]) -> io::Result<Self> {
        let me = config.me;
        let mut processes = Boxed::processes(&setup).map_err(io::Error::other)?;
        let state = processes.swap_remove(me.index());
        let rounds = if state.takes_part(me) { config.rounds } else { Rounds::Times(0) };
        let mut application = AnyApplication::new(me, &setup, rounds);
        for log in &config.past {
            recovery::live_again(&mut application, log, &config.clocks)?;
        }
        let host = match Boxed::kit(&setup).replay {
            Some(replay) => Host::restored(state, replay, disk).map_err(io::Error::other)?,
            None => Host::new(state),
        };
        let around = Surroundings {
            application,
            clocks: config.clocks.clone(),
            open: 0,
            answered_us: 0,
            timers_set: 0,
            longest_timer_ms: 0,
            scratch: vec![0; 1 << 12],
            answers: Vec::new(),
        };
        let Config { load, think, hold, tells, .. } = *config;
        let workload = Workload { load, think, hold };
        let plan = Plan::Nothing;
        let give_up_us = match config.medium {
            Medium::Tcp => GIVE_UP_ON_THE_DEAD_US,
            Medium::Udp => GIVE_UP_US,
        };
        Ok(Actor { host, setup, written: 0, around, plan, workload, tells, give_up_us })
    }

    /// The host takes one step; the application then answers the outputs of that step.
    fn run(
        &mut self,
        environment: &mut Environment,
        step: impl FnOnce(&mut Host<Boxed>, &mut Carrier<'_>),
    ) {
        step(&mut self.host, &mut Carrier { environment, around: &mut self.around });
        self.answer(environment);
        self.make_plan(environment);
    }

    fn answer(&mut self, environment: &mut Environment) {
        if self.around.answers.is_empty() {
            return;
        }
        for input in std::mem::take(&mut self.around.answers) {
            self.take_input(input, environment);
        }
    }

    fn take_input(&mut self, input: AnyInput, environment: &mut Environment) {
        self.around.application.on_input(&input);
        if environment.remembers {
            let length = encode(&input, &mut self.around.scratch);
            environment.log.application_input(&self.around.scratch[..length]);
        }
        environment.progress += 1;
        match AnyFamily::mark_of_input(&input) {
            Mark::Ask => self.around.open += 1,
            Mark::Whole => {
                environment.operations += 1;
                environment.turns_over += 1;
            }
            Mark::End => environment.turns_over += 1,
            Mark::Begin | Mark::Done | Mark::Refused | Mark::Reached | Mark::None => {}
        }
        self.host.on_input(input, &mut Carrier { environment, around: &mut self.around });
        self.answer(environment);
    }

    /// Draws the application's next request and its time, unless one is already planned.
    fn make_plan(&mut self, environment: &mut Environment) {
        if !matches!(self.plan, Plan::Nothing) {
            return;
        }
        let Actor { workload, around, .. } = self;
        let plan = workload.plan::<AnyFamily>(&around.application, &mut environment.chance);
        self.plan = match plan {
            None => Plan::Nothing,
            Some((input, When::AtTurn)) => Plan::AtTurn(input),
            Some((input, When::After(delay_us))) => {
                Plan::At(environment.now_us.saturating_add(delay_us), input)
            }
        };
    }

    fn ask_this(&mut self, input: AnyInput, environment: &mut Environment) {
        let bytes = encode(&input, &mut self.around.scratch);
        environment.log.input(environment.now_us, &self.around.scratch[..bytes]);
        let asks = AnyFamily::mark_of_input(&input) == Mark::Ask;
        self.take_input(input, environment);
        if asks && environment.n > 1 && happens(&mut environment.chance, self.tells) {
            self.tell(environment);
        }
        self.make_plan(environment);
    }

    /// The application tells another application that it asked, outside the algorithm. A request of
    /// that application now happens after this one, and a fair algorithm must serve it later (ME3).
    fn tell(&mut self, environment: &mut Environment) {
        let other = below(&mut environment.chance, environment.n as u64 - 1) as u32;
        let to = ProcessId(if other >= environment.me.0 { other + 1 } else { other });
        environment.log.tell(environment.now_us, to);
        let stamp = self.host.state_mut().stamp();
        environment.send(to, true, &stamp.to_le_bytes());
    }

    /// Appends the waiting records to the disk and syncs it. The log is committed first: the replay
    /// must find the event behind every record on the disk and every message on the wire.
    fn write(&mut self, environment: &mut Environment, send: Send<'_>) -> io::Result<()> {
        environment.log.commit(environment.digest)?;
        send(&mut environment.outbox);
        for write in self.host.writes_after(self.written) {
            self.written += 1;
            match write {
                Write::Append(record) => environment.disk.append(record)?,
                Write::Checkpoint(record, keep) => environment.disk.checkpoint(record, keep)?,
            }
        }
        environment.disk.sync()?;
        // The effects that waited happen now, and not when they began to wait.
        environment.look_at_the_clock();
        Ok(())
    }

    /// Carries out the effects behind the first records in the queue, if these are written; returns
    /// whether they are.
    fn release(&mut self, environment: &mut Environment) -> bool {
        let mut carrier = Carrier { environment, around: &mut self.around };
        let released = self.host.on_written(self.written, &mut carrier);
        if released {
            self.answer(environment);
            self.make_plan(environment);
        }
        released
    }

    /// Whether the application has reached its limit of open requests and still expects an answer.
    fn is_full(&self, now_us: u64) -> bool {
        let around = &self.around;
        around.open >= MOST_OPEN && now_us < around.answered_us.saturating_add(self.give_up_us)
    }
}

impl AnyActor for Actor {
    fn start(&mut self, environment: &mut Environment) {
        self.around.answered_us = environment.now_us;
        let records = environment.disk.records();
        environment
            .log
            .start(environment.now_us, (!environment.has_lost_disk()).then_some(records));
        self.run(environment, |host, carrier| host.on_start(carrier));
    }

    fn receive(
        &mut self,
        from: ProcessId,
        parcel: Parcel<'_>,
        environment: &mut Environment,
    ) -> bool {
        if parcel.tell {
            let Ok(stamp) = parcel.body.try_into() else { return false };
            environment.log.message(environment.now_us, from, parcel.number, true);
            self.host.state_mut().witness(u64::from_le_bytes(stamp));
            return true;
        }
        let message = Boxed::read_message(&self.setup, parcel.body);
        let Some(message) = message else { return false };
        environment.log.message(environment.now_us, from, parcel.number, true);
        self.run(environment, |host, carrier| host.on_message(from, message, carrier));
        true
    }

    fn fire(&mut self, environment: &mut Environment) {
        // A timer that a handler sets during this call waits for the next one: two timers that set
        // each other would otherwise keep the loop here for ever.
        for _ in 0..self.host.timers().len() {
            let first = self.host.timers().iter().min_by_key(|set| set.due_us);
            let Some(set) = first.filter(|set| set.due_us <= environment.now_us) else { return };
            let number = set.number;
            self.run(environment, |host, carrier| host.on_timer(number, carrier));
        }
    }

    fn ask(&mut self, at_most: u32, environment: &mut Environment) -> u32 {
        for asked in 0..at_most {
            if self.is_full(environment.now_us) {
                return asked;
            }
            match std::mem::replace(&mut self.plan, Plan::Nothing) {
                Plan::At(due_us, input) if due_us <= environment.now_us => {
                    if self.around.application.may_ask(&input) {
                        self.ask_this(input, environment);
                    } else {
                        self.make_plan(environment);
                    }
                }
                other => {
                    self.plan = other;
                    return asked;
                }
            }
        }
        at_most
    }

    fn sync(&mut self, environment: &mut Environment, send: Send<'_>) -> io::Result<()> {
        // One sync serves all waiting records. The released effects may write records of their own.
        while self.host.is_writing() {
            self.write(environment, send)?;
            while self.release(environment) {}
        }
        Ok(())
    }

    fn turn(&mut self, environment: &mut Environment) {
        match std::mem::replace(&mut self.plan, Plan::Nothing) {
            Plan::AtTurn(input) => {
                let pause = self.workload.think.draw(&mut environment.chance);
                self.plan = Plan::At(environment.now_us.saturating_add(pause), input);
            }
            other => self.plan = other,
        }
    }

    fn next_us(&self, quiet: bool) -> Option<u64> {
        let timer = self.host.next_due_us();
        let request = match self.plan {
            Plan::At(due_us, _) if !quiet && self.is_full(due_us) => {
                Some(self.around.answered_us.saturating_add(self.give_up_us))
            }
            Plan::At(due_us, _) if !quiet => Some(due_us),
            _ => None,
        };
        timer.into_iter().chain(request).min()
    }

    fn activity(&self) -> Activity {
        Activity {
            content: matches!(self.plan, Plan::Nothing),
            waits: self.around.open > 0,
            wants_turn: matches!(self.plan, Plan::AtTurn(_)),
            timers: !self.host.timers().is_empty(),
            longest_timer_ms: self.around.longest_timer_ms,
        }
    }
}

/// The outlet of a host on a real machine.
struct Carrier<'a> {
    environment: &'a mut Environment,
    around: &'a mut Surroundings,
}

impl Outlet<Boxed> for Carrier<'_> {
    fn me(&self) -> ProcessId {
        self.environment.me
    }

    fn group_size(&self) -> usize {
        self.environment.n
    }

    fn now_us(&self) -> u64 {
        self.environment.now_us
    }

    fn incarnation(&self) -> u32 {
        self.environment.life
    }

    fn has_lost_disk(&self) -> bool {
        self.environment.has_lost_disk()
    }

    fn choose(&mut self, among: u32) -> u32 {
        let chosen = below(&mut self.environment.chance, among.into()) as u32;
        self.environment.log.choice(chosen);
        chosen
    }

    fn send(&mut self, to: ProcessId, message: BoxedMessage, _layer: u8) {
        let length = fill(&mut self.around.scratch, |buffer| message.encode(buffer));
        self.environment.send(to, false, &self.around.scratch[..length]);
    }

    fn multicast(&mut self, to: &ProcessSet, message: BoxedMessage, _layer: u8) {
        let length = fill(&mut self.around.scratch, |buffer| message.encode(buffer));
        self.environment.send_all(to, false, &self.around.scratch[..length]);
    }

    fn output(&mut self, output: AnyOutput) {
        let length = encode(&output, &mut self.around.scratch);
        self.environment.digest.output(&self.around.scratch[..length]);
        if self.environment.remembers {
            self.environment.log.application_output(&self.around.scratch[..length]);
        }
        self.environment.progress += 1;
        let mark = AnyFamily::mark_of_output(self.environment.me, &output);
        self.environment.turns_over += u64::from(matches!(mark, Mark::Done | Mark::Refused));
        if let Mark::Begin | Mark::Done | Mark::Refused = mark {
            self.around.open = self.around.open.saturating_sub(1);
            self.around.answered_us = self.environment.now_us;
            self.environment.operations += u64::from(mark != Mark::Refused);
        }
        let moment = Moment { now_us: self.environment.now_us, clocks: &self.around.clocks };
        self.around.answers.extend(self.around.application.on_output(&output, moment));
    }

    // The replay makes the same accusation and reports it.
    fn accuse(&mut self, _who: ProcessId, _why: &'static str) {}

    fn timer_set(&mut self, after_ms: u64) -> u64 {
        self.around.longest_timer_ms = self.around.longest_timer_ms.max(after_ms);
        self.around.timers_set += 1;
        self.around.timers_set
    }

    fn timer_fired(&mut self, timer: &BoxedTimer) {
        let length = fill(&mut self.around.scratch, |buffer| timer.encode(buffer));
        self.environment.log.timer(self.environment.now_us, &self.around.scratch[..length]);
    }

    // The member's event loop looks for records at the end of each iteration.
    fn writing(&mut self) {}

    // The disk has the record already; only the next life of this process reads it.
    fn written(&mut self, _write: Write<Record>) {}

    fn synced(&mut self, _records: usize) {
        self.environment.log.sync(self.environment.now_us);
    }
}

/// Encodes a value into a buffer that grows to fit; returns the encoded length.
#[inline]
pub(crate) fn encode<T: Serialize>(value: &T, scratch: &mut Vec<u8>) -> usize {
    fill(scratch, |buffer| match postcard::to_slice(value, buffer) {
        Ok(written) => Some(written.len()),
        Err(postcard::Error::SerializeBufferFull) => None,
        Err(error) => panic!("a value of the algorithm cannot be written: {error}"),
    })
}

/// Calls `write` with a larger and larger buffer until the value fits; returns the length that
/// `write` reports.
#[inline]
pub(crate) fn fill(scratch: &mut Vec<u8>, write: impl Fn(&mut [u8]) -> Option<usize>) -> usize {
    loop {
        if let Some(length) = write(scratch) {
            return length;
        }
        assert!(scratch.len() < 2 * LARGEST_BODY, "a value is larger than any that can be sent");
        scratch.resize(scratch.len() * 2, 0);
    }
}
