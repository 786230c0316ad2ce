//! One world, whoever drives it: processes, messages on their way, timers, disks and faults.
//!
//! A world changes only by [`World::step`]. It has no randomness and no clock of its own: the
//! driver decides which action comes next and what `cx.choose` answers. So whatever one driver
//! does, another can do again.

mod action;
mod carrier;
mod causal;
mod delivery;
mod enabled;
mod fingerprint;
mod flight;
mod judge;
mod lean;
mod links;
mod lives;
mod plan;
mod process;
mod time;

pub use action::{Action, Driver, Happening, Impossible, LinkChange, Step};
pub use enabled::FaultsLeft;
pub use fingerprint::{KnownStates, Left};
pub use flight::{Body, Envelope, Flight, Slot, TagOf};
pub use judge::INVARIANTS_AT_EVERY_STEP_UP_TO;
pub use plan::{Judged, Plan};
pub use process::{ApplicationOf, Process, SetTimer, Status};

use causal::CausalOrder;
use links::Links;
use std::sync::Arc;
use synod_core::algorithm::Replay;
use synod_core::card::{Order, Rounds, Timing};
use synod_core::{
    Algorithm, Application, Clock, Cx, Family, Invariant, Moment, Monitor, ProcessId, ProcessSet,
    Reductions, Setup, SetupError, Violation,
};

/// The judge of a world.
pub type MonitorOf<A> = <<A as Algorithm>::Family as Family>::Monitor;

/// What does not change while a world goes on; shared by all its copies.
#[derive(Debug)]
struct Fixed<A: Algorithm> {
    setup: Setup,
    initial: Vec<A>,
    order: Order,
    multicast: bool,
    timing: Timing,
    lean: bool,
    full: bool,
    reductions: Reductions<A>,
    /// Whether processes stand for something that goes wrong.
    stand_for_faults: bool,
    clocks: Vec<Clock>,
    replay: Option<Replay<A>>,
    invariants: Vec<Invariant<A>>,
    /// Everything that is judged, by id.
    judged: Vec<&'static str>,
}

/// A world. See the module.
#[derive(Debug)]
pub struct World<A: Algorithm> {
    fixed: Arc<Fixed<A>>,
    processes: Vec<Process<A>>,
    flight: Flight<A>,
    monitor: MonitorOf<A>,
    links: Links,
    /// Who crashed and never comes back.
    gone: ProcessSet,
    causal: Option<Box<CausalOrder>>,
    /// What may still go wrong, for drivers that try everything.
    pub faults: FaultsLeft,
    /// True time, in microseconds. A simulator moves it.
    pub now_us: u64,
    messages_sent: u64,
    timers_set: u64,
    steps: u64,
    found: Vec<Violation>,
    prints: Option<fingerprint::Prints>,
    /// Set while a step is taken in the middle of which its process crashes.
    cut: Option<Cut>,
    /// What the step has sent that arrives before it is over.
    urgent: Vec<Slot>,
    /// Whether nothing came of the last step.
    retracted: bool,
}

/// How much of a step is still carried out.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// So many messages and outputs still go out.
    left: u32,
    /// Whether something did not go out any more.
    reached: bool,
}

impl<A: Algorithm> Clone for World<A> {
    fn clone(&self) -> Self {
        World {
            fixed: Arc::clone(&self.fixed),
            processes: self.processes.clone(),
            flight: self.flight.clone(),
            monitor: self.monitor.clone(),
            links: self.links.clone(),
            gone: self.gone.clone(),
            causal: self.causal.clone(),
            faults: self.faults,
            now_us: self.now_us,
            messages_sent: self.messages_sent,
            timers_set: self.timers_set,
            steps: self.steps,
            found: Vec::new(),
            prints: self.prints,
            cut: None,
            urgent: Vec::new(),
            retracted: false,
        }
    }

