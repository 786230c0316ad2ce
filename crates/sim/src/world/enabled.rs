//! The actions that are enabled in a world.

use super::action::{Action, Impossible, LinkChange};
use super::flight::Slot;
use super::process::Status;
use super::{Body, Order, World};
use synod_core::card::Scope;
use synod_core::host::SetTimer;
use synod_core::{Algorithm, Application, Monitor, ProcessId};

/// The remaining fault budget of an explorer, per kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaultsLeft {
    /// Messages between applications.
    pub tells: u32,
    /// Crashes.
    pub crashes: u32,
    /// Restarts, with the disk.
    pub restarts: u32,
    /// Lost messages.
    pub drops: u32,
    /// Messages that arrive twice.
    pub duplicates: u32,
    /// Milliseconds that pass.
    pub ticks: u32,
    /// Messages that take longer than the bound.
    pub late: u32,
}

impl FaultsLeft {
    /// Whether this budget is at least as large as the other, for each kind.
    pub(super) fn covers(&self, other: &FaultsLeft) -> bool {
        self.tells >= other.tells
            && self.crashes >= other.crashes
            && self.restarts >= other.restarts
            && self.drops >= other.drops
            && self.duplicates >= other.duplicates
            && self.ticks >= other.ticks
            && self.late >= other.late
    }
}

impl From<&Scope> for FaultsLeft {
    fn from(scope: &Scope) -> Self {
        FaultsLeft {
            tells: scope.tells,
            crashes: scope.crashes,
            restarts: scope.restarts,
            drops: scope.drops,
            duplicates: scope.duplicates,
            ticks: scope.ticks,
            late: scope.late,
        }
    }
}

impl<A: Algorithm> World<A> {
    /// Appends the enabled actions of the algorithm, its applications and the network, without
    /// faults.
    pub fn enabled(&self, actions: &mut Vec<Action<A::Input>>) {
        for (index, process) in self.processes().iter().enumerate() {
            if process.is_up() {
                let at = ProcessId(index as u32);
                let offer = &mut |input| actions.push(Action::Input { at, input });
                process.application.offers(offer);
                let due = process.timers().iter().filter(|set| self.left_ms(set) == 0);
                let due = due.filter(|set| !self.is_fault(set));
                actions.extend(due.map(|set| Action::Fire { at, timer: set.number }));
                if process.is_writing() {
                    actions.push(Action::Sync(at));
                }
            }
        }
        let deliverable = |slot: &Slot| self.is_deliverable(*slot);
        actions.extend(
            self.medium
                .flight
                .iter()
                .map(|(slot, _)| slot)
                .filter(deliverable)
                .map(Action::Deliver),
        );
        if self.is_synchronous() && self.may_tick() {
            actions.push(Action::Tick);
        }
    }

    /// The first process whose disk writes. An explorer may let that disk finish before it tries
    /// any other action but a crash. Every other action can happen after the write as well: the
    /// effects of the process wait for its disk, and a slow disk cannot be told from a slow network
    /// or a slow application. None in a full exploration, which makes no such reduction.
    pub fn first_to_write(&self) -> Option<ProcessId> {
        if self.fixed.full {
            return None;
        }
        let mut all = ProcessId::all(self.processes.len());
        all.find(|at| self.process(*at).is_up() && self.process(*at).is_writing())
    }

    /// Appends the faults within the remaining budget, and the messages between applications and
    /// the ticks that the budget bounds, too.
    pub fn enabled_faults(&self, actions: &mut Vec<Action<A::Input>>) {
        for (index, process) in self.processes().iter().enumerate().filter(|(_, p)| p.is_up()) {
            let at = ProcessId(index as u32);
            let due = process.timers().iter().filter(|set| self.is_fault(set));
            actions.extend(due.map(|set| Action::Fire { at, timer: set.number }));
        }
        let left = self.faults;
        if left == FaultsLeft::default() {
            return;
        }
        for at in ProcessId::all(self.processes.len()) {
            match self.process(at).status {
                Status::Up if left.crashes > 0 => actions.push(Action::Crash(at)),
                Status::Crashed if left.restarts > 0 => {
                    actions.push(Action::Restart { at, disk: true });
                }
                _ => {}
            }
        }
        for (slot, envelope) in self.medium.flight.iter() {
            if matches!(envelope.body, Body::Message(_)) {
                if left.drops > 0 {
                    actions.push(Action::Drop(slot));
                }
                if left.duplicates > 0 {
                    actions.push(Action::Duplicate(slot));
                }
                if left.late > 0 && envelope.left_ms.is_some() {
                    actions.push(Action::Late(slot));
                }
            }
        }
        if left.tells > 0 {
            self.enabled_tells(actions);
        }
        if left.ticks > 0 && !self.is_synchronous() {
            actions.push(Action::Tick);
        }
    }

