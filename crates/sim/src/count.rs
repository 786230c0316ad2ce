//! The costs of a run: messages by kind and layer, and the durations of operations.

use crate::world::{Happening, World};
use std::collections::{BTreeMap, VecDeque};
use synod_core::card::{Cost, Load, Quantity};
use synod_core::family::Mark;
use synod_core::{Algorithm, Bounds, Family, ProcessId};

/// The smallest, the mean and the largest of many numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Their count.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

impl Summary {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.sum = self.sum.saturating_add(value);
        self.count += 1;
    }

    /// Their mean, if there are any.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Counts the events of a run.
#[derive(Clone, Debug)]
pub struct Meter {
    /// The number of events that a trace would list.
    pub events: u64,
    /// The number of messages that the network carried.
    pub messages: u64,
    by_kind: Vec<(u8, &'static str, u64)>,
    /// Messages that were lost.
    pub lost: u64,
    /// Times that a process reported another.
    pub accusations: u64,
    /// Requests for operations.
    pub requests: u64,
    /// Operations that were fulfilled.
    pub operations: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// From a request to its fulfilment, in microseconds.
    pub entry_us: Summary,
    /// Messages carried between a request and its fulfilment.
    pub entry_messages: Summary,
    /// From one process leaving to the next, already waiting, entering, in microseconds.
    pub relay_us: Summary,
    /// Messages carried between these two.
    pub relay_messages: Summary,
    /// Messages carried between one process leaving and the next request, or the end.
    pub exit_messages: Summary,
    /// Messages carried between one request and the next.
    pub operation_messages: Summary,
    /// The same from the second request on.
    pub steady_messages: Summary,
    /// As `entry_us`, from the second request on.
    pub steady_us: Summary,
    /// Messages carried between one round of the first process and its next, while all are up.
    pub round_messages: Summary,
    round_began: Option<u64>,
    /// From the last request of any process to each process that it reaches, in microseconds.
    pub reach_us: Summary,
    /// The open requests of each process: the time of each, and the messages carried until then.
    asked: Vec<VecDeque<(u64, u64)>>,
    /// When the last process left, and the messages carried until then.
    left: Option<(u64, u64)>,
    /// The same for the last request of all.
    last_ask: Option<(u64, u64)>,
}

impl Meter {
    /// A meter for `n` processes.
    pub fn new(n: usize) -> Self {
        Meter {
            events: 0,
            messages: 0,
            by_kind: Vec::new(),
            lost: 0,
            accusations: 0,
            requests: 0,
            operations: 0,
            refused: 0,
            entry_us: Summary::default(),
            entry_messages: Summary::default(),
            relay_us: Summary::default(),
            relay_messages: Summary::default(),
            exit_messages: Summary::default(),
            operation_messages: Summary::default(),
            steady_us: Summary::default(),
            steady_messages: Summary::default(),
            round_messages: Summary::default(),
            round_began: Some(0),
            reach_us: Summary::default(),
            asked: vec![VecDeque::new(); n],
            left: None,
            last_ask: None,
        }
    }

    /// Messages by kind.
    pub fn by_kind(&self) -> BTreeMap<&'static str, u64> {
        let mut kinds = BTreeMap::new();
        for (_, kind, count) in &self.by_kind {
            *kinds.entry(*kind).or_default() += count;
        }
        kinds
    }

    /// Messages by layer, 0 the topmost.
    pub fn by_layer(&self) -> BTreeMap<u8, u64> {
        let mut layers = BTreeMap::new();
        for (layer, _, count) in &self.by_kind {
            *layers.entry(*layer).or_default() += count;
        }
        layers
    }

    /// Takes in an event.
    #[inline]
    pub fn see<A: Algorithm>(&mut self, now_us: u64, happening: &Happening<'_, A>) {
        match happening {
            Happening::Sent { envelope, layer, carried, .. } => {
                self.events += 1;
                if *carried && !matches!(envelope.body, crate::world::Body::Tell(_)) {
                    self.count(*layer, envelope.body.kind());
                }
            }
            Happening::Input(at, input) => {
                self.events += 1;
                self.mark(*at, A::Family::mark_of_input(input), now_us);
            }
            Happening::Output(at, output) => {
                self.events += 1;
                self.mark(*at, A::Family::mark_of_output(*at, output), now_us);
            }
            Happening::Lost { .. } => {
                self.events += 1;
                self.lost += 1;
            }
            Happening::Accused(..) => {
                self.events += 1;
                self.accusations += 1;
            }
            Happening::TimerFired(ProcessId(0), timer) if A::begins_round(timer) => {
                self.events += 1;
                if let Some(before) = &mut self.round_began {
                    self.round_messages.add(self.messages - *before);
                    *before = self.messages;
                }
            }
            Happening::TimerSet { .. } | Happening::Writing(_) => {}
            Happening::Crashed(at) => {
                self.events += 1;
                // The requests of an application die with its process.
                self.asked[at.index()].clear();
                // A round with a crash in it has fewer messages than the formula says.
                self.round_began = None;
            }
            _ => self.events += 1,
        }
    }

    #[inline]
    fn count(&mut self, layer: u8, kind: &'static str) {
        self.messages += 1;
        // A handful of kinds, each a static string: comparing addresses nearly always suffices.
        for (known_layer, known, count) in &mut self.by_kind {
            if *known_layer == layer && (std::ptr::eq(*known, kind) || *known == kind) {
                *count += 1;
                return;
            }
        }
        self.by_kind.push((layer, kind, 1));
    }

