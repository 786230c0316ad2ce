//! Drives a world by simulated time and a seed.

mod buffers;
mod by_hand;
mod calm;
mod faults;
mod options;
mod past;
mod report;
mod turn;

pub use options::Options;
pub(crate) use past::Past;
pub use report::{Ended, Report};
pub(crate) use turn::Probe;

use crate::agenda::Agenda;
use crate::count::{Conditions, costs};
use crate::faults::Fault;
use crate::network::{Chance, below, chance, happens};
use crate::trace::Tracer;
use crate::witness::Witness;
use crate::workload::{When, Workload};
use crate::world::{Action, Driver, Happening, Process, Slot, Status, World};
use buffers::Buffers;
use by_hand::Hand;
use calm::Watch;
use std::collections::BTreeMap;
use synod_core::card::{Load, Order, Rounds};
use synod_core::family::{AnyInput, Mark};
use synod_core::{
    Algorithm, Application, Boxed, Family, Notes, ProcessId, ProcessSet, Reductions, SetupError,
};

/// A run that has not begun.
pub struct Simulator<'s> {
    run: Run<'s, Boxed>,
}

impl<'s> Simulator<'s> {
    /// A run that has not begun. With a tracer, its sinks get every event.
    pub fn of<A: Algorithm>(
        mut options: Options,
        tracer: Option<Tracer<'s>>,
    ) -> Result<Self, SetupError> {
        options.plan.setup = options.plan.setup.of::<A>();
        Self::new(options, tracer)
    }

    /// The same for any algorithm: the setup says which.
    pub fn new(options: Options, tracer: Option<Tracer<'s>>) -> Result<Self, SetupError> {
        Ok(Simulator { run: Run::new(options, tracer)? })
    }

    /// Adds a fault, or any other action, at a certain time.
    pub fn at(&mut self, fault: Fault<AnyInput>) {
        self.run.engine.faults.push(fault);
    }

    /// Runs to the end. Calls `progress` repeatedly with the numbers of steps and of completed
    /// operations.
    pub fn run(self, mut progress: impl FnMut(u64, u64)) -> std::io::Result<Report> {
        self.run_watched(&mut progress)
    }

    /// The same. It is generic in nothing, so the simulator is compiled in this crate, and not once
    /// more by each caller.
    fn run_watched(self, progress: &mut dyn FnMut(u64, u64)) -> std::io::Result<Report> {
        self.run.run(progress)
    }
}

/// A world and the engine that drives it.
#[derive(Clone)]
pub(crate) struct Run<'s, A: Algorithm> {
    pub(crate) world: World<A>,
    pub(crate) engine: Engine<'s, A>,
}

/// The number of crashes of a process: an event planned for an earlier life is void.
type Life = u32;

/// A planned event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// A message arrives at the receive buffer, if there are such, or else at the process.
    Deliver(Slot),
    /// A message leaves the receive buffer of this process.
    Handle(Slot, ProcessId),
    Input(ProcessId, Life),
    Tell(ProcessId, ProcessId),
    Fire(ProcessId, u64),
    Sync(ProcessId, Life),
    Fault(u32),
}

/// The state of the simulator beside the world: agenda, random generator, counts.
#[derive(Clone)]
pub(crate) struct Engine<'s, A: Algorithm> {
    options: Options,
    chance: Chance,
    agenda: Agenda<Due>,
    workload: Workload,
    /// The next request of each application.
    planned: Vec<Option<A::Input>>,
    lives: Vec<Life>,
    /// Applications that may have a new request: they plan it after the step.
    stirred: Vec<ProcessId>,
    /// Under a sequential load: the processes that wait for a turn, and the one that has it.
    ready: ProcessSet,
    busy: Option<ProcessId>,
    /// Due events of paused processes, with their numbers in the agenda.
    parked: BTreeMap<ProcessId, Vec<(u64, Due)>>,
    /// On a causal network: messages that are due, but wait for one that was sent causally before.
    held_back: Vec<Slot>,
    /// The arrival time of the last message of each link, if links are ordered.
    link_free_us: BTreeMap<(ProcessId, ProcessId), u64>,
    /// The receive buffers.
    buffers: Buffers,
    faults: Vec<Fault<A::Input>>,
    /// The number of faults still to come.
    faults_to_come: usize,
    /// The processes that crash in the middle of their next step, each after this number of
    /// messages and outputs.
    doomed: BTreeMap<ProcessId, u32>,
    run_for_us: u64,
    watches: Vec<Watch>,
    lose_now: Vec<Slot>,
    /// The messages to be duplicated, each with the arrival time and the agenda number of its copy.
    duplicate_now: Vec<(Slot, u64, u64)>,
    pub(crate) witness: Witness<'s>,
    last_progress: u64,
    steps: u64,
    /// Whether the algorithm sends messages even if no application waits.
    restless: bool,
    hand: Hand,
    pub(crate) probe: Option<Box<Probe<A>>>,
    /// Set while the run repeats steps that were judged before.
    pub(crate) past: Option<Past>,
    reductions: Reductions<A>,
    notes: Notes,
}

