//! One world for all drivers: processes, messages in flight, timers, disks and faults.
//!
//! A world changes only by [`World::step`]. It has no randomness and no clock of its own: the
//! driver chooses the next action and answers `cx.choose`. So every driver can repeat the steps of
//! every other.

mod action;
mod carrier;
mod causal;
mod crashes;
mod delivery;
mod enabled;
mod fingerprint;
mod flight;
mod forgetting;
mod judge;
mod links;
mod medium;
mod plan;
mod process;
mod progress;
mod time;
mod waiting;

pub use action::{Action, Driver, Happening, Impossible, LinkChange, Step};
pub use enabled::FaultsLeft;
pub use fingerprint::Left;
pub use flight::{Body, Envelope, Flight, Slot, TELL};
pub use judge::INVARIANTS_AT_EVERY_STEP_UP_TO;
pub use plan::{Judged, Plan};
pub use process::{ApplicationOf, Process, Status};
pub use waiting::{Translation, Waiting};

use carrier::Carrier;
use medium::Medium;
use progress::{Cut, Progress};
use std::ops::Deref;
use std::sync::Arc;
use synod_core::algorithm::{Culprit, Replay};
use synod_core::card::{Order, Rounds, Timing};
use synod_core::family::Facts;
use synod_core::{
    Algorithm, Application, Clock, Family, Host, Invariant, Moment, Monitor, ProcessId, ProcessSet,
    Reductions, Setup, SetupError, Violation, clone_by_field,
};

/// The judge of a world.
pub type MonitorOf<A> = <<A as Algorithm>::Family as Family>::Monitor;

/// The constant part of a world, shared by all its copies.
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
    /// Whether processes have fault budgets of their own, as an idealised group service has.
    stand_for_faults: bool,
    clocks: Vec<Clock>,
    family: Facts<A::Input>,
    replay: Option<Replay<A>>,
    invariants: Vec<Invariant<A>>,
    culprit: Culprit<A>,
    /// The ids of the judged properties and invariants.
    judged: Vec<&'static str>,
}

/// A value that all copies of a world share.
#[derive(Debug)]
struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }

    // Explorers copy a world over its own successors again and again. The pointers are equal then,
    // and the reference count stays untouched.
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
    /// The remaining fault budget of an explorer.
    pub faults: FaultsLeft,
    /// True time, in microseconds. A simulator moves it.
    pub now_us: u64,
    /// The fingerprint; 0 if it is not kept.
    print: u64,
    /// The hash of the monitor, if the fingerprint is kept.
    monitor_print: u64,
}

clone_by_field!(World<A: Algorithm> {
    fixed, processes, medium, monitor, progress, faults, now_us, print, monitor_print
});

impl<A: Algorithm> World<A> {
    /// Takes back all steps since this world was copied from `origin`, whose fingerprint was kept.
    /// A copy by `clone_from` compares every process; this one copies those that took a step.
    pub fn return_to(&mut self, origin: &Self) {
        for (mine, before) in self.processes.iter_mut().zip(&origin.processes) {
            if mine.is_touched {
                mine.clone_from(before);
            }
            debug_assert!(mine.is_same(before), "every change of a process begins with `touch`");
        }
        self.medium.clone_from(&origin.medium);
        self.monitor.clone_from(&origin.monitor);
        self.progress.clone_from(&origin.progress);
        (self.faults, self.now_us) = (origin.faults, origin.now_us);
        (self.print, self.monitor_print) = (origin.print, origin.monitor_print);
    }

    /// A world before its first event. Call [`World::start`] next.
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
            monitor_print: 0,
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
                family: kit.family,
                replay: kit.replay,
                invariants: kit.invariants,
                culprit: kit.culprit,
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
        driver.look(&self.processes);
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

    /// The messages in flight.
    pub fn flight(&self) -> &Flight<A> {
        &self.medium.flight
    }

    /// The judge.
    pub fn monitor(&self) -> &MonitorOf<A> {
        &self.monitor
    }

    /// The processes that still wait for a judged liveness property.
    pub fn waiting(&self) -> ProcessSet {
        let mut all = ProcessSet::EMPTY;
        for property in self.open_properties() {
            all.extend(self.monitor.waiting(property).iter());
        }
        all
    }

    /// The liveness properties that are violated if no further step happens; `why` says in words
    /// why none does.
    pub fn unfulfilled(&self, why: &str) -> Vec<Violation> {
        self.open_properties().filter_map(|property| self.unfulfilled_of(property, why)).collect()
    }

    /// The same of one property.
    pub(crate) fn unfulfilled_of(&self, property: &'static str, why: &str) -> Option<Violation> {
        let at = self.monitor.waiting(property).first()?;
        let because = format!("{at} {}, and {why}", self.monitor.complaint(property, at));
        Some(Violation { property, at, because })
    }

