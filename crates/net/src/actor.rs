//! One process of an algorithm, with its application and its timers.

use crate::control::{Config, Medium};
use crate::outbox::Outbox;
use crate::past;
use crate::stage::Stage;
use crate::wire::{LARGEST_BODY, Parcel};
use serde::Serialize;
use std::io;
use synod_core::card::{Load, Rounds};
use synod_core::durable::Record;
use synod_core::family::{Mark, Pace};
use synod_core::{
    Algorithm, Application, Clock, Cx, Effect, EffectOf, Family, Host, Moment, ProcessId,
};
use synod_sim::network::{Delay, below, happens};
use synod_sim::world::ApplicationOf;

/// An application asks no further while so many of its requests are open.
const MOST_OPEN: u64 = 512;
/// If none of them is answered for so long, it goes on all the same: an answer may be lost,
const GIVE_UP_US: u64 = 20_000;
/// or, where nothing is lost, whoever should answer is dead.
const GIVE_UP_ON_THE_DEAD_US: u64 = 1_000_000;

/// Sends what is in the outbox.
pub(crate) type Send<'s> = &'s mut dyn FnMut(&mut Outbox);

/// A process, whatever its algorithm.
pub(crate) trait Behave {
    /// It starts.
    fn start(&mut self, stage: &mut Stage);
    /// Takes in a message; false if it cannot be read.
    fn receive(&mut self, from: ProcessId, parcel: Parcel<'_>, stage: &mut Stage) -> bool;
    /// Lets the timers run out that are due.
    fn fire(&mut self, stage: &mut Stage);
    /// Lets the application ask what is due, at most so often; how often it did.
    fn ask(&mut self, at_most: u32, stage: &mut Stage) -> u32;
    /// Makes everything safe that was written, and does what has waited for it. What does not wait is
    /// sent before: the disks of others work at the same time.
    fn sync(&mut self, stage: &mut Stage, send: Send<'_>) -> io::Result<()>;
    /// Under a sequential load: it may ask now.
    fn turn(&mut self, stage: &mut Stage);
    /// When the next timer or request is due. With `quiet`, requests do not count.
    fn next_us(&self, quiet: bool) -> Option<u64>;
    /// How it is going with the application.
    fn mood(&self) -> Mood;
}

/// How it is going with the application, and whether timers are set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mood {
    pub(crate) content: bool,
    pub(crate) waits: bool,
    pub(crate) wants_turn: bool,
    pub(crate) timers: bool,
}

/// What the application is going to ask.
#[derive(Debug)]
enum Plan<I> {
    Nothing,
    /// This, when it is its turn.
    AtTurn(I),
    /// This, then.
    At(u64, I),
}

/// A process of one algorithm.
pub(crate) struct Actor<A: Algorithm> {
    state: A,
    surroundings: Surroundings<A>,
    plan: Plan<A::Input>,
    offers: Vec<A::Input>,
    load: Load,
    think: Delay,
    hold: Delay,
    tells: f64,
    give_up_us: u64,
}

/// What a step may touch beside the state.
struct Surroundings<A: Algorithm> {
    application: ApplicationOf<A>,
    timers: Vec<(u64, A::Timer)>,
    /// Records that are not safe yet, and the messages and outputs that wait for them. Begins with a
    /// record.
    held: Vec<EffectOf<A>>,
    clocks: Vec<Clock>,
    /// How many requests are open, and when one was last answered.
    open: u64,
    answered_us: u64,
    scratch: Vec<u8>,
    answers: Vec<A::Input>,
}

impl<A: Algorithm> Actor<A> {
    /// A process as it was before it crashed, as far as it is on `disk`, if it has lived before.
    pub(crate) fn new(config: &Config, disk: &[Record]) -> io::Result<Self> {
        let me = config.me;
        let mut processes = A::processes(&config.setup).map_err(io::Error::other)?;
        let mut state = processes.swap_remove(me.index());
        let rounds = if state.takes_part(me) { config.rounds } else { Rounds::Times(0) };
        let mut application = ApplicationOf::<A>::new(me, &config.setup, rounds);
        for log in &config.past {
            past::live_again::<A>(&mut application, log, &config.clocks)?;
        }
        if let Some(replay) = A::REPLAY {
            let replayed = disk.iter().try_for_each(|record| replay(&mut state, record));
            replayed.map_err(io::Error::other)?;
        }
        let surroundings = Surroundings {
            application,
            timers: Vec::new(),
            held: Vec::new(),
            clocks: config.clocks.clone(),
            open: 0,
            answered_us: 0,
            scratch: vec![0; 1 << 12],
            answers: Vec::new(),
        };
        let (load, think, hold, tells) = (config.load, config.think, config.hold, config.tells);
        let (plan, offers) = (Plan::Nothing, Vec::new());
        let give_up_us = match config.medium {
            Medium::Tcp => GIVE_UP_ON_THE_DEAD_US,
            Medium::Udp => GIVE_UP_US,
        };
        Ok(Actor { state, surroundings, plan, offers, load, think, hold, tells, give_up_us })
    }