impl<'s, A: Algorithm> Run<'s, A> {
    pub(crate) fn new(options: Options, tracer: Option<Tracer<'s>>) -> Result<Self, SetupError> {
        let world = World::new(&options.plan)?;
        let n = world.processes().len();
        let mut chance = chance(options.seed);
        let faults = options.faults.draw(n, &mut chance);
        let engine = Engine {
            chance,
            agenda: Agenda::default(),
            workload: options.workload(),
            planned: vec![None; n],
            lives: vec![0; n],
            stirred: ProcessId::all(n).collect(),
            ready: ProcessSet::EMPTY,
            busy: None,
            parked: BTreeMap::new(),
            held_back: Vec::new(),
            link_free_us: BTreeMap::new(),
            buffers: Buffers::of(n),
            faults,
            faults_to_come: 0,
            doomed: BTreeMap::new(),
            run_for_us: options.run_for_us.unwrap_or(world.family().run_for_ms * 1_000),
            watches: Watch::of::<A>(&options.plan.setup),
            lose_now: Vec::new(),
            duplicate_now: Vec::new(),
            witness: Witness::new(n, tracer),
            last_progress: 0,
            steps: 0,
            restless: world.is_restless(),
            hand: Hand::default(),
            probe: None,
            past: None,
            reductions: world.reductions(),
            notes: Notes::of_one_history(),
            options,
        };
        Ok(Run { world, engine })
    }

    fn run(mut self, progress: &mut dyn FnMut(u64, u64)) -> std::io::Result<Report> {
        self.begin();
        let ended = loop {
            self.judge_deadlines_now_and_then();
            if self.is_over() || !self.turn() {
                break Ended::Quiet;
            }
            let engine = &mut self.engine;
            if engine.steps.is_multiple_of(4096) {
                progress(engine.steps, engine.witness.meter.operations);
                if engine.witness.has_failed() {
                    break Ended::Cut;
                }
            }
            if engine.steps >= engine.options.steps_at_most {
                break Ended::Cut;
            }
            let long_enough = self.world.now_us >= engine.run_for_us;
            if long_enough && engine.steps - engine.last_progress > engine.options.patience {
                break Ended::Stalled;
            }
        };
        self.finish(ended)
    }

    fn finish(mut self, ended: Ended) -> std::io::Result<Report> {
        self.world.judge_invariants_at_the_end(&mut self.engine);
        self.judge_liveness(ended);
        let Engine { witness, options, steps, .. } = self.engine;
        let (meter, violations) = witness.finish()?;
        let undecided = self.world.undecided(ended == Ended::Cut, &violations);
        let constant =
            options.network.latency.constant().filter(|_| options.network.links.is_empty());
        // Where disks take time, the duration of an operation does not count its hops.
        let disks_take_none = !self.world.is_durable() || options.disk.constant() == Some(0);
        let hop_us = constant.filter(|us| *us > 0 && disks_take_none);
        let once = options.plan.rounds.iter().all(|rounds| *rounds == Rounds::Times(1));
        let once_each = once && options.load == Load::Saturated;
        let conditions = Conditions { load: options.load, hop_us, once_each };
        let costs = costs(&meter, &self.world, conditions);
        let time_us = self.world.now_us;
        Ok(Report { ended, steps, time_us, violations, undecided, meter, costs })
    }

    fn action(&mut self, number: u64, due: Due) -> Option<Action<A::Input>> {
        if let Due::Handle(_, at) = due
            && self.world.process(at).status != Status::Paused
        {
            self.engine.buffers.leave(at);
        }
        let at = match due {
            Due::Deliver(slot) | Due::Handle(slot, _) => self.world.flight().get(slot)?.to,
            Due::Input(at, life) | Due::Sync(at, life) if life != self.engine.lives[at.index()] => {
                return None;
            }
            Due::Input(at, _) | Due::Tell(at, _) | Due::Fire(at, _) | Due::Sync(at, _) => at,
            Due::Fault(index) => return self.fault(index as usize),
        };
        if self.world.process(at).status == Status::Paused {
            self.engine.parked.entry(at).or_default().push((number, due));
            return None;
        }
        let action = match due {
            Due::Deliver(slot) => return self.arrive(slot),
            Due::Handle(slot, _) => return self.delivery(slot),
            Due::Tell(from, to) => Action::Tell { from, to },
            Due::Fire(at, timer) => Action::Fire { at, timer },
            Due::Sync(at, _) => Action::Sync(at),
            Due::Input(at, _) => {
                let input = self.engine.planned[at.index()].take()?;
                if !self.world.process(at).is_up() || !self.is_offered(at, &input) {
                    self.engine.stirred.push(at);
                    return None;
                }
                Action::Input { at, input }
            }
            Due::Fault(_) => unreachable!("faults were handled above"),
        };
        self.world.can(&action).is_ok().then_some(action)
    }

