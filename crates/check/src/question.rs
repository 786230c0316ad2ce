//! The question to an explorer, and its answer.

use crate::history::History;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use synod_core::boxed::Which;
use synod_core::card::{Order, Rounds, Scope};
use synod_core::{Algorithm, Boxed, Setup, Verdict, Violation};
use synod_sim::world::{Judged, Plan};

/// A world to explore, and the properties to judge there.
#[derive(Clone, Debug)]
pub struct Question {
    /// The size of the group, the number of requests, and the budgets of faults.
    pub scope: Scope,
    /// The parameters of the algorithm. Its `n` must be the scope's.
    pub setup: Setup,
    /// The properties to judge.
    pub judged: Judged,
    /// When the explorer gives up.
    pub limits: Limits,
    /// Whether nothing is left out: neither what the algorithm says that explorers may leave out
    /// ([`synod_core::reductions`]) nor what they leave out by themselves.
    pub full: bool,
}

impl Question {
    /// Judges every property of the family in this scope, with the usual limits.
    pub fn new(scope: Scope) -> Self {
        let setup = Setup::new(scope.n).with_all(scope.set);
        Question { scope, setup, judged: Judged::All, limits: Limits::default(), full: false }
    }

    /// The same question about this algorithm, asked through its box.
    #[must_use]
    pub fn of<A: Algorithm>(&self) -> Self {
        self.running(Which::of::<A>())
    }

    /// The same question about an algorithm that is known only at run time. A full
    /// exploration also sets the parameters that make the algorithm's model leave nothing out.
    #[must_use]
    pub fn running(&self, which: Which) -> Self {
        let mut setup = self.setup.clone().running(which);
        let thorough = if self.full { Boxed::kit(&setup).reductions.thorough } else { &[] };
        for (name, value) in thorough {
            if let Some(set) = setup.parameters.get_mut(*name) {
                *set = (*value).to_owned();
            }
        }
        Question { setup, ..self.clone() }
    }

    /// Whether the explorer makes numbers small before it compares states. Stamps on application
    /// messages and records on a disk contain numbers that the algorithm cannot make small. But
    /// records matter only to a process that restarts.
    pub(crate) fn is_normal<A: Algorithm>(&self) -> bool {
        let endless = self.scope.rounds == Rounds::Forever;
        let unread = A::kit(&self.setup).replay.is_none() || self.scope.restarts == 0;
        let all_seen = self.scope.tells == 0 && unread;
        !self.full && endless && all_seen && normalises::<A>(&self.setup)
    }

    /// The full world, in which histories are replayed.
    pub fn plan<A: Algorithm>(&self) -> Plan {
        // Where numbers are made small, fairness to messages is judged link by link, so links must
        // deliver in order. A violation on such links is also one on links that reorder.
        let order = match self.scope.order {
            Order::Any if self.is_normal::<A>() => Order::Fifo,
            order => order,
        };
        let judged = self.judged.clone();
        let plan = Plan::new(self.scope.n, self.scope.rounds);
        Plan { setup: self.setup.clone(), order, judged, timing: self.scope.timing, ..plan }
    }

    /// Whether the searched world forgets messages and disks that make no difference: see
    /// [`Plan::lean`]. A process that restarts after a crash finds them again, so they make a
    /// difference to it.
    pub(crate) fn is_lean(&self) -> bool {
        !self.full && self.scope.restarts == 0
    }

    /// The world in which the explorer searches.
    pub(crate) fn lean_plan<A: Algorithm>(&self) -> Plan {
        Plan { full: self.full, lean: self.is_lean(), ..self.plan::<A>() }
    }
}

fn normalises<A: Algorithm>(setup: &Setup) -> bool {
    let mut states = A::processes(setup).unwrap_or_default();
    let mut states: Vec<_> = states.iter_mut().collect();
    A::kit(setup).reductions.normalise(&mut states, &mut [])
}

/// When the explorer gives up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At this number of steps from the start.
    pub depth: usize,
    /// At this number of different states.
    pub states: usize,
    /// At this amount of memory, in mebibytes: the growth of the program, where the operating
    /// system reports it, and an estimate elsewhere.
    pub memory_mib: usize,
    /// After this time; none means no limit.
    pub time: Option<Duration>,
    /// The search for endless histories keeps all states with their edges, in addition to the
    /// memory above. It gives up at this number of states.
    pub circle_states: usize,
    /// The number of threads. The result depends on it only where memory or time is the limit.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        Limits {
            depth: usize::MAX,
            states: 50_000_000,
            memory_mib: 8 * 1024,
            time: None,
            circle_states: 4_000_000,
            threads,
        }
    }
}

