//! The costs of an algorithm, as formulas.

use super::Settings;
use serde::{Deserialize, Serialize};

/// A cost of an algorithm, as the textbook states it.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The counted quantity, in words: "messages per entry".
    pub name: &'static str,
    /// The counted quantity, for the meter.
    pub quantity: Quantity,
    /// Under which load the formula holds.
    pub load: Load,
    /// The formula as people write it.
    pub formula: &'static str,
    /// The formula as a function.
    pub expected: fn(Size) -> Bounds,
}

/// The costs of an algorithm in another setting than the usual one.
#[derive(Clone, Copy, Debug)]
pub struct OtherCosts {
    /// The parameters: `[("acks", "yes")]`.
    pub set: Settings,
    /// Whether the network carries a multicast once for all receivers.
    pub multicast: bool,
    /// The costs that are others.
    pub costs: &'static [Cost],
}

impl OtherCosts {
    /// The costs over a network that carries a multicast once for all receivers.
    pub const fn over_multicast(costs: &'static [Cost]) -> Self {
        OtherCosts { set: &[], multicast: true, costs }
    }

    /// The costs of a group with these parameters.
    pub const fn with(set: Settings, costs: &'static [Cost]) -> Self {
        OtherCosts { set, multicast: false, costs }
    }
}

/// A quantity that a meter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Quantity {
    /// All messages of the run, divided by the operations (bandwidth).
    MessagesPerOperation,
    /// The messages of one kind, divided by the operations.
    KindPerOperation(&'static str),
    /// Messages between a request and its fulfilment, while no other process asks.
    EntryMessages,
    /// Consecutive messages between a request and its fulfilment, while no other process asks.
    EntryHops,
    /// Consecutive messages between one process leaving and the next, already waiting, entering.
    RelayHops,
    /// Consecutive messages between a request and its effect at each other process, while no other
    /// process asks.
    ReachHops,
    /// The same from the second request on: the first one finds a group that is still electing.
    SteadyHops,
    /// All messages between one request and the next, from the second on, while no other process
    /// asks.
    SteadyMessages,
    /// All messages of a run in which every process asks once, at the same moment.
    MessagesInAll,
    /// The messages of one kind, in such a run.
    KindInAll(&'static str),
    /// All messages between one round of a process and its next, if it has rounds.
    MessagesPerRound,
}

impl Quantity {
    /// Whether it belongs to a run in which every process asks once, at the same moment.
    pub fn is_of_whole_run(self) -> bool {
        matches!(self, Quantity::MessagesInAll | Quantity::KindInAll(_))
    }
}

/// How busy the applications are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Load {
    /// The formula holds under any load.
    Any,
    /// One request at a time, the next only when all is quiet.
    Sequential,
    /// Every application asks again at once.
    Saturated,
}

/// What formulas are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many processes.
    pub n: usize,
    /// The size of a voting set; or the messages that one heartbeat takes.
    pub k: usize,
}

/// The value of a formula: a number, or a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// No less than this.
    pub min: f64,
    /// No more than this, if there is a limit.
    pub max: Option<f64>,
}

impl Bounds {
    /// Just this number.
    pub fn exactly(value: usize) -> Bounds {
        Bounds::between(value, value)
    }

    /// From this to that.
    pub fn between(min: usize, max: usize) -> Bounds {
        Bounds { min: min as f64, max: Some(max as f64) }
    }

    /// This or more.
    pub fn at_least(min: usize) -> Bounds {
        Bounds { min: min as f64, max: None }
    }

    /// The number, if it is just one.
    pub fn exact(&self) -> Option<f64> {
        (self.max == Some(self.min)).then_some(self.min)
    }

    /// Whether a measured value agrees.
    pub fn admit(&self, measured: f64) -> bool {
        measured >= self.min && self.max.is_none_or(|max| measured <= max)
    }
}