    // Explorers copy worlds all the time: keep what is allocated.
    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.fixed, &source.fixed) {
            self.fixed = Arc::clone(&source.fixed);
        }
        self.processes.clone_from(&source.processes);
        self.flight.clone_from(&source.flight);
        self.monitor.clone_from(&source.monitor);
        if !(self.links.work() && source.links.work()) {
            self.links.clone_from(&source.links);
        }
        self.gone.clone_from(&source.gone);
        self.causal.clone_from(&source.causal);
        self.faults = source.faults;
        self.now_us = source.now_us;
        self.messages_sent = source.messages_sent;
        self.timers_set = source.timers_set;
        self.steps = source.steps;
        self.found.clear();
        self.prints = source.prints;
        self.cut = None;
    }
}

impl<A: Algorithm> World<A> {
    /// A world in which nothing has happened yet. Call [`World::start`] next.
    pub fn new(plan: &Plan) -> Result<Self, SetupError> {
        let initial = A::processes(&plan.setup)?;
        let n = initial.len();
        let mut kit = A::kit(&plan.setup);
        kit.invariants.retain(|invariant| plan.judged.invariant(invariant.name));
        let process = |(index, state): (usize, &A)| {
            let at = ProcessId(index as u32);
            let rounds = if state.takes_part(at) { plan.rounds_of(at) } else { Rounds::Times(0) };
            Process::new(state.clone(), ApplicationOf::<A>::new(at, &plan.setup, rounds))
        };
        Ok(World {
            processes: initial.iter().enumerate().map(process).collect(),
            flight: Flight::default(),
            monitor: MonitorOf::<A>::new(&plan.setup, &|id| {
                plan.judged.property::<A>(&plan.setup, id)
            }),
            links: Links::default(),
            gone: ProcessSet::EMPTY,
            causal: (plan.order == Order::Causal).then(|| Box::new(CausalOrder::new(n))),
            faults: FaultsLeft::default(),
            now_us: 0,
            messages_sent: 0,
            timers_set: 0,
            steps: 0,
            found: Vec::new(),
            prints: None,
            cut: None,
            urgent: Vec::new(),
            retracted: false,
            fixed: Arc::new(Fixed {
                setup: plan.setup.clone(),
                stand_for_faults: initial.iter().any(|p| kit.reductions.faults_left(p) != [0; 8]),
                initial,
                order: plan.order,
                multicast: plan.multicast,
                timing: plan.timing,
                lean: plan.lean,
                full: plan.full,
                reductions: kit.reductions,
                clocks: plan.clocks.clone(),
                judged: plan.judged.ids::<A>(&plan.setup),
                replay: kit.replay,
                invariants: kit.invariants,
            }),
        })
    }

    /// Starts every process.
    pub fn start(&mut self, driver: &mut dyn Driver<A>) {
        for at in ProcessId::all(self.processes.len()) {
            driver.see(self.now_us, Happening::Started(at));
            self.run(at, driver, |state, cx| state.on_start(cx));
        }
        self.deliver_urgent(driver);
        self.forget_ignored(0);
        self.renew_prints();
        self.judge(driver);
    }

    /// The processes.
    pub fn processes(&self) -> &[Process<A>] {
        &self.processes
    }

    /// One process.
    pub fn process(&self, at: ProcessId) -> &Process<A> {
        &self.processes[at.index()]
    }

    /// The messages on their way.
    pub fn flight(&self) -> &Flight<A> {
        &self.flight
    }

    /// The judge.
    pub fn monitor(&self) -> &MonitorOf<A> {
        &self.monitor
    }

    /// For whom a property that is judged, of those about what must come true in the end, has not
    /// come true.
    pub fn waiting(&self) -> ProcessSet {
        let mut all = ProcessSet::EMPTY;
        for property in self.open_properties() {
            all.extend(self.monitor.waiting(property).iter());
        }
        all
    }

    /// What is violated if nothing changes any more, and why that is so, in words.
    pub fn unfulfilled(&self, why: &str) -> Vec<Violation> {
        self.open_properties().filter_map(|property| self.unfulfilled_of(property, why)).collect()
    }