    /// The delivery of a message, unless the network is causal and the message comes too early.
    fn delivery(&mut self, slot: Slot) -> Option<Action<A::Input>> {
        let may_be_early =
            self.engine.options.plan.order == Order::Causal || self.engine.hand.has_acted;
        if may_be_early && !self.world.is_deliverable(slot) {
            self.engine.held_back.push(slot);
            return None;
        }
        Some(Action::Deliver(slot))
    }

    /// Delivers the held-back messages whose causal predecessors have arrived.
    fn let_go(&mut self) {
        let held_back = std::mem::take(&mut self.engine.held_back);
        for slot in held_back {
            if self.world.is_deliverable(slot) {
                self.engine.schedule(self.world.now_us, Due::Deliver(slot));
            } else if self.world.flight().get(slot).is_some() {
                self.engine.held_back.push(slot);
            }
        }
    }

    fn is_offered(&mut self, at: ProcessId, input: &A::Input) -> bool {
        self.world.process(at).application.may_ask(input)
    }

    /// A paused process goes on: its parked events are due now, in their old order. Timers come
    /// first, as in a real process, which looks at its clock before its sockets: a lease that
    /// expired during the pause must be over before a message arrives.
    fn unpark(&mut self, at: ProcessId) {
        let parked = self.engine.parked.remove(&at).unwrap_or_default();
        let is_timer = |(_, due): &(u64, Due)| matches!(due, Due::Fire(..));
        let (timers, others): (Vec<_>, Vec<_>) = parked.into_iter().partition(is_timer);
        for (number, due) in others {
            self.engine.agenda.plan_as(number, self.world.now_us, due);
        }
        for (number, due) in timers {
            self.take(number, due);
        }
    }

    /// The immediate consequences of a step: the network loses and duplicates messages, and
    /// applications plan requests.
    fn settle(&mut self) {
        while let Some(slot) = self.engine.lose_now.pop() {
            self.move_world(&Action::Drop(slot));
        }
        while let Some(&(slot, ..)) = self.engine.duplicate_now.last() {
            self.move_world(&Action::Duplicate(slot));
        }
        if self.engine.hand.applications_sleep {
            return self.engine.keep_stirred();
        }
        while let Some(at) = self.engine.stirred.pop() {
            self.plan(at);
        }
        if self.engine.options.load == Load::Sequential && self.is_quiet() {
            self.next_turn();
        }
    }

    /// Whether no operation is under way and no message of an earlier one is in flight. A restless
    /// algorithm always has messages in flight, so for it only the operation counts.
    fn is_quiet(&self) -> bool {
        self.engine.busy.is_none() && (self.world.is_restless() || self.world.flight().is_empty())
    }

    /// Plans the next request of the application at a process.
    fn plan(&mut self, at: ProcessId) {
        let engine = &mut self.engine;
        let process = self.world.process(at);
        if engine.planned[at.index()].is_some() || !process.is_up() {
            return;
        }
        let Engine { workload, chance, .. } = engine;
        let plan = workload.plan::<A::Family>(&process.application, chance);
        let Some((input, when)) = plan else { return };
        engine.planned[at.index()] = Some(input);
        match when {
            When::AtTurn => {
                engine.ready.insert(at);
            }
            When::After(delay_us) => {
                let due_us = self.world.now_us.saturating_add(delay_us);
                engine.schedule(due_us, Due::Input(at, engine.lives[at.index()]));
            }
        }
    }

    /// Under a sequential load: the next operation begins a while after the last has ended.
    fn next_turn(&mut self) {
        let engine = &mut self.engine;
        let waiting = engine.ready.len() as u64;
        if waiting == 0 {
            return;
        }
        let turn = below(&mut engine.chance, waiting) as usize;
        let at = engine.ready.iter().nth(turn).expect("there are so many");
        engine.ready.remove(at);
        engine.busy = Some(at);
        let pause = engine.options.think.draw(&mut engine.chance);
        let life = engine.lives[at.index()];
        engine.schedule(self.world.now_us.saturating_add(pause), Due::Input(at, life));
    }
}

