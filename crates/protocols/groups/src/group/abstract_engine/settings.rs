//! The parameters of the abstract engine: fault budgets, and the histories to leave out.

use super::Move;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use synod_core::card::{OwnFaults, Parameter};
use synod_core::family::group::ENGINE;
use synod_core::reductions::FaultBudgets;
use synod_core::{Setup, SetupError};

/// Default limit of a member's lag: above every backlog that an exploration reaches.
const MOST: u64 = 1_000;

/// A budget that is never used up.
const ANY: u8 = u8::MAX;

/// The parameters of the abstract engine.
pub const PARAMETERS: [Parameter; 14] = [
    Parameter {
        name: "partitions",
        meaning: "abstract engine: partitions, in which some members go on without the others: a \
                  number (default: 0), or any. Any number of faults makes finitely many states \
                  only with passing=lazy and across=no",
    },
    Parameter {
        name: "merges",
        meaning: "abstract engine: merges of two views into one: a number (default: 0), or any",
    },
    Parameter {
        name: "deaths",
        meaning: "abstract engine: deaths of processes, told to the rest of their view: a number \
                  (default: 0), or any",
    },
    Parameter {
        name: "node-crashes",
        meaning: "abstract engine: crashes of nodes, which look like partitions: a number \
                  (default: 0), or any",
    },
    Parameter {
        name: "restarts",
        meaning: "abstract engine: restarts of dead nodes: a number (default: 0), or any",
    },
    Parameter {
        name: "faults",
        meaning: "abstract engine: instead of these numbers, the faults in their order, e.g. \
                  'partition die merge'; also crash, restart, and rejoin: restart among others",
    },
    Parameter {
        name: "start",
        meaning: "abstract engine: members start together (default), each one alone, or later: at \
                  any time and in any view",
    },
    Parameter {
        name: "safe",
        meaning: "abstract engine: yes (default), or no: the engine offers agreed delivery only \
                  (as a lazy one does)",
    },
    Parameter {
        name: "calm",
        meaning: "abstract engine: no (default), or yes: faults come only when all members have \
                  all their events; fewer histories",
    },
    Parameter {
        name: "late",
        meaning: "abstract engine: yes (default), or no: a multicast gets its place in the order \
                  at once; fewer histories",
    },
    Parameter {
        name: "lag",
        meaning: "abstract engine: no member gets an event while another one has this many events \
                  more to get (default: no limit); fewer histories",
    },
    Parameter {
        name: "passing",
        meaning: "abstract engine: members get events step by step (step, default); the events of \
                  a transitional configuration at once (once), fewer histories; or as late as \
                  possible (lazy), the same histories in fewer states, for members that claim \
                  nothing and need agreed delivery only",
    },
    Parameter {
        name: "across",
        meaning: "abstract engine: yes (default), or no: a multicast without a place in the order \
                  when its view ends never gets one; the same histories for services to which it \
                  is void then (and fewer deliveries, if lazy, of messages that are void between \
                  two views)",
    },
    Parameter {
        name: "burst",
        meaning: "abstract engine, if lazy: faults until all members have all their events and \
                  multicast nothing; then as many again (default: no limit)",
    },
];

/// The settings without the omissions of a lazy oracle. `docs/lazy-groups.md` argues for these.
pub(super) const THOROUGH: &[(&str, &str)] = &[("passing", "step"), ("across", "yes")];

/// All faults are moves of the oracle: the network between it and the members is part of the model.
pub const OWN_FAULTS: OwnFaults = OwnFaults {
    set: &[(ENGINE.name, "abstract")],
    budgets: &["partitions", "merges", "deaths", "node-crashes", "restarts"],
};

/// How the members begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Beginning {
    /// All members, in one view.
    Together,
    /// Each member, in a view of its own.
    Alone,
    /// Each member at some time, alone or in some view; or never.
    Later,
}

/// Remaining fault budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Left {
    /// A number for each kind of fault.
    Budgets {
        /// The kinds, each with its remaining number.
        each: Vec<(Move, u8)>,
        /// Remaining faults until the next calm moment.
        burst: u8,
    },
    /// These faults, one after the other.
    Script(VecDeque<Move>),
}

/// Leaves budgets out: explorers compare them by [`Left::each`], see
/// [`synod_core::Reductions::faults_left`].
impl Hash for Left {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Left::Budgets { .. } => {}
            Left::Script(script) => script.hash(state),
        }
    }
}

impl Left {
    /// Remaining fault budget, per kind.
    pub(super) fn each(&self) -> FaultBudgets {
        let mut all = [0; 8];
        if let Left::Budgets { each, burst } = self {
            let budgets = each.iter().map(|(_, left)| *left).chain([*burst]);
            all.iter_mut().zip(budgets).for_each(|(place, left)| *place = left);
        }
        all
    }