    /// Runs one handler, then whatever the application answers at once.
    fn run(&mut self, stage: &mut Stage, handler: impl FnOnce(&mut A, &mut Cx<'_, A>)) {
        let (me, n) = (stage.me, stage.n);
        let mut host = Hosting { stage, around: &mut self.surroundings };
        handler(&mut self.state, &mut Cx::new(me, n, &mut host));
        self.answer(stage);
        self.make_plan(stage);
    }

    fn answer(&mut self, stage: &mut Stage) {
        if self.surroundings.answers.is_empty() {
            return;
        }
        for input in std::mem::take(&mut self.surroundings.answers) {
            self.take_input(input, stage);
        }
    }

    fn take_input(&mut self, input: A::Input, stage: &mut Stage) {
        self.surroundings.application.on_input(&input);
        if stage.remembers {
            let length = encode(&input, &mut self.surroundings.scratch);
            stage.log.asked(&self.surroundings.scratch[..length]);
        }
        stage.progress += 1;
        match A::Family::mark_of_input(&input) {
            Mark::Ask => self.surroundings.open += 1,
            Mark::Whole => {
                stage.operations += 1;
                stage.turns_over += 1;
            }
            Mark::End => stage.turns_over += 1,
            Mark::Begin | Mark::Done | Mark::Reached | Mark::None => {}
        }
        let (me, n) = (stage.me, stage.n);
        let mut host = Hosting { stage, around: &mut self.surroundings };
        self.state.on_input(input, &mut Cx::new(me, n, &mut host));
        self.answer(stage);
    }

    /// Decides what the application asks next, and when.
    fn make_plan(&mut self, stage: &mut Stage) {
        if !matches!(self.plan, Plan::Nothing) {
            return;
        }
        let mut pick = |many: usize| below(&mut stage.chance, many as u64) as usize;
        let offer = self.surroundings.application.offer(&mut pick, &mut self.offers);
        let Some(input) = offer else { return };
        let begins = matches!(A::Family::mark_of_input(&input), Mark::Ask | Mark::Whole);
        let pace = A::Family::pace(&input);
        if begins && self.load == Load::Sequential && pace != Pace::AtOnce {
            self.plan = Plan::AtTurn(input);
            return;
        }
        let delay = match pace {
            Pace::AtOnce => 0,
            Pace::Think if self.load == Load::Saturated => 0,
            Pace::Think => self.think.draw(&mut stage.chance),
            Pace::Hold => self.hold.draw(&mut stage.chance),
        };
        self.plan = Plan::At(stage.now_us.saturating_add(delay), input);
    }

    fn ask_this(&mut self, input: A::Input, stage: &mut Stage) {
        let bytes = encode(&input, &mut self.surroundings.scratch);
        stage.log.input(stage.now_us, &self.surroundings.scratch[..bytes]);
        let asks = A::Family::mark_of_input(&input) == Mark::Ask;
        self.take_input(input, stage);
        if asks && stage.n > 1 && happens(&mut stage.chance, self.tells) {
            self.tell(stage);
        }
        self.make_plan(stage);
    }

    /// The application tells another one that it asked.
    fn tell(&mut self, stage: &mut Stage) {
        let other = below(&mut stage.chance, stage.n as u64 - 1) as u32;
        let to = ProcessId(if other >= stage.me.0 { other + 1 } else { other });
        stage.log.tell(stage.now_us, to);
        let stamp = self.state.stamp();
        stage.send(to, true, &stamp.to_le_bytes());
    }

    /// Hands all that waits to the disk but the first `written` records, which it has, and makes it safe.
    /// What led to it is written down before: nothing is safe, and nothing leaves, of which nobody knows
    /// why.
    fn write(&mut self, written: usize, stage: &mut Stage, send: Send<'_>) -> io::Result<usize> {
        stage.log.commit(stage.digest)?;
        send(&mut stage.outbox);
        let mut records = 0;
        for effect in &self.surroundings.held {
            records += usize::from(is_record(effect));
            match effect {
                _ if records <= written => {}
                Effect::Persist(record) => stage.disk.append(record)?,
                Effect::Checkpoint(record) => stage.disk.checkpoint(record)?,
                _ => {}
            }
        }
        stage.disk.sync()?;
        // What waited is told now, and not when it began to wait.
        stage.look_at_the_clock();
        Ok(records)
    }

    /// The first records in the queue are safe: what waited for them is carried out, as far as it does
    /// not wait for others.
    fn release(&mut self, stage: &mut Stage) {
        stage.log.sync(stage.now_us);
        let held = std::mem::take(&mut self.surroundings.held);
        let mut host = Hosting { stage, around: &mut self.surroundings };
        for effect in held.into_iter().skip_while(is_record) {
            host.effect(effect);
        }
        self.answer(stage);
        self.make_plan(stage);
    }

    /// Whether so many requests are open that the application should wait for an answer.
    fn is_full(&self, now_us: u64) -> bool {
        let around = &self.surroundings;
        around.open >= MOST_OPEN && now_us < around.answered_us.saturating_add(self.give_up_us)
    }
}

impl<A: Algorithm> Behave for Actor<A> {
    fn start(&mut self, stage: &mut Stage) {
        self.surroundings.answered_us = stage.now_us;
        let records = stage.disk.records();
        stage.log.start(stage.now_us, (!stage.has_lost_disk()).then_some(records));
        self.run(stage, |state, cx| state.on_start(cx));
    }

