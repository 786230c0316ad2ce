//! One process of a protocol, with all that every driver does alike: its timers, the records it
//! writes, and the messages and outputs that wait for them.
//!
//! A host does no input and no output of its own. The driver says what happens: the process starts,
//! the application asks, a message arrives, a timer runs out, the disk has written. The host lets
//! the protocol take its step and hands out what comes of it, effect by effect, through an
//! [`Outlet`]. A simulated world and a process with real sockets are two outlets; neither of them
//! keeps a rule of its own about timers or disks.
//!
//! The rule that is kept here and nowhere else: **what follows a record waits for it.** From the
//! first [`persist`](crate::Cx::persist) on, messages and outputs line up behind the record, and
//! leave when the driver says [`Host::on_written`]. Timers and accusations stay inside the process
//! and never wait.

mod records;
mod timers;

pub use records::Write;
pub use timers::SetTimer;

use crate::algorithm::Replay;
use crate::cx::{Cx, Effect, EffectOf, Effects};
use crate::durable::{BadRecord, Record};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Protocol;
use records::Queue;
use timers::Timers;

/// Where the effects of a process go: what a driver implements.
///
/// The methods come in the order in which the protocol asked, and each is complete when it returns.
pub trait Outlet<P: Protocol> {
    /// The name of the process.
    fn me(&self) -> ProcessId;
    /// How many processes there are.
    fn group_size(&self) -> usize;
    /// The time, in microseconds, by which timers are due.
    fn now_us(&self) -> u64;
    /// Which life of the process this is, from 1.
    fn incarnation(&self) -> u32;
    /// Whether the process had a disk in an earlier life, and starts this one without it.
    fn has_lost_disk(&self) -> bool;
    /// Decides a randomised step: any number below `among`.
    fn choose(&mut self, among: u32) -> u32;

    /// A message to one process, sent `layer` layers below the top.
    fn send(&mut self, to: ProcessId, message: P::Message, layer: u8);
    /// One message to several processes.
    fn multicast(&mut self, to: &ProcessSet, message: P::Message, layer: u8);
    /// The application is told.
    fn output(&mut self, output: P::Output);
    /// A peer broke the protocol.
    fn accuse(&mut self, who: ProcessId, why: &'static str);

    /// A timer is set. Returns the number by which the driver will name it.
    fn timer_set(&mut self, after_ms: u64) -> u64;
    /// A timer runs out; the protocol learns it next.
    fn timer_fired(&mut self, timer: &P::Timer);

    /// A record is at the head of the queue: the driver has to write it. See
    /// [`Host::writes_after`].
    fn writing(&mut self);
    /// This record is on the disk, and has left the queue.
    fn written(&mut self, write: Write<Record>);
    /// This number of records has left the queue; the effects that waited for them follow.
    fn synced(&mut self, records: usize);

    /// Whether the process has crashed in the middle of this step: nothing more is carried out.
    fn is_cut_off(&self) -> bool {
        false
    }
    /// Nothing came of the step; see [`crate::reductions::retract`].
    fn retract(&mut self) {}
}

/// One process: its state, its timers, its records and what waits for them. See the module.
#[derive(Debug, Eq)]
pub struct Host<P: Protocol> {
    state: P,
    timers: Timers<P::Timer>,
    /// None until the first record: most protocols have no disk, and explorers keep many hosts.
    queue: Option<Box<Queue<P>>>,
}

crate::clone_by_field!(Host<P: Protocol> { state, timers; queue });

impl<P: Protocol> PartialEq for Host<P> {
    // Explorers compare hosts all the time, and most have neither timers nor records.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let none = |host: &Self| host.timers.all().is_empty() && host.queue.is_none();
        self.state == other.state
            && (none(self) && none(other)
                || self.timers == other.timers && self.queue == other.queue)
    }
}

impl<P: Protocol> Host<P> {
    /// A process that has not started.
    pub fn new(state: P) -> Self {
        Host { state, timers: Timers::default(), queue: None }
    }