    #[inline]
    fn mark(&mut self, at: ProcessId, mark: Mark, now_us: u64) {
        match mark {
            Mark::Ask => {
                self.requests += 1;
                self.asked[at.index()].push_back((now_us, self.messages));
                self.next_operation(now_us);
            }
            Mark::Begin | Mark::Done => {
                // Only the process that asked is answered; others may get the same output.
                if let Some((asked_us, messages)) = self.asked[at.index()].pop_front() {
                    self.operations += 1;
                    self.entry_us.add(now_us - asked_us);
                    if self.operations > 1 {
                        self.steady_us.add(now_us - asked_us);
                    }
                    self.entry_messages.add(self.messages - messages);
                    // Only a process that waited already when the last one left shows the delay of
                    // a relay.
                    if let Some((left_us, before)) =
                        self.left.take().filter(|(left_us, _)| asked_us < *left_us)
                    {
                        self.relay_us.add(now_us - left_us);
                        self.relay_messages.add(self.messages - before);
                    }
                }
            }
            Mark::End => self.left = Some((now_us, self.messages)),
            // A process may refuse what nobody asked for just now; only open requests are answered.
            Mark::Refused => {
                self.refused += u64::from(self.asked[at.index()].pop_front().is_some());
            }
            Mark::Whole => {
                self.operations += 1;
                self.next_operation(now_us);
            }
            Mark::Reached => {
                if let Some((asked_us, _)) = self.last_ask {
                    self.reach_us.add(now_us - asked_us);
                }
            }
            Mark::None => {}
        }
    }

    fn next_operation(&mut self, now_us: u64) {
        self.exit_is_over();
        if let Some((_, before)) = self.last_ask.replace((now_us, self.messages)) {
            self.operation_had(self.messages - before);
        }
    }

    fn exit_is_over(&mut self) {
        if let Some((_, before)) = self.left {
            self.exit_messages.add(self.messages - before);
        }
    }

    fn operation_had(&mut self, messages: u64) {
        self.operation_messages.add(messages);
        if self.operation_messages.count > 1 {
            self.steady_messages.add(messages);
        }
    }

    /// The run is over: the last operation gets no more messages.
    pub fn finish(&mut self) {
        self.exit_is_over();
        if let Some((_, before)) = self.last_ask.take() {
            self.operation_had(self.messages - before);
        }
    }
}

/// A measured cost, beside its formula.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The cost, from the card.
    pub cost: Cost,
    /// The smallest measured.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// The value of the formula.
    pub expected: Bounds,
}

impl Measured {
    /// Whether every measurement agrees with the formula.
    pub fn agrees(&self) -> bool {
        self.expected.admit(self.min) && self.expected.admit(self.max)
    }
}

/// The conditions of a run, as far as formulas depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// How busy the applications were.
    pub load: Load,
    /// The latency of each message, if it is constant: hops are then counted by time.
    pub hop_us: Option<u64>,
    /// Whether every process asked once, at the same moment.
    pub once_each: bool,
}

/// Every cost on the card that this run measured.
pub fn costs<A: Algorithm>(
    meter: &Meter,
    world: &World<A>,
    conditions: Conditions,
) -> Vec<Measured> {
    if !A::has_costs(world.setup()) {
        return Vec::new();
    }
    let size = world.size();
    let measured = |cost: &Cost| {
        if cost.load != Load::Any && cost.load != conditions.load {
            return None;
        }
        let (min, mean, max) = measure(meter, cost.quantity, conditions)?;
        Some(Measured { cost: *cost, min, mean, max, expected: (cost.expected)(size) })
    };
    let costs = A::kit(world.setup()).card.costs_with(world.setup(), world.multicasts());
    costs.iter().filter_map(measured).collect()
}

fn measure(meter: &Meter, quantity: Quantity, conditions: Conditions) -> Option<(f64, f64, f64)> {
    let all = |summary: &Summary, scale: u64| {
        let scale = scale as f64;
        let mean = summary.mean()? / scale;
        Some((summary.min as f64 / scale, mean, summary.max as f64 / scale))
    };
    match quantity {
        Quantity::MessagesPerOperation if conditions.load == Load::Sequential => {
            all(&meter.operation_messages, 1)
        }
        Quantity::MessagesPerOperation => {
            let mean = meter.messages as f64 / meter.operations as f64;
            (meter.operations > 0).then_some((mean, mean, mean))
        }
        Quantity::KindPerOperation(kind) => {
            let count = meter.by_kind().get(kind).copied().unwrap_or(0);
            let mean = count as f64 / meter.operations as f64;
            (meter.operations > 0).then_some((mean, mean, mean))
        }
        Quantity::MessagesInAll => {
            let all = meter.messages as f64;
            conditions.once_each.then_some((all, all, all))
        }
        Quantity::KindInAll(kind) => {
            let count = meter.by_kind().get(kind).copied().unwrap_or(0) as f64;
            conditions.once_each.then_some((count, count, count))
        }
        Quantity::MessagesPerRound => all(&meter.round_messages, 1),
        Quantity::SteadyMessages => all(&meter.steady_messages, 1),
        Quantity::SteadyHops => all(&meter.steady_us, conditions.hop_us?),
        Quantity::EntryMessages => all(&meter.entry_messages, 1),
        Quantity::EntryHops => all(&meter.entry_us, conditions.hop_us?),
        Quantity::RelayHops => all(&meter.relay_us, conditions.hop_us?),
        Quantity::ReachHops => all(&meter.reach_us, conditions.hop_us?),
    }
}