    /// How often this fault may come now.
    pub(super) fn times(&self, next: Move) -> u32 {
        match self {
            Left::Budgets { each, burst } => {
                let budget = each.iter().find(|(budgeted, _)| *budgeted == next);
                budget.map_or(0, |(_, left)| (*left).min(*burst).into())
            }
            Left::Script(script) => u32::from(script.front() == Some(&next)),
        }
    }

    /// Spends this number of faults of one kind.
    pub(super) fn spend(&mut self, next: Move, times: u32) {
        match self {
            Left::Budgets { each, burst } => {
                let budget = each.iter_mut().find(|(budgeted, _)| *budgeted == next);
                let left = budget.map(|(_, left)| left).into_iter().chain([burst]);
                left.filter(|left| **left != ANY).for_each(|left| *left -= times as u8);
            }
            Left::Script(script) => {
                script.pop_front();
            }
        }
    }

    fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        if let Some(words) = setup.text("faults") {
            let words = words.split([' ', ',']).filter(|word| !word.is_empty());
            let word =
                |word: &str| Move::named(word).ok_or_else(|| setup.bad("faults", "no such fault"));
            return words.map(word).collect::<Result<_, _>>().map(Left::Script);
        }
        let budget = |(name, next): (&str, Move)| Ok((next, number(setup, name, 0)?));
        let burst = number(setup, "burst", ANY)?;
        let moves = [Move::Partition, Move::Merge, Move::Die, Move::Crash, Move::Restart];
        let budgets = OWN_FAULTS.budgets.iter().copied().zip(moves);
        let each = budgets.map(budget).collect::<Result<_, _>>()?;
        Ok(Left::Budgets { each, burst })
    }
}

/// Reads a number of faults, or `any`.
fn number(setup: &Setup, name: &str, default: u8) -> Result<u8, SetupError> {
    match setup.text(name) {
        None => Ok(default),
        Some("any") => Ok(ANY),
        Some(_) => match setup.number(name, 0)? {
            number if number < ANY.into() => Ok(number as u8),
            _ => Err(setup.bad(name, format!("it is less than {ANY}, or any"))),
        },
    }
}

impl Settings {
    /// Restores the budget of a burst: the group is calm.
    pub(super) fn refill(&mut self) {
        if let Left::Budgets { burst, .. } = &mut self.left {
            *burst = self.burst;
        }
    }
}

/// When the oracle passes events on to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passing {
    /// At any time, one event after the other.
    Step,
    /// The same, but all events of a transitional configuration in one step.
    AtOnce,
    /// As late as possible; see `docs/lazy-groups.md`.
    Lazy,
}

/// The parameters of the oracle, and its remaining fault budget.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// Remaining fault budget.
    pub left: Left,
    /// Fault budget of a burst, restored at every calm moment.
    burst: u8,
    /// How the members begin.
    pub beginning: Beginning,
    /// Whether the engine offers safe delivery.
    pub safe: bool,
    /// Whether faults come only when all members have all their events.
    pub calm: bool,
    /// Whether a multicast may get its place in the order later.
    pub late: bool,
    /// By how many events a member may be ahead of another.
    pub lag: u32,
    /// When the oracle passes events on to members.
    pub passing: Passing,
    /// Whether a multicast of one view may get its place in another.
    pub across: bool,
}

impl Settings {
    /// Whether the oracle passes events on as late as possible.
    pub(super) fn is_lazy(&self) -> bool {
        self.passing == Passing::Lazy
    }

    /// Reads the parameters of a setup.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let lazy = setup.choice("passing", &["step", "once", "lazy"])? == "lazy";
        if setup.text("burst").is_some() && !lazy {
            return Err(
                setup.bad("burst", "only a lazy engine knows when all is calm: passing=lazy")
            );
        }
        Ok(Settings {
            left: Left::from_setup(setup)?,
            burst: number(setup, "burst", ANY)?,
            beginning: match setup.choice("start", &["together", "alone", "later"])? {
                "together" => Beginning::Together,
                "alone" => Beginning::Alone,
                _ => Beginning::Later,
            },
            safe: setup.choice("safe", if lazy { &["no"] } else { &["yes", "no"] })? == "yes",
            calm: setup.choice("calm", &["no", "yes"])? == "yes",
            late: setup.choice("late", &["yes", "no"])? == "yes",
            lag: u32::try_from(setup.number("lag", MOST)?).unwrap_or(u32::MAX),
            passing: match setup.choice("passing", &["step", "once", "lazy"])? {
                "step" => Passing::Step,
                "once" => Passing::AtOnce,
                _ => Passing::Lazy,
            },
            across: setup.choice("across", &["yes", "no"])? == "yes",
        })
    }
}