    /// A process that comes back: the initial state, and the records that it finds on its disk.
    pub fn restored<'r>(
        mut state: P,
        replay: Replay<P>,
        records: impl IntoIterator<Item = &'r Record>,
    ) -> Result<Self, BadRecord> {
        records.into_iter().try_for_each(|record| replay(&mut state, record))?;
        Ok(Host::new(state))
    }

    /// The state of the protocol.
    pub fn state(&self) -> &P {
        &self.state
    }

    /// The state, for drivers that change it outside a step: an application's message moves a
    /// logical clock on.
    pub fn state_mut(&mut self) -> &mut P {
        &mut self.state
    }

    /// The state and what waits for the disk, for drivers that make numbers small before they
    /// compare.
    pub fn parts_mut(&mut self) -> (&mut P, &mut [(u8, EffectOf<P>)]) {
        (&mut self.state, self.queue.as_mut().map_or(&mut [], |queue| queue.all_mut()))
    }

    /// The timers that are set, in the order of setting.
    pub fn timers(&self) -> &[SetTimer<P::Timer>] {
        self.timers.all()
    }

    /// When the next timer is due. Records are due at once: see [`Host::is_writing`].
    pub fn next_due_us(&self) -> Option<u64> {
        self.timers.all().iter().map(|set| set.due_us).min()
    }

    /// Time stood still for the process: its timers are due so much later.
    pub fn put_off_timers(&mut self, by_us: u64) {
        self.timers.put_off(by_us);
    }

    /// Whether a record waits for the disk.
    pub fn is_writing(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }

    /// How many records wait for the disk.
    pub fn waiting_records(&self) -> usize {
        self.writes_after(0).count()
    }

    /// The records that wait for the disk, in order, but for the first `number` of this life, which
    /// the driver has written already.
    pub fn writes_after(&self, number: u64) -> impl Iterator<Item = Write<&Record>> {
        self.queue.iter().flat_map(move |queue| queue.writes_after(number))
    }

    /// The records that wait for the disk and what waits for them, for drivers that compare states.
    pub fn waiting(&self) -> &[(u8, EffectOf<P>)] {
        self.queue.as_ref().map_or(&[], |queue| queue.all())
    }

    /// The process starts.
    pub fn on_start(&mut self, outlet: &mut impl Outlet<P>) {
        self.step(outlet, |state, cx| state.on_start(cx));
    }

    /// The application asks.
    pub fn on_input(&mut self, input: P::Input, outlet: &mut impl Outlet<P>) {
        self.step(outlet, |state, cx| state.on_input(input, cx));
    }

    /// A message arrives.
    pub fn on_message(
        &mut self,
        from: ProcessId,
        message: P::Message,
        outlet: &mut impl Outlet<P>,
    ) {
        self.step(outlet, |state, cx| state.on_message(from, message, cx));
    }

    /// The timer with this number runs out.
    ///
    /// # Panics
    /// If none is set with that number: the driver has forgotten that it was cancelled.
    pub fn on_timer(&mut self, number: u64, outlet: &mut impl Outlet<P>) {
        let timer = self.timers.take(number).expect("the driver names a timer that is set");
        outlet.timer_fired(&timer);
        self.step(outlet, |state, cx| state.on_timer(timer, cx));
    }

    /// The disk has written, up to the record with this number (the first of a life has number 1).
    /// If the records at the head of the queue are among them, they leave it, and so does what
    /// waited for them and for no later record. Returns whether this happened; if it did there may
    /// be more.
    ///
    /// One group of records at a time, because the application may answer to what it is told, and
    /// answers before what waited for a later record goes out.
    pub fn on_written(&mut self, up_to: u64, outlet: &mut impl Outlet<P>) -> bool {
        let Some(queue) = &mut self.queue else { return false };
        let Some((records, mut group)) = queue.take_group(up_to) else { return false };
        let writes = group.by_ref().take(records).filter_map(|(_, effect)| Write::of(effect));
        writes.for_each(|write| outlet.written(write));
        outlet.synced(records);
        for (layer, effect) in group {
            if !outlet.is_cut_off() {
                hand_out(effect, layer, outlet);
            }
        }
        if self.is_writing() && !outlet.is_cut_off() {
            outlet.writing();
        }
        true
    }

    /// The process crashes: its timers are gone, and what waited for the disk never happens.
    /// Returns the records that waited, in order. The first of them may have reached the disk all
    /// the same.
    pub fn on_crash(&mut self) -> impl Iterator<Item = Write<Record>> + use<P> {
        self.timers.clear();
        self.queue.as_mut().map(|queue| queue.clear()).into_iter().flatten()
    }

    fn step<O: Outlet<P>>(&mut self, outlet: &mut O, handler: impl FnOnce(&mut P, &mut Cx<'_, P>)) {
        let (me, n) = (outlet.me(), outlet.group_size());
        let Host { state, timers, queue } = self;
        let mut step = Step { timers, queue, outlet, layer: 0 };
        handler(state, &mut Cx::new(me, n, &mut step));
    }
}

/// One step of a protocol under way.
struct Step<'a, P: Protocol, O> {
    timers: &'a mut Timers<P::Timer>,
    queue: &'a mut Option<Box<Queue<P>>>,
    outlet: &'a mut O,
    /// How many layers below the top the step is.
    layer: u8,
}

impl<P: Protocol, O: Outlet<P>> Effects<P> for Step<'_, P, O> {
    fn effect(&mut self, effect: EffectOf<P>) {
        if self.outlet.is_cut_off() {
            return;
        }
        match effect {
            Effect::SetTimer { timer, after_ms } => {
                let number = self.outlet.timer_set(after_ms);
                let due_us = self.outlet.now_us().saturating_add(after_ms.saturating_mul(1_000));
                self.timers.set(SetTimer { number, timer, due_us });
            }
            Effect::CancelTimer(timer) => self.timers.cancel(&timer),
            Effect::Accuse { who, why } => self.outlet.accuse(who, why),
            Effect::Persist(_) | Effect::Checkpoint { .. } => {
                let queue = self.queue.get_or_insert_default();
                if queue.is_empty() {
                    self.outlet.writing();
                }
                queue.push(self.layer, effect);
            }
            Effect::Send { .. } | Effect::Multicast { .. } | Effect::Output(_) => {
                match self.queue {
                    Some(queue) if !queue.is_empty() => queue.push(self.layer, effect),
                    _ => hand_out(effect, self.layer, self.outlet),
                }
            }
        }
    }

    fn choose(&mut self, among: u32) -> u32 {
        self.outlet.choose(among)
    }

    fn incarnation(&self) -> u32 {
        self.outlet.incarnation()
    }

    fn has_lost_disk(&self) -> bool {
        self.outlet.has_lost_disk()
    }

    fn cross(&mut self, down: bool) {
        self.layer = if down { self.layer + 1 } else { self.layer - 1 };
    }

    fn retract(&mut self) {
        self.outlet.retract();
    }
}

/// Lets a message or an output go out.
#[inline]
fn hand_out<P: Protocol>(effect: EffectOf<P>, layer: u8, outlet: &mut impl Outlet<P>) {
    match effect {
        Effect::Send { to, message } => outlet.send(to, message, layer),
        Effect::Multicast { to, message } => outlet.multicast(&to, message, layer),
        Effect::Output(output) => outlet.output(output),
        _ => unreachable!("only messages and outputs wait for a record"),
    }
}

#[cfg(test)]
mod tests;
