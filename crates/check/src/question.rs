//! What is asked of the explorer, and what it answers.

use crate::history::History;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use synod_core::card::{Order, Rounds, Scope};
use synod_core::{Algorithm, Setup, Violation};
use synod_sim::world::{Judged, Plan};

/// What to explore.
#[derive(Clone, Debug)]
pub struct Question {
    /// How many processes, how often they ask, what may go wrong.
    pub scope: Scope,
    /// The algorithm's parameters. (Its `n` must be the scope's.)
    pub setup: Setup,
    /// Which properties are judged.
    pub judged: Judged,
    /// When to give up.
    pub limits: Limits,
}

impl Question {
    /// Everything that the family defines, in this scope, with the usual limits.
    pub fn new(scope: Scope) -> Self {
        let setup = Setup::new(scope.n).with_all(scope.set);
        Question { scope, setup, judged: Judged::All, limits: Limits::default() }
    }

    /// The same, asked of any algorithm of the family, and meant for this one.
    #[must_use]
    pub fn of<A: Algorithm>(&self) -> Self {
        Question { setup: self.setup.clone().of::<A>(), ..self.clone() }
    }

    /// Whether states are compared after numbers were made small again. Stamps on application
    /// messages and records on a disk are numbers, too, that nobody makes small; but records matter
    /// only to a process that comes back.
    pub(crate) fn is_normal<A: Algorithm>(&self) -> bool {
        let endless = self.scope.rounds == Rounds::Forever;
        let unread = A::kit(&self.setup).replay.is_none() || self.scope.restarts == 0;
        let all_seen = self.scope.tells == 0 && unread;
        endless && all_seen && normalises::<A>(&self.setup)
    }

    /// The world that is explored, and in which its histories can be done again.
    pub fn plan<A: Algorithm>(&self) -> Plan {
        // Fairness to each message is judged link by link where numbers are made small again, so
        // links must then deliver in order. Whatever goes wrong there goes wrong in any order too.
        let order = match self.scope.order {
            Order::Any if self.is_normal::<A>() => Order::Fifo,
            order => order,
        };
        let judged = self.judged.clone();
        let plan = Plan::new(self.scope.n, self.scope.rounds);
        Plan { setup: self.setup.clone(), order, judged, timing: self.scope.timing, ..plan }
    }

    /// Whether the world that is searched forgets what makes no difference: see [`Plan::lean`]. A process
    /// that comes back from a crash finds its disk and its messages, so they make a difference then.
    pub(crate) fn is_lean(&self) -> bool {
        self.scope.restarts == 0
    }

    /// The world that is searched.
    pub(crate) fn lean_plan<A: Algorithm>(&self) -> Plan {
        Plan { lean: self.is_lean(), ..self.plan::<A>() }
    }
}

fn normalises<A: Algorithm>(setup: &Setup) -> bool {
    let mut states = A::processes(setup).unwrap_or_default();
    let mut states: Vec<_> = states.iter_mut().collect();
    A::normalise(&mut states, &mut [])
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After so many steps from the start.
    pub depth: usize,
    /// After so many different states.
    pub states: usize,
    /// When states take up so much memory, in mebibytes. (What the process grows by; where the system does
    /// not tell, an estimate.)
    pub memory_mib: usize,
    /// After so much time; never if there is none.
    pub time: Option<Duration>,
    /// Endless histories are looked for only among so many states, because all of them are kept
    /// with their successors, in addition to the memory above.
    pub circle_states: usize,
    /// On so many threads. The result does not depend on it, unless memory or time is the limit.
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

/// The caller of an exploration: it sees how far that has come, and does not wait for ever.
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

    /// Shows the caller how far the exploration has come; returns why it must end now, if it must.
    pub(crate) fn show(&mut self, progress: &Progress) -> Option<Unfinished> {
        if (self.watch)(progress).is_break() {
            return Some(Unfinished::Cancelled(progress.waiting));
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Unfinished::Limit("time", progress.waiting))
    }
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What the explorer does now.
    pub phase: Phase,
    /// States reached, counting again those reached again.
    pub states: u64,
    /// Different states.
    pub unique: usize,
    /// Steps from the start.
    pub depth: usize,
    /// States that still have to be expanded.
    pub waiting: usize,
    /// Bytes of the table of visited states.
    pub table_bytes: usize,
    /// Properties that have a counterexample by now.
    pub refuted: usize,
}

/// What an explorer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It visits every state that can be reached, breadth first.
    #[default]
    Visiting,
    /// It visits them once more, with their edges, to find fair circles on which a process waits for ever.
    SeekingCircles,
}

/// What came of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration<I> {
    /// How far it came.
    pub progress: Progress,
    /// None if every reachable state was seen; else why not.
    pub unfinished: Option<Unfinished>,
    /// The verdict on each property.
    pub verdicts: Vec<Verdict<I>>,
}

/// Why an exploration did not see every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Every property was refuted: there is nothing left to look for.
    AllRefuted,
    /// The limit of depth, states, memory, time, messages on a link or states searched for fair circles
    /// was reached; the last is how many states still waited, or were not looked at.
    Limit(&'static str, usize),
    /// The caller cancelled the exploration; so many states still waited.
    Cancelled(usize),
}

/// The verdict on one property.
#[derive(Clone, Debug)]
pub struct Verdict<I> {
    /// The property, by id.
    pub property: &'static str,
    /// The shortest history that violates it, if one was found.
    pub refuted: Option<Refutation<I>>,
}

/// A history that violates a property.
#[derive(Clone, Debug)]
pub struct Refutation<I> {
    /// What is violated.
    pub violation: Violation,
    /// How it comes to that.
    pub history: History<I>,
}

impl<I> Exploration<I> {
    /// Whether every reachable state was seen.
    pub fn exhausted(&self) -> bool {
        self.unfinished.is_none()
    }

    /// The refutation of a property, if there is one.
    pub fn refutation(&self, property: &str) -> Option<&Refutation<I>> {
        self.verdicts.iter().find(|v| v.property == property)?.refuted.as_ref()
    }
}
