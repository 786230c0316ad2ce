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
mod medium;
mod plan;
mod process;
mod progress;
mod time;
mod waiting;

pub use action::{Action, Driver, Happening, Impossible, LinkChange, Step};
pub use enabled::FaultsLeft;
pub use fingerprint::Left;
pub use flight::{Body, Envelope, Flight, Slot, TagOf};
pub use judge::INVARIANTS_AT_EVERY_STEP_UP_TO;
pub use plan::{Judged, Plan};
pub use process::{ApplicationOf, Process, Status};
pub use waiting::{Translation, Waiting};

use carrier::Carrier;
use medium::Medium;
use progress::{Cut, Progress};
use std::ops::Deref;
use std::sync::Arc;
use synod_core::algorithm::Replay;
use synod_core::card::{Order, Rounds, Timing};
use synod_core::{
    Algorithm, Application, Clock, Family, Host, Invariant, Moment, Monitor, ProcessId, ProcessSet,
    Reductions, Setup, SetupError, Violation, clone_by_field,
};

/// The judge of a world.
pub type MonitorOf<A> = <<A as Algorithm>::Family as Family>::Monitor;

/// What does not change while a world goes on; shared by all its copies.
#[derive(Clone, Debug)]
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

/// What does not change, in the hands of every copy of a world.
#[derive(Debug)]
struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }

    // Explorers copy the same world over what became of it again and again: nothing is counted
    // then.
    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.0, &source.0) {
            self.0 = Arc::clone(&source.0);
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A world: processes, the medium between them, and a judge. See the module.
#[derive(Debug)]
pub struct World<A: Algorithm> {
    fixed: Shared<Fixed<A>>,
    processes: Vec<Process<A>>,
    medium: Medium<A>,
    monitor: MonitorOf<A>,
    progress: Progress,
    /// What may still go wrong, for drivers that try everything.
    pub faults: FaultsLeft,
    /// True time, in microseconds. A simulator moves it.
    pub now_us: u64,
    /// The fingerprint; 0 if it is not kept.
    print: u64,
}

clone_by_field!(World<A: Algorithm> {
    fixed, processes, medium, monitor, progress, faults, now_us, print
});

impl<A: Algorithm> World<A> {
    /// A world in which nothing has happened yet. Call [`World::start`] next.
    pub fn new(plan: &Plan) -> Result<Self, SetupError> {
        let initial = A::processes(&plan.setup)?;
        let mut kit = A::kit(&plan.setup);
        kit.invariants.retain(|invariant| plan.judged.invariant(invariant.name));
        let process = |(index, state): (usize, &A)| {
            let at = ProcessId(index as u32);
            let rounds = if state.takes_part(at) { plan.rounds_of(at) } else { Rounds::Times(0) };
            Process::new(state.clone(), ApplicationOf::<A>::new(at, &plan.setup, rounds))
        };
        Ok(World {
            processes: initial.iter().enumerate().map(process).collect(),
            medium: Medium::new(initial.len(), plan.order),
            monitor: MonitorOf::<A>::new(&plan.setup, &|id| {
                plan.judged.property::<A>(&plan.setup, id)
            }),
            progress: Progress::default(),
            faults: FaultsLeft::default(),
            now_us: 0,
            print: 0,
            fixed: Shared(Arc::new(Fixed {
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
            })),
        })
    }

    /// Starts every process.
    pub fn start(&mut self, driver: &mut dyn Driver<A>) {
        for at in ProcessId::all(self.processes.len()) {
            driver.see(self.now_us, Happening::Started(at));
            self.run(at, driver, |host, carrier| host.on_start(carrier));
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
        &self.medium.flight
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
        &self.progress.found
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.progress.counts.steps
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
        let messages = (self.medium.flight.len() + 1) * size_of::<Option<Envelope<A>>>();
        // Each of the four or five allocations costs a little more than what was asked for.
        size_of::<Self>() + processes + 2 * messages + 5 * 16
    }

    /// Takes one step. The action must be possible: see [`World::can`].
    pub fn step(&mut self, action: &Action<A::Input>, driver: &mut dyn Driver<A>) {
        debug_assert_eq!(self.can(action), Ok(()), "{action:?}");
        self.progress.begin_step();
        let sent_before = self.progress.counts.messages;
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
                self.medium.links.change(change, self.processes.len());
                let links = &self.medium.links;
                self.monitor.on_links(&|from, to| !links.is_cut(from, to));
                driver.see(self.now_us, Happening::Relinked(change));
            }
            Action::Tick => self.tick(),
            Action::Late(slot) => self.delay(*slot),
            Action::Cut { step, after } => {
                let at = self.actor(step).expect("the action is possible");
                self.progress.cut = Some(Cut { left: *after, reached: false });
                self.take_step(step, driver);
                self.crash(at, driver);
            }
        }
    }

    /// Who takes the step, if it is one that a process takes.
    pub fn actor(&self, action: &Action<A::Input>) -> Option<ProcessId> {
        let at = match action {
            Action::Input { at, .. } | Action::Fire { at, .. } | Action::Sync(at) => *at,
            Action::Deliver(slot) => self.medium.flight.get(*slot)?.to,
            _ => return None,
        };
        self.processes.get(at.index())?.is_up().then_some(at)
    }

    /// Whether the last step was cut off: something did not go out any more.
    pub fn was_cut_off(&self) -> bool {
        self.progress.is_cut_off()
    }

    /// Whether nothing came of the last step: whatever can happen now could happen before. Never,
    /// if the world leaves nothing out.
    pub fn was_retracted(&self) -> bool {
        self.progress.retracted && !self.fixed.full
    }

    /// What explorers may leave out.
    pub(crate) fn reductions(&self) -> Reductions<A> {
        self.fixed.reductions
    }

    fn ask(&mut self, at: ProcessId, input: A::Input, driver: &mut dyn Driver<A>) {
        self.processes[at.index()].application.on_input(&input);
        let moment = Moment { now_us: self.now_us, clocks: &self.fixed.clocks };
        let found = &mut self.progress.found;
        let before = found.len();
        self.monitor.on_input(at, &input, moment, found);
        driver.see(self.now_us, Happening::Asked(at, &input));
        judge::tell(found, before, &self.fixed.judged, self.now_us, driver);
        self.run(at, driver, |host, carrier| host.on_input(input, carrier));
    }

    fn fire(&mut self, at: ProcessId, timer: u64, driver: &mut dyn Driver<A>) {
        self.run(at, driver, |host, carrier| host.on_timer(timer, carrier));
    }

    /// The first records in the queue are safe now, and what waited for them is carried out.
    fn sync(&mut self, at: ProcessId, driver: &mut dyn Driver<A>) {
        self.run(at, driver, |host, carrier| {
            let is_safe = host.on_written(u64::MAX, carrier);
            assert!(is_safe, "the action is possible: a record waits for the disk");
        });
    }

    /// Something happens at a process: its host takes it in, and the application answers to what it
    /// is told.
    fn run(
        &mut self,
        at: ProcessId,
        driver: &mut dyn Driver<A>,
        step: impl FnOnce(&mut Host<A>, &mut Carrier<'_, A>),
    ) {
        self.forget_print(at);
        let (host, mut carrier) = self.host_and_carrier(at, driver);
        step(host, &mut carrier);
        for input in carrier.answers {
            if !self.was_cut_off() {
                self.ask(at, input, driver);
            }
        }
    }
}