/// The caller of an exploration: it watches the progress, and its patience has an end.
pub(crate) struct Caller<'w> {
    /// Cancels the exploration by [`ControlFlow::Break`].
    watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>,
    deadline: Option<Instant>,
}

impl<'w> Caller<'w> {
    /// The caller of an exploration that begins now. Without a limit of time no clock is read: some
    /// platforms, such as browsers, have none.
    pub(crate) fn new(
        limits: &Limits,
        watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Self {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Caller { watch, deadline }
    }

    /// Shows the progress to the caller. Returns why the exploration must end now, if it must.
    pub(crate) fn show(&mut self, progress: &Progress) -> Option<Unfinished> {
        if (self.watch)(progress).is_break() {
            return Some(Unfinished::Cancelled(progress.waiting));
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Unfinished::Limit("time", progress.waiting))
    }
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What the explorer is doing.
    pub phase: Phase,
    /// Successors computed: a state counts each time that a step leads to it.
    pub states: u64,
    /// Different states.
    pub unique: usize,
    /// Steps from the start.
    pub depth: usize,
    /// States that wait for their expansion.
    pub waiting: usize,
    /// Bytes of the table of visited states.
    pub table_bytes: usize,
    /// Properties that have a counterexample by now.
    pub refuted: usize,
}

/// What an explorer is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It visits every reachable state, breadth first.
    #[default]
    Visiting,
    /// It visits the states once more, with their edges, to find a fair circle on which a process
    /// waits.
    SeekingCircles,
}

/// The outcome of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration<I> {
    /// How far the explorer came.
    pub progress: Progress,
    /// Why the explorer did not visit every reachable state; none if it did.
    pub unfinished: Option<Unfinished>,
    /// What was found about each property.
    pub verdicts: Vec<Judgement<I>>,
}

/// Why an explorer did not visit every reachable state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Every property has a counterexample: no state could add another.
    AllRefuted,
    /// It reached a limit: of depth, states, memory, time, messages on a link, or states searched
    /// for fair circles. With the number of states that still waited, or were left out.
    Limit(&'static str, usize),
    /// The caller cancelled the exploration, while this number of states waited.
    Cancelled(usize),
}

impl Unfinished {
    /// The verdict of an exploration on a property. One that did not visit every reachable state
    /// decides only what it refuted.
    pub fn verdict(unfinished: Option<Unfinished>, is_refuted: bool) -> Verdict {
        match (is_refuted, unfinished) {
            (true, _) => Verdict::Violated,
            (false, None) => Verdict::Holds,
            (false, Some(_)) => Verdict::Undecided,
        }
    }
}

/// What was found about one property.
#[derive(Clone, Debug)]
pub struct Judgement<I> {
    /// The property, by id.
    pub property: &'static str,
    /// A shortest history that violates it, if there is one.
    pub refuted: Option<Refutation<I>>,
}

/// A history that violates a property.
#[derive(Clone, Debug)]
pub struct Refutation<I> {
    /// The violation.
    pub violation: Violation,
    /// The history that leads to it.
    pub history: History<I>,
}

impl<I> Exploration<I> {
    /// The same answer, with every input translated.
    pub(crate) fn map<J>(self, translate: impl Fn(I) -> J) -> Exploration<J> {
        let verdict = |Judgement { property, refuted }: Judgement<I>| Judgement {
            property,
            refuted: refuted.map(|Refutation { violation, history }| Refutation {
                violation,
                history: history.map(&translate),
            }),
        };
        let Exploration { progress, unfinished, verdicts } = self;
        let verdicts = verdicts.into_iter().map(verdict).collect();
        Exploration { progress, unfinished, verdicts }
    }

    /// Whether the explorer visited every reachable state.
    pub fn exhausted(&self) -> bool {
        self.unfinished.is_none()
    }

    /// The verdict on all judged properties together.
    pub fn verdict(&self) -> Verdict {
        let verdict =
            |judged: &Judgement<I>| Unfinished::verdict(self.unfinished, judged.refuted.is_some());
        Verdict::on_all(self.verdicts.iter().map(verdict))
    }

    /// The counterexample to a property, if there is one.
    pub fn refutation(&self, property: &str) -> Option<&Refutation<I>> {
        self.verdicts.iter().find(|v| v.property == property)?.refuted.as_ref()
    }
}