    /// The same of one property.
    pub(crate) fn unfulfilled_of(&self, property: &'static str, why: &str) -> Option<Violation> {
        let at = self.monitor.waiting(property).first()?;
        let because = format!("{at} {}, and {why}", self.monitor.complaint(property, at));
        Some(Violation { property, at, because })
    }

    /// The properties that are judged and come true in the end.
    pub(crate) fn open_properties(&self) -> impl Iterator<Item = &'static str> + '_ {
        A::Family::LIVENESS.iter().copied().filter(|id| self.fixed.judged.contains(id))
    }

    /// What the last step violated.
    pub fn found(&self) -> &[Violation] {
        &self.found
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How the group is set up.
    pub fn setup(&self) -> &Setup {
        &self.fixed.setup
    }

    /// Whether processes have disks.
    pub fn is_durable(&self) -> bool {
        self.fixed.replay.is_some()
    }

    /// In which order the network delivers.
    pub fn order(&self) -> Order {
        self.fixed.order
    }

    /// Whether messages go on for ever although nobody wants anything.
    pub fn is_restless(&self) -> bool {
        A::is_restless(&self.fixed.initial)
    }

    /// What formulas about this world are about.
    pub fn size(&self) -> synod_core::card::Size {
        A::size(&self.fixed.initial)
    }

    /// Roughly how much memory a copy of this world takes up.
    pub fn estimated_bytes(&self) -> usize {
        let processes = self.processes.len() * size_of::<Process<A>>();
        let messages = (self.flight.len() + 1) * size_of::<Option<Envelope<A>>>();
        // Each of the four or five allocations costs a little more than what was asked for.
        size_of::<Self>() + processes + 2 * messages + 5 * 16
    }

    /// Takes one step. The action must be possible: see [`World::can`].
    pub fn step(&mut self, action: &Action<A::Input>, driver: &mut dyn Driver<A>) {
        debug_assert_eq!(self.can(action), Ok(()), "{action:?}");
        self.steps += 1;
        self.found.clear();
        self.cut = None;
        self.retracted = false;
        let sent_before = self.messages_sent;
        self.take_step(action, driver);
        // Where a step is divided it is not known any more who has taken part in it.
        let is_divided = self.deliver_urgent(driver);
        self.forget_ignored(if is_divided { 0 } else { sent_before });
        self.renew_prints();
        self.judge(driver);
    }

    fn take_step(&mut self, action: &Action<A::Input>, driver: &mut dyn Driver<A>) {
        match action {
            Action::Input { at, input } => self.ask(*at, input.clone(), driver),
            Action::Tell { from, to } => self.tell(*from, *to, driver),
            Action::Deliver(slot) => self.deliver(*slot, driver),
            Action::Drop(slot) => self.lose(*slot, "lost", driver),
            Action::Duplicate(slot) => self.duplicate(*slot, driver),
            Action::Fire { at, timer } => self.fire(*at, *timer, driver),
            Action::Sync(at) => self.sync(*at, driver),
            Action::Crash(at) => self.crash(*at, driver),
            Action::Restart { at, disk } => self.restart(*at, *disk, driver),
            Action::Pause(at) => {
                self.set_status(*at, Status::Paused);
                driver.see(self.now_us, Happening::Paused(*at));
            }
            Action::Resume(at) => {
                self.set_status(*at, Status::Up);
                driver.see(self.now_us, Happening::Resumed(*at));
            }
            Action::Links(change) => {
                self.links.change(change, self.processes.len());
                let links = &self.links;
                self.monitor.on_links(&|from, to| !links.is_cut(from, to));
                driver.see(self.now_us, Happening::Relinked(change));
            }
            Action::Tick => self.tick(),
            Action::Late(slot) => self.delay(*slot),
            Action::Cut { step, after } => {
                let at = self.actor(step).expect("the action is possible");
                self.cut = Some(Cut { left: *after, reached: false });
                self.take_step(step, driver);
                self.crash(at, driver);
            }
        }
    }

    /// Who takes the step, if it is one that a process takes.
    pub fn actor(&self, action: &Action<A::Input>) -> Option<ProcessId> {
        let at = match action {
            Action::Input { at, .. } | Action::Fire { at, .. } | Action::Sync(at) => *at,
            Action::Deliver(slot) => self.flight.get(*slot)?.to,
            _ => return None,
        };
        self.processes.get(at.index())?.is_up().then_some(at)
    }

    /// Whether the last step was cut off: something did not go out any more.
    pub fn was_cut_off(&self) -> bool {
        self.cut.is_some_and(|cut| cut.reached)
    }

    /// Whether nothing came of the last step: whatever can happen now could happen before. Never, if the
    /// world leaves nothing out.
    pub fn was_retracted(&self) -> bool {
        self.retracted && !self.fixed.full
    }

    /// What explorers may leave out.
    pub(crate) fn reductions(&self) -> Reductions<A> {
        self.fixed.reductions
    }

    fn ask(&mut self, at: ProcessId, input: A::Input, driver: &mut dyn Driver<A>) {
        self.forget_print(at);
        self.processes[at.index()].application.on_input(&input);
        let moment = Moment { now_us: self.now_us, clocks: &self.fixed.clocks };
        let before = self.found.len();
        self.monitor.on_input(at, &input, moment, &mut self.found);
        driver.see(self.now_us, Happening::Asked(at, &input));
        judge::tell(&mut self.found, before, &self.fixed.judged, self.now_us, driver);
        let answers = self.handle(at, driver, |state, cx| state.on_input(input, cx));
        self.answer(at, answers, driver);
    }

    fn fire(&mut self, at: ProcessId, timer: u64, driver: &mut dyn Driver<A>) {
        self.forget_print(at);
        let timers = &mut self.processes[at.index()].timers;
        let place = timers.iter().position(|set| set.number == timer);
        let SetTimer { timer, .. } = timers.remove(place.expect("the action is possible"));
        driver.see(self.now_us, Happening::TimerFired(at, &timer));
        self.run(at, driver, |state, cx| state.on_timer(timer, cx));
    }

    /// The first records in the queue are safe now, and what waited for them is carried out.
    fn sync(&mut self, at: ProcessId, driver: &mut dyn Driver<A>) {
        self.forget_print(at);
        let disk = self.processes[at.index()].disk.as_mut().expect("the action is possible");
        let mut held = std::mem::take(&mut disk.held).into_iter().peekable();
        let is_record = |(_, effect): &(_, _)| process::is_record(effect);
        let mut written = 0;
        while let Some((_, effect)) = held.next_if(is_record) {
            written += 1;
            disk.write(effect);
        }
        driver.see(self.now_us, Happening::Synced(at, written));
        let mut carrier = self.carrier(driver, at);
        for (layer, effect) in held {
            carrier.layer = layer;
            carrier.carry_out(effect);
        }
        let answers = carrier.answers;
        self.answer(at, answers, driver);
    }

    /// Runs one handler of the algorithm at a process, carries out what it asks, and lets the
    /// application answer.
    fn run(
        &mut self,
        at: ProcessId,
        driver: &mut dyn Driver<A>,
        handler: impl FnOnce(&mut A, &mut Cx<'_, A>),
    ) {
        self.forget_print(at);
        let answers = self.handle(at, driver, handler);
        self.answer(at, answers, driver);
    }

    fn handle(
        &mut self,
        at: ProcessId,
        driver: &mut dyn Driver<A>,
        handler: impl FnOnce(&mut A, &mut Cx<'_, A>),
    ) -> Vec<A::Input> {
        let n = self.processes.len();
        let (mut carrier, state) = self.carrier_and_state(driver, at);
        handler(state, &mut Cx::new(at, n, &mut carrier));
        carrier.answers
    }

    /// What the application says at once in answer to what it was told.
    fn answer(&mut self, at: ProcessId, answers: Vec<A::Input>, driver: &mut dyn Driver<A>) {
        for input in answers {
            if !self.was_cut_off() {
                self.ask(at, input, driver);
            }
        }
    }
}