    /// Whether a step is a fault inside the algorithm: an idealised group service models faults as
    /// timers. Fairness does not oblige such a step to happen.
    pub fn is_own_fault(&self, action: &Action<A::Input>) -> bool {
        let Action::Fire { at, timer } = action else { return false };
        let mut timers = self.process(*at).timers().iter();
        timers.any(|set| set.number == *timer && self.is_fault(set))
    }

    /// Whether a timer stands for a fault.
    fn is_fault(&self, set: &SetTimer<A::Timer>) -> bool {
        self.fixed.reductions.is_fault(&set.timer)
    }

    fn enabled_tells(&self, actions: &mut Vec<Action<A::Input>>) {
        let talks = |at: &ProcessId| {
            self.process(*at).is_up() && self.fixed.initial[at.index()].takes_part(*at)
        };
        let talkers = || ProcessId::all(self.processes.len()).filter(talks);
        for from in talkers().filter(|from| self.monitor.has_news(*from)) {
            let to = talkers().filter(|to| *to != from);
            actions.extend(to.map(|to| Action::Tell { from, to }));
        }
    }

    /// Whether the network may deliver this message now.
    pub fn is_deliverable(&self, slot: Slot) -> bool {
        let Some(envelope) = self.medium.flight.get(slot) else { return false };
        if self.process(envelope.to).status == Status::Paused {
            return false;
        }
        match self.fixed.order {
            Order::Any => true,
            Order::Fifo => self.medium.flight.rank(envelope) == 0,
            Order::Causal => {
                let causal = self.medium.causal.as_ref().expect("the network orders causally");
                causal.admits(envelope, &self.medium.flight)
            }
        }
    }

    /// Whether the action can be taken now.
    pub fn can(&self, action: &Action<A::Input>) -> Result<(), Impossible> {
        match action {
            Action::Input { at, .. } => self.must_be_up(*at),
            Action::Tell { from, to } => self.known(*to)?.must_be_up(*from),
            Action::Deliver(slot)
            | Action::Drop(slot)
            | Action::Duplicate(slot)
            | Action::Late(slot) => match self.medium.flight.get(*slot) {
                Some(_) => Ok(()),
                None => Err(Impossible(format!("no message is in place {slot}"))),
            },
            Action::Fire { at, timer } => {
                self.must_be_up(*at)?;
                let mut timers = self.process(*at).timers().iter();
                match timers.find(|set| set.number == *timer).map(|set| self.left_ms(set)) {
                    Some(0) => Ok(()),
                    Some(left) => {
                        Err(Impossible(format!("that timer of {at} runs out in {left}ms")))
                    }
                    None => Err(Impossible(format!("{at} has no timer with number {timer}"))),
                }
            }
            Action::Sync(at) => {
                self.must_be_up(*at)?;
                match self.process(*at).is_writing() {
                    true => Ok(()),
                    false => Err(Impossible(format!("{at} has nothing to write"))),
                }
            }
            Action::Crash(at) => match self.known(*at)?.process(*at).status {
                Status::Up | Status::Paused => Ok(()),
                Status::Crashed => Err(Impossible(format!("{at} has crashed already"))),
            },
            Action::Restart { at, .. } => match self.known(*at)?.process(*at).status {
                Status::Crashed => Ok(()),
                _ => Err(Impossible(format!("{at} has not crashed; only then can it restart"))),
            },
            Action::Pause(at) => self.must_be_up(*at),
            Action::Resume(at) => match self.known(*at)?.process(*at).status {
                Status::Paused => Ok(()),
                _ => Err(Impossible(format!("{at} is not paused"))),
            },
            Action::Links(change) => self.can_change(change),
            Action::Tick => Ok(()),
            Action::Cut { step, .. } => match self.can(step) {
                Ok(()) if self.actor(step).is_some() => Ok(()),
                Ok(()) => Err(Impossible("no process takes that step".to_owned())),
                impossible => impossible,
            },
        }
    }

    fn known(&self, at: ProcessId) -> Result<&Self, Impossible> {
        let n = self.processes.len();
        if at.index() < n {
            Ok(self)
        } else {
            Err(Impossible(format!("there is no {at}; the processes are p0..p{}", n - 1)))
        }
    }

    fn must_be_up(&self, at: ProcessId) -> Result<(), Impossible> {
        match self.known(at)?.process(at).status {
            Status::Up => Ok(()),
            Status::Paused => Err(Impossible(format!("{at} is paused"))),
            Status::Crashed => Err(Impossible(format!("{at} has crashed"))),
        }
    }

    fn can_change(&self, change: &LinkChange) -> Result<(), Impossible> {
        let named: Vec<ProcessId> = match change {
            LinkChange::Partition(parts) => parts.iter().flatten().copied().collect(),
            LinkChange::Cut { from, to } | LinkChange::Mend { from, to } => vec![*from, *to],
            LinkChange::Heal => vec![],
        };
        for (index, at) in named.iter().enumerate() {
            self.known(*at)?;
            if matches!(change, LinkChange::Partition(_)) && named[..index].contains(at) {
                return Err(Impossible(format!("{at} is on two sides of the partition")));
            }
        }
        Ok(())
    }
}