    fn receive(&mut self, from: ProcessId, parcel: Parcel<'_>, stage: &mut Stage) -> bool {
        if parcel.tell {
            let Ok(stamp) = parcel.body.try_into() else { return false };
            stage.log.message(stage.now_us, from, parcel.number, true);
            self.state.witness(u64::from_le_bytes(stamp));
            return true;
        }
        let Ok(message) = postcard::from_bytes::<A::Message>(parcel.body) else { return false };
        stage.log.message(stage.now_us, from, parcel.number, true);
        self.run(stage, |state, cx| state.on_message(from, message, cx));
        true
    }

    fn fire(&mut self, stage: &mut Stage) {
        // A timer that is set anew in the meantime waits for the next time.
        let now_us = stage.now_us;
        let due = |timers: &[(u64, A::Timer)]| {
            let due = timers.iter().enumerate().filter(|(_, (due_us, _))| *due_us <= now_us);
            due.min_by_key(|(_, (due_us, _))| *due_us).map(|(index, _)| index)
        };
        for _ in 0..self.surroundings.timers.len() {
            let Some(index) = due(&self.surroundings.timers) else { return };
            let (_, timer) = self.surroundings.timers.remove(index);
            let bytes = encode(&timer, &mut self.surroundings.scratch);
            stage.log.timer(now_us, &self.surroundings.scratch[..bytes]);
            self.run(stage, |state, cx| state.on_timer(timer, cx));
        }
    }

