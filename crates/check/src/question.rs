//! What is asked of the explorer, and what it answers.

use crate::history::History;
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
    /// Whether nothing is left out: neither what the algorithm says that explorers may leave out
    /// ([`synod_core::reductions`]) nor what they leave out by themselves.
    pub full: bool,
}

impl Question {
    /// Everything that the family defines, in this scope, with the usual limits.
    pub fn new(scope: Scope) -> Self {
        let setup = Setup::new(scope.n).with_all(scope.set);
        Question { scope, setup, judged: Judged::All, limits: Limits::default(), full: false }
    }

    /// The same, asked of any algorithm of the family, and meant for this one.
    #[must_use]
    pub fn of<A: Algorithm>(&self) -> Self {
        let mut setup = self.setup.clone().of::<A>();
        let thorough = A::REDUCTIONS.thorough.iter().filter(|_| self.full);
        for (name, value) in thorough {
            if let Some(set) = setup.parameters.get_mut(*name) {
                *set = (*value).to_owned();
            }
        }
        Question { setup, ..self.clone() }
    }

    /// Whether states are compared after numbers were made small again. Stamps on application
    /// messages and records on a disk are numbers, too, that nobody makes small; but records matter
    /// only to a process that comes back.
    pub(crate) fn is_normal<A: Algorithm>(&self) -> bool {
        let endless = self.scope.rounds == Rounds::Forever;
        let unread = A::kit(&self.setup).replay.is_none() || self.scope.restarts == 0;
        let all_seen = self.scope.tells == 0 && unread;
        !self.full && endless && all_seen && normalises::<A>(&self.setup)
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

    /// The same world without all that makes no difference any more: the one that is searched.
    pub(crate) fn lean_plan<A: Algorithm>(&self) -> Plan {
        let (full, lean) = (self.full, !self.full && self.scope.restarts == 0);
        Plan { full, lean, ..self.plan::<A>() }
    }
}

fn normalises<A: Algorithm>(setup: &Setup) -> bool {
    let mut states = A::processes(setup).unwrap_or_default();
    let mut states: Vec<_> = states.iter_mut().collect();
    A::kit(setup).reductions.normalise(&mut states, &mut [])
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

impl Limits {
    /// Whether the time is up for what began then.
    pub(crate) fn is_late(&self, began: Instant) -> bool {
        self.time.is_some_and(|time| began.elapsed() >= time)
    }
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

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
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