    /// The judged properties on which a run that ends here does not decide, each with the reason:
    /// those about the end if the run is cut short, and what the monitor cannot judge.
    pub fn undecided(
        &self,
        is_cut_short: bool,
        violations: &[(Violation, u64)],
    ) -> Vec<(&'static str, String)> {
        const CUT: &str = "the run was cut off, and this is about its end";
        let cut = self.open_properties().filter(|_| is_cut_short).map(|id| (id, CUT.to_owned()));
        let n = self.processes.len();
        let beyond = self.fixed.judged.iter().filter(|id| !(self.fixed.family.can_judge)(id, n));
        let beyond = beyond.map(|id| (*id, format!("a group of {n} is too large to judge it")));
        let is_violated =
            |id: &str| violations.iter().any(|(violation, _)| violation.property == id);
        let all = cut.chain(beyond).chain(self.monitor.undecided());
        all.filter(|(id, _)| !is_violated(id)).collect()
    }

    /// The judged liveness properties.
    pub(crate) fn open_properties(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.fixed.family.liveness.iter().copied().filter(|id| self.fixed.judged.contains(id))
    }

    /// The violations of the last step.
    pub fn found(&self) -> &[Violation] {
        &self.progress.found
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.progress.counts.steps
    }

    /// The facts about the family of the algorithm.
    pub fn family(&self) -> &Facts<A::Input> {
        &self.fixed.family
    }

    /// The setup of the group.
    pub fn setup(&self) -> &Setup {
        &self.fixed.setup
    }

    /// Whether processes have disks.
    pub fn is_durable(&self) -> bool {
        self.fixed.replay.is_some()
    }

    /// Whether the network carries a multicast once for all receivers.
    pub fn multicasts(&self) -> bool {
        self.fixed.multicast
    }

    /// The order of delivery that the network keeps.
    pub fn order(&self) -> Order {
        self.fixed.order
    }

    /// Whether the algorithm sends messages for ever, even if no application waits.
    pub fn is_restless(&self) -> bool {
        A::is_restless(&self.fixed.initial)
    }

    /// The quantities that cost formulas refer to.
    pub fn size(&self) -> synod_core::card::Size {
        A::size(&self.fixed.initial)
    }

    /// The approximate memory of a copy of this world, in bytes.
    pub fn estimated_bytes(&self) -> usize {
        let processes = self.processes.len() * size_of::<Process<A>>();
        let messages = (self.medium.flight.len() + 1) * size_of::<Option<Envelope<A>>>();
        // Each of the four or five allocations has some overhead.
        size_of::<Self>() + processes + 2 * messages + 5 * 16
    }

    /// Takes one step. The action must be possible: see [`World::can`].
    pub fn step(&mut self, action: &Action<A::Input>, driver: &mut dyn Driver<A>) {
        debug_assert_eq!(self.can(action), Ok(()), "{action:?}");
        self.progress.begin_step();
        let sent_before = self.progress.counts.messages;
        self.take_step(action, driver);
        // A divided step has renewed the fingerprints in between, so they no longer show which
        // processes took part in it: look at all messages.
        let is_divided = self.deliver_urgent(driver);
        self.forget_ignored(if is_divided { 0 } else { sent_before });
        self.renew_prints();
        driver.look(&self.processes);
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

    /// The process that takes the step, if a process does.
    pub fn actor(&self, action: &Action<A::Input>) -> Option<ProcessId> {
        let at = match action {
            Action::Input { at, .. } | Action::Fire { at, .. } | Action::Sync(at) => *at,
            Action::Deliver(slot) => self.medium.flight.get(*slot)?.to,
            _ => return None,
        };
        self.processes.get(at.index())?.is_up().then_some(at)
    }

    /// Whether the last step was cut off: a message or output of it did not go out.
    pub fn was_cut_off(&self) -> bool {
        self.progress.is_cut_off()
    }

    /// Whether the protocol retracted the last step: every continuation is also possible without
    /// that step, so the explorer need not keep the result. Never in a full exploration.
    pub fn was_retracted(&self) -> bool {
        self.progress.retracted && !self.fixed.full
    }

    /// The reductions that an explorer may use.
    pub(crate) fn reductions(&self) -> Reductions<A> {
        self.fixed.reductions
    }

    fn ask(&mut self, at: ProcessId, input: A::Input, driver: &mut dyn Driver<A>) {
        self.processes[at.index()].application.on_input(&input);
        let moment = Moment { now_us: self.now_us, clocks: &self.fixed.clocks };
        let found = &mut self.progress.found;
        let before = found.len();
        self.monitor.on_input(at, &input, moment, found);
        driver.see(self.now_us, Happening::Input(at, &input));
        judge::report(found, before, &self.fixed.judged, self.now_us, driver);
        self.run(at, driver, |host, carrier| host.on_input(input, carrier));
    }

    fn fire(&mut self, at: ProcessId, timer: u64, driver: &mut dyn Driver<A>) {
        self.run(at, driver, |host, carrier| host.on_timer(timer, carrier));
    }

    /// The first records in the queue are on the disk now; the effects that waited for them happen.
    fn sync(&mut self, at: ProcessId, driver: &mut dyn Driver<A>) {
        self.run(at, driver, |host, carrier| {
            let is_safe = host.on_written(u64::MAX, carrier);
            assert!(is_safe, "the action is possible: a record waits for the disk");
        });
    }

    /// The host of a process takes one step; its application then answers the outputs of that step.
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