    fn ask(&mut self, at_most: u32, stage: &mut Stage) -> u32 {
        for asked in 0..at_most {
            if self.is_full(stage.now_us) {
                return asked;
            }
            match std::mem::replace(&mut self.plan, Plan::Nothing) {
                Plan::At(due_us, input) if due_us <= stage.now_us => {
                    if self.surroundings.application.may_ask(&input, &mut self.offers) {
                        self.ask_this(input, stage);
                    } else {
                        self.make_plan(stage);
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

    fn sync(&mut self, stage: &mut Stage, send: Send<'_>) -> io::Result<()> {
        // One sync for all that waits, however many waited for each; what that leads to may write more.
        let mut written = 0;
        while !self.surroundings.held.is_empty() {
            let first = self.surroundings.held.iter().take_while(|held| is_record(held)).count();
            if first > written {
                written = self.write(written, stage, send)?;
            }
            written -= first;
            self.release(stage);
        }
        Ok(())
    }

    fn turn(&mut self, stage: &mut Stage) {
        match std::mem::replace(&mut self.plan, Plan::Nothing) {
            Plan::AtTurn(input) => {
                let pause = self.think.draw(&mut stage.chance);
                self.plan = Plan::At(stage.now_us.saturating_add(pause), input);
            }
            other => self.plan = other,
        }
    }

    fn next_us(&self, quiet: bool) -> Option<u64> {
        let timer = self.surroundings.timers.iter().map(|(due_us, _)| *due_us).min();
        let request = match self.plan {
            Plan::At(due_us, _) if !quiet && self.is_full(due_us) => {
                Some(self.surroundings.answered_us.saturating_add(self.give_up_us))
            }
            Plan::At(due_us, _) if !quiet => Some(due_us),
            _ => None,
        };
        timer.into_iter().chain(request).min()
    }

    fn mood(&self) -> Mood {
        Mood {
            content: matches!(self.plan, Plan::Nothing),
            waits: self.surroundings.open > 0,
            wants_turn: matches!(self.plan, Plan::AtTurn(_)),
            timers: !self.surroundings.timers.is_empty(),
        }
    }
}

/// The world as a step sees it.
struct Hosting<'a, A: Algorithm> {
    stage: &'a mut Stage,
    around: &'a mut Surroundings<A>,
}

impl<A: Algorithm> Host<A> for Hosting<'_, A> {
    fn effect(&mut self, effect: EffectOf<A>) {
        let waits = match &effect {
            Effect::Persist(_) | Effect::Checkpoint(_) => true,
            Effect::Send { .. } | Effect::Multicast { .. } | Effect::Output(_) => {
                !self.around.held.is_empty()
            }
            Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Accuse { .. } => false,
        };
        match waits {
            true => self.around.held.push(effect),
            false => self.carry_out(effect),
        }
    }

    fn choose(&mut self, among: u32) -> u32 {
        let chosen = below(&mut self.stage.chance, among.into()) as u32;
        self.stage.log.choice(chosen);
        chosen
    }

    fn incarnation(&self) -> u32 {
        self.stage.life
    }

    fn has_lost_disk(&self) -> bool {
        self.stage.has_lost_disk()
    }
}

fn is_record<M, T, O>(effect: &Effect<M, T, O>) -> bool {
    matches!(effect, Effect::Persist(_) | Effect::Checkpoint(_))
}

impl<A: Algorithm> Hosting<'_, A> {
    fn carry_out(&mut self, effect: EffectOf<A>) {
        match effect {
            Effect::Send { to, message } => {
                let length = encode(&message, &mut self.around.scratch);
                self.stage.send(to, false, &self.around.scratch[..length]);
            }
            Effect::Multicast { to, message } => {
                let length = encode(&message, &mut self.around.scratch);
                self.stage.send_all(&to, false, &self.around.scratch[..length]);
            }
            Effect::SetTimer { timer, after_ms } => {
                self.around.timers.retain(|(_, set)| *set != timer);
                let due_us = self.stage.now_us.saturating_add(after_ms.saturating_mul(1_000));
                self.around.timers.push((due_us, timer));
            }
            Effect::CancelTimer(timer) => self.around.timers.retain(|(_, set)| *set != timer),
            Effect::Output(output) => self.output(&output),
            Effect::Persist(_) | Effect::Checkpoint(_) => {
                unreachable!("a record always waits for the disk")
            }
            // The replay says it again.
            Effect::Accuse { .. } => {}
        }
    }

    fn output(&mut self, output: &A::Output) {
        let length = encode(output, &mut self.around.scratch);
        self.stage.digest.told(&self.around.scratch[..length]);
        if self.stage.remembers {
            self.stage.log.told(&self.around.scratch[..length]);
        }
        self.stage.progress += 1;
        let mark = A::Family::mark_of_output(self.stage.me, output);
        self.stage.turns_over += u64::from(mark == Mark::Done);
        if let Mark::Begin | Mark::Done = mark {
            self.around.open = self.around.open.saturating_sub(1);
            self.around.answered_us = self.stage.now_us;
            self.stage.operations += 1;
        }
        let moment = Moment { now_us: self.stage.now_us, clocks: &self.around.clocks };
        self.around.answers.extend(self.around.application.on_output(output, moment));
    }
}

/// Writes a value into a buffer that grows as it needs; how long it is.
#[inline]
pub(crate) fn encode<T: Serialize>(value: &T, scratch: &mut Vec<u8>) -> usize {
    loop {
        let written = postcard::to_slice(value, scratch).map(|written| written.len());
        match written {
            Ok(length) => return length,
            Err(postcard::Error::SerializeBufferFull) if scratch.len() < 2 * LARGEST_BODY => {
                scratch.resize(scratch.len() * 2, 0);
            }
            Err(error) => panic!("a value of the algorithm cannot be written: {error}"),
        }
    }
}
