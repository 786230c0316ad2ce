//! The faults of a run, and their times: by script or by chance.

use crate::network::{Chance, below};
use crate::world::{Action, LinkChange};
use synod_core::{Data, ProcessId};

/// The number of faults of each kind, at times drawn from the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomFaults {
    /// The number of crashes.
    pub crashes: u32,
    /// Whether a crashed process starts again, and with its disk or without.
    pub restart: Restart,
    /// The number of crashes for good, independent of `restart`. If the same process also has a
    /// crash with a restart, that restart may still follow.
    pub deaths: u32,
    /// The number of times that a process stands still for a while.
    pub pauses: u32,
    /// The number of times that the network splits into two parts for a while.
    pub partitions: u32,
    /// The number of times that a link works in one direction only, for a while.
    pub one_way_cuts: u32,
    /// The end of the faults, in microseconds.
    pub within_us: u64,
}

/// Whether a crashed process comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// It does not.
    #[default]
    Never,
    /// It does, with its disk.
    WithDisk,
    /// It does, having lost its disk.
    WithoutDisk,
}

/// A fault at a certain time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<I> {
    /// The time, in microseconds.
    pub at_us: u64,
    /// The fault.
    pub action: Action<I>,
    /// A process that crashes does so in the middle of its next step, after this many messages and
    /// outputs; without a number, at once.
    pub in_step_after: Option<u32>,
}

impl<I> Fault<I> {
    /// The same fault, with the input translated.
    pub fn map<J>(self, translate: impl FnOnce(I) -> J) -> Fault<J> {
        let Fault { at_us, action, in_step_after } = self;
        Fault { at_us, action: action.map(translate), in_step_after }
    }

    /// A fault at a certain time, in microseconds.
    pub fn at(at_us: u64, action: Action<I>) -> Self {
        Fault { at_us, action, in_step_after: None }
    }
}

/// The beginning of a fault, and its end.
type Span<I> = (Action<I>, Option<Action<I>>);

impl RandomFaults {
    /// Whether there are no faults.
    pub fn none(&self) -> bool {
        self.crashes + self.deaths + self.pauses + self.partitions + self.one_way_cuts == 0
    }

    /// Draws the faults of one run.
    pub fn draw<I: Data>(&self, n: usize, chance: &mut Chance) -> Vec<Fault<I>> {
        let mut faults = Vec::new();
        let within = self.within_us.max(2);
        let mut spans = |count: u32, pair: &mut dyn FnMut(&mut Chance) -> Span<I>| {
            for _ in 0..count {
                let begin = below(chance, within);
                let end = begin + 1 + below(chance, within / 2);
                let (first, second) = pair(chance);
                // Every other crash comes in the middle of a step.
                let in_step_after = match first {
                    Action::Crash(_) if below(chance, 2) == 0 => {
                        Some(below(chance, n as u64 + 1) as u32)
                    }
                    _ => None,
                };
                faults.push(Fault { at_us: begin, action: first, in_step_after });
                faults.extend(second.map(|action| Fault::at(end, action)));
            }
        };
        // A single process has no link to be cut.
        let (partitions, one_way_cuts) =
            if n > 1 { (self.partitions, self.one_way_cuts) } else { (0, 0) };
        let some = |chance: &mut Chance| ProcessId(below(chance, n as u64) as u32);
        // The order of these draws is part of every recorded run, so a new kind of fault must come
        // last.
        spans(self.crashes, &mut |chance| {
            let at = some(chance);
            let back = match self.restart {
                Restart::Never => None,
                Restart::WithDisk => Some(Action::Restart { at, disk: true }),
                Restart::WithoutDisk => Some(Action::Restart { at, disk: false }),
            };
            (Action::Crash(at), back)
        });
        spans(self.deaths, &mut |chance| (Action::Crash(some(chance)), None));
        spans(self.pauses, &mut |chance| {
            let at = some(chance);
            (Action::Pause(at), Some(Action::Resume(at)))
        });
        spans(partitions, &mut |chance| {
            let mut parts = vec![Vec::new(), Vec::new()];
            for at in ProcessId::all(n) {
                parts[below(chance, 2) as usize].push(at);
            }
            // An empty part would cut no link.
            if let Some(empty) = parts.iter().position(Vec::is_empty) {
                let alone = parts[1 - empty].remove(below(chance, n as u64) as usize);
                parts[empty].push(alone);
            }
            let parts = LinkChange::Partition(parts);
            (Action::Links(parts), Some(Action::Links(LinkChange::Heal)))
        });
        spans(one_way_cuts, &mut |chance| {
            let (from, step) = (some(chance), 1 + below(chance, n as u64 - 1) as u32);
            let to = ProcessId((from.0 + step) % n as u32);
            let cut = Action::Links(LinkChange::Cut { from, to });
            (cut, Some(Action::Links(LinkChange::Mend { from, to })))
        });
        faults
    }
}