impl<A: Algorithm> Engine<'_, A> {
    fn schedule(&mut self, at_us: u64, due: Due) {
        self.agenda.plan(at_us, due);
    }

    /// The arrival time of a message that leaves now.
    fn arrival(&mut self, now_us: u64, from: ProcessId, to: ProcessId) -> u64 {
        let delay = self.options.network.delay(from, to, &mut self.chance);
        let mut at_us = now_us.saturating_add(delay);
        if self.options.plan.order != Order::Any {
            let free = self.link_free_us.entry((from, to)).or_default();
            at_us = at_us.max(*free);
            *free = at_us;
        }
        self.note_delay(now_us, at_us);
        at_us
    }

    fn on_sent(&mut self, now_us: u64, slot: Slot, from: ProcessId, to: ProcessId) {
        if self.hand.messages_wait && self.is_delivered_by_hand(from, to) {
            return;
        }
        let network = &self.options.network;
        let (loss, duplication) = (network.loss, network.duplication);
        if happens(&mut self.chance, loss) {
            self.lose_now.push(slot);
            return self.goes_wrong(now_us);
        }
        let at_us = self.arrival(now_us, from, to);
        self.schedule(at_us, Due::Deliver(slot));
        if happens(&mut self.chance, duplication) {
            // The arrival time of the copy is drawn now: on an ordered link it must arrive before
            // every later message.
            let at_us = self.arrival(now_us, from, to);
            self.duplicate_now.push((slot, at_us, self.agenda.number()));
        }
    }

    fn on_duplicated(&mut self, now_us: u64, slot: Slot, from: ProcessId, to: ProcessId) {
        match self.duplicate_now.pop() {
            Some((_, at_us, number)) => self.agenda.plan_as(number, at_us, Due::Deliver(slot)),
            None if self.hand.messages_wait && self.is_delivered_by_hand(from, to) => {}
            None => {
                let at_us = self.arrival(now_us, from, to);
                self.schedule(at_us, Due::Deliver(slot));
            }
        }
    }

    fn on_operation(&mut self, at: ProcessId, mark: Mark, now_us: u64) {
        self.last_progress = self.steps;
        self.stirred.push(at);
        match mark {
            // Other processes may get the same output; only the one that asked ends its operation.
            Mark::End | Mark::Done | Mark::Refused | Mark::Whole => {
                self.busy.take_if(|busy| *busy == at);
            }
            Mark::Ask if happens(&mut self.chance, self.options.tells) => {
                let others = self.planned.len() as u64 - 1;
                if others > 0 {
                    let other = below(&mut self.chance, others) as u32;
                    let to = ProcessId(if other >= at.0 { other + 1 } else { other });
                    self.schedule(now_us, Due::Tell(at, to));
                }
            }
            Mark::Ask | Mark::Begin | Mark::Reached | Mark::None => {}
        }
    }
}

impl<A: Algorithm> Driver<A> for Engine<'_, A> {
    fn choose(&mut self, among: u32) -> u32 {
        match self.hand.choice(among) {
            Some(choice) => choice,
            None => below(&mut self.chance, among.into()) as u32,
        }
    }

    fn judged_before(&mut self, step: u64) -> Option<Vec<&'static str>> {
        let next_event = self.witness.meter.events;
        Some(self.past.as_mut()?.broken(step, next_event))
    }

    fn look(&mut self, processes: &[Process<A>]) {
        self.witness.look(processes);
    }

    fn notes(&mut self) -> Option<&mut Notes> {
        Some(&mut self.notes)
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, A>) {
        self.witness.see(now_us, &happening);
        self.note(now_us, &happening);
        match happening {
            Happening::Sent { slot: Some(slot), envelope, .. }
                if !envelope.is_urgent(&self.reductions) =>
            {
                self.on_sent(now_us, slot, envelope.from, envelope.to);
            }
            Happening::Duplicated { slot, envelope, .. } => {
                self.on_duplicated(now_us, slot, envelope.from, envelope.to);
            }
            Happening::Input(at, input) => {
                self.on_operation(at, A::Family::mark_of_input(input), now_us);
            }
            Happening::Output(at, output) => {
                self.on_operation(at, A::Family::mark_of_output(at, output), now_us);
            }
            Happening::TimerSet { at, timer, after_ms } => {
                let after_us = after_ms.saturating_mul(1_000);
                self.schedule(now_us.saturating_add(after_us), Due::Fire(at, timer));
            }
            Happening::Writing(at) => {
                let delay = self.options.disk.draw(&mut self.chance);
                self.schedule(now_us.saturating_add(delay), Due::Sync(at, self.lives[at.index()]));
            }
            Happening::Restarted(at, _) => self.stirred.push(at),
            Happening::Crashed(at) => {
                self.lives[at.index()] += 1;
                self.doomed.remove(&at);
                self.planned[at.index()] = None;
                self.ready.remove(at);
                self.busy.take_if(|busy| *busy == at);
            }
            _ => {}
        }
    }
}
