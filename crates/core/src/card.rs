//! The card of an algorithm: its source, promises, assumptions and costs, as data.

mod cost;
mod larger;
mod rule;

pub use cost::{Bounds, Cost, Load, OtherCosts, Quantity, Size};
pub use larger::Larger;
pub use rule::{Rule, Trigger};

use crate::setup::Setup;
use serde::{Deserialize, Serialize};

/// One algorithm, on a card. Build it from [`Card::BLANK`].
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name used everywhere: `ricart-agrawala`.
    pub name: &'static str,
    /// Other names that people use.
    pub aliases: &'static [&'static str],
    /// The name in a sentence.
    pub title: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// The idea, in one or two sentences.
    pub idea: &'static str,
    /// The rules in words, each with the events that it belongs to.
    pub rules: &'static [Rule],
    /// Its assumptions about the world, in words.
    pub assumes: &'static [&'static str],
    /// The same for drivers: the faults that break no promise.
    pub tolerates: Tolerance,
    /// The properties that it guarantees under these assumptions, by id.
    pub promises: &'static [&'static str],
    /// For each promise about the end: a bound on the time until it has come true.
    pub deadlines: &'static [Deadline],
    /// Other settings of its parameters, with other tolerances or promises.
    pub variants: &'static [Variant],
    /// The small worlds that were explored to the end, and in which every promise holds. Empty: the
    /// usual ones, see [`Card::proved()`].
    pub proved: &'static [Scope],
    /// The number, from 0, of the world in [`Card::proved()`] that `synod check` explores if no
    /// flag says which. None: three processes (or the smallest group), one round each, no faults.
    pub usual: Option<usize>,
    /// Larger worlds, explored to the end once, and what that took.
    pub larger: &'static [Larger],
    /// Properties that it does not have, or loses when an assumption breaks, and how to see it.
    pub counterexamples: &'static [Counterexample],
    /// Its costs, as formulas.
    pub costs: &'static [Cost],
    /// Its costs in other settings: each replaces the one of the same name, or is one more.
    pub other_costs: &'static [OtherCosts],
    /// Its parameters, set before the start.
    pub parameters: &'static [Parameter],
    /// The faults that the algorithm models by itself, if it does.
    pub own_faults: Option<OwnFaults>,
    /// The layers it is made of, top first. Empty if there is only one.
    pub layers: &'static [&'static str],
    /// The smallest group that makes sense.
    pub smallest: usize,
    /// Whether it goes on sending although no application asks.
    pub restless: bool,
    /// Whether it is made for a network that carries a multicast once for all receivers. Its costs
    /// are those over such a network.
    pub multicast: bool,
    /// Set if it is broken on purpose.
    pub mutant: Option<Mutant>,
    /// The flags of `synod run` with which a mutant fails with good probability, while the sound
    /// algorithm holds. Empty: the usual ones.
    pub fails_with: &'static str,
}

impl Card {
    /// An empty card, to be filled in: `Card { name: "…", ..Card::BLANK }`.
    pub const BLANK: Card = Card {
        name: "",
        aliases: &[],
        title: "",
        source: Source { author: "", year: 0, work: "" },
        idea: "",
        rules: &[],
        assumes: &[],
        tolerates: Tolerance::NOTHING,
        promises: &[],
        deadlines: &[],
        variants: &[],
        proved: &[],
        usual: None,
        larger: &[],
        counterexamples: &[],
        costs: &[],
        other_costs: &[],
        parameters: &[],
        own_faults: None,
        layers: &[],
        smallest: 1,
        restless: false,
        multicast: false,
        mutant: None,
        fails_with: "",
    };

    /// The small worlds in which every promise was proved. If the card names none: groups of up to
    /// three that ask once each, without faults, over links that reorder if the card tolerates it.
    pub fn proved(&self) -> Vec<Scope> {
        let usual = |n| Scope { order: self.tolerates.order, ..Scope::of(n) };
        match self.proved {
            [] => (self.smallest..=3).map(usual).collect(),
            scopes => scopes.to_vec(),
        }
    }

    /// The faults that a group with this setup tolerates.
    pub fn tolerates_with(&self, setup: &Setup) -> Tolerance {
        self.variant(setup).map_or(self.tolerates, |variant| variant.tolerates)
    }

    /// The properties that a group with this setup guarantees.
    pub fn promises_with(&self, setup: &Setup) -> &'static [&'static str] {
        self.variant(setup).map_or(self.promises, |variant| variant.promises)
    }

    /// The faults that a group with this setup models by itself.
    pub fn own_faults_with(&self, setup: &Setup) -> Option<OwnFaults> {
        self.own_faults.filter(|own| setup.has_all(own.set))
    }

    /// The costs of a group with this setup, over a network that carries a multicast once for all
    /// receivers, or once for each.
    pub fn costs_with(&self, setup: &Setup, multicast: bool) -> Vec<Cost> {
        let mut costs = self.costs.to_vec();
        let fits = |other: &&OtherCosts| {
            setup.has_all(other.set) && (!other.multicast || multicast || self.multicast)
        };
        for cost in self.other_costs.iter().filter(fits).flat_map(|other| other.costs) {
            match costs.iter_mut().find(|known| known.name == cost.name) {
                Some(known) => *known = *cost,
                None => costs.push(*cost),
            }
        }
        costs
    }

    /// The settings in which its costs are measured: the usual one, and those of other costs.
    pub fn cost_settings(&self) -> Vec<Settings> {
        let others = self.other_costs.iter().map(|other| other.set);
        let mut settings: Vec<Settings> = Vec::new();
        for set in [&[] as Settings].into_iter().chain(others) {
            if !settings.contains(&set) {
                settings.push(set);
            }
        }
        settings
    }

    fn variant(&self, setup: &Setup) -> Option<&'static Variant> {
        self.variants.iter().find(|variant| setup.has_all(variant.set))
    }

    /// Whether the card states that a property holds, or that it does not.
    pub fn speaks_of(&self, property: &str) -> bool {
        self.promises.contains(&property)
            || self.variants.iter().any(|variant| variant.promises.contains(&property))
            || self.counterexamples.iter().any(|found| found.property == property)
    }

    /// The world that `synod check` explores if no flag says which, if the card names one.
    pub fn usual_world(&self) -> Option<Scope> {
        self.usual.filter(|_| self.mutant.is_none()).map(|number| self.proved()[number])
    }

    /// The counterexample that shows what a mutant breaks; none if this is no mutant.
    pub fn failure(&self) -> Option<&'static Counterexample> {
        let breaks = self.mutant?.breaks;
        self.counterexamples.iter().find(|known| known.property == breaks)
    }

    /// The rules that belong to an event of this kind, each with its number on the card, from 1.
    pub fn rules_on(&self, trigger: Trigger<'_>) -> Vec<(usize, &'static Rule)> {
        let numbered = (1..).zip(self.rules);
        numbered.filter(|(_, rule)| rule.triggers().contains(&trigger)).collect()
    }

    /// Whether the card is known under this name.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// Where an algorithm comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The authors.
    pub author: &'static str,
    /// The year of publication.
    pub year: u16,
    /// Where it was published.
    pub work: &'static str,
}

/// A version that is broken on purpose, to be refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// The name of the algorithm that it spoils.
    pub of: &'static str,
    /// The change, in words.
    pub change: &'static str,
    /// The property that it breaks, by id. One of its counterexamples shows it.
    pub breaks: &'static str,
}

/// Parameters set to values: name and value.
pub type Settings = &'static [(&'static str, &'static str)];

/// The tolerance and promises of an algorithm with some of its parameters set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The parameters: `[("over", "basic")]`.
    pub set: Settings,
    /// The faults that it tolerates then.
    pub tolerates: Tolerance,
    /// The properties that it guarantees then, by id.
    pub promises: &'static [&'static str],
}

/// A bound on the time until a promise about the end has come true, and stays true.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The property, by id.
    pub property: &'static str,
    /// The bound for a group with this setup; none if there is no bound.
    pub calm: fn(&Setup) -> Option<Calm>,
}

/// A period of calm: no process crashes, starts again, pauses or leaves, no link changes, and no
/// message is lost or late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calm {
    /// A message is late if it takes this long or longer, in milliseconds.
    pub delay_ms: u64,
    /// The promise has come true after a calm of this length, in milliseconds.
    pub within_ms: u64,
}

/// The faults that break no promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tolerance {
    /// The weakest order of delivery that it copes with.
    pub order: Order,
    /// How many processes may crash for good, also in the middle of a step.
    pub crashes: Crashes,
    /// Whether any process may crash at any time, again and again, if it starts again with its
    /// disk.
    pub recovery: bool,
    /// Whether messages may be lost.
    pub loss: bool,
    /// Whether messages may arrive twice.
    pub duplication: bool,
    /// If no message may take longer than this, in milliseconds; None if it may take any time.
    pub delay_ms: Option<u64>,
}

impl Tolerance {
    /// Reordered messages, and no other fault.
    pub const NOTHING: Tolerance = Tolerance {
        order: Order::Any,
        crashes: Crashes::None,
        recovery: false,
        loss: false,
        duplication: false,
        delay_ms: None,
    };
}

/// How many processes may crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Crashes {
    /// None.
    None,
    /// One.
    One,
    /// Fewer than a third.
    Third,
    /// Fewer than half.
    Minority,
    /// All but one.
    AllButOne,
}

impl Crashes {
    /// The number of crashes among `n` processes.
    pub fn among(self, n: usize) -> usize {
        match self {
            Crashes::None => 0,
            Crashes::One => n.saturating_sub(1).min(1),
            Crashes::Third => n.saturating_sub(1) / 3,
            Crashes::Minority => n.saturating_sub(1) / 2,
            Crashes::AllButOne => n.saturating_sub(1),
        }
    }
}

/// A parameter that may be set before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means, with an example and the default.
    pub meaning: &'static str,
}

/// Faults that the algorithm models with moves of its own, counted by its parameters, instead of
/// faults of the world. A group with these parameters set meets no other faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OwnFaults {
    /// The parameters that switch them on: `[("engine", "abstract")]`.
    pub set: Settings,
    /// The parameters that bound each kind of fault; 0 if they are not set.
    pub budgets: &'static [&'static str],
}

/// A property that fails, and a scope in which the explorer finds the shortest history.
#[derive(Clone, Copy, Debug)]
pub struct Counterexample {
    /// The property, by id.
    pub property: &'static str,
    /// The world in which the explorer finds it.
    pub scope: Scope,
    /// The length of the shortest history, in steps.
    pub steps: usize,
    /// The history, in words.
    pub story: &'static str,
}

/// A small world to be explored: its processes, their requests, and its fault budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// The number of processes.
    pub n: usize,
    /// How often each process asks.
    pub rounds: Rounds,
    /// In which order messages may arrive.
    pub order: Order,
    /// How many messages the applications may send each other, outside the algorithm.
    pub tells: u32,
    /// How many processes may crash.
    pub crashes: u32,
    /// How many crashed processes may start again, with their disk.
    pub restarts: u32,
    /// How many messages may be lost.
    pub drops: u32,
    /// How many messages may arrive twice.
    pub duplicates: u32,
    /// How many milliseconds may pass (0: time stands still). Not counted if messages have a bound.
    pub ticks: u32,
    /// How time goes.
    pub timing: Timing,
    /// How many messages may take longer than the bound of a synchronous system.
    pub late: u32,
    /// The algorithm's parameters.
    pub set: Settings,
}

impl Scope {
    /// `n` processes that ask once each, over reliable links that reorder; without faults.
    pub const fn of(n: usize) -> Scope {
        Scope {
            n,
            rounds: Rounds::Times(1),
            order: Order::Any,
            tells: 0,
            crashes: 0,
            restarts: 0,
            drops: 0,
            duplicates: 0,
            ticks: 0,
            timing: Timing::Asynchronous,
            late: 0,
            set: &[],
        }
    }
}

/// The assumptions about time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Timing {
    /// None: a timer may expire, and a message arrive, at any time.
    #[default]
    Asynchronous,
    /// Clocks run alike, and every message arrives within a bound.
    Synchronous {
        /// The bound, in milliseconds.
        delay_ms: u64,
    },
}

/// How often an application asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rounds {
    /// A fixed number of times.
    Times(u32),
    /// Again and again.
    Forever,
}

impl Rounds {
    /// Whether the application may ask once more.
    pub fn are_left(self) -> bool {
        self != Rounds::Times(0)
    }

    /// Counts one request.
    pub fn use_one(&mut self) {
        if let Rounds::Times(left) = self {
            *left = left.saturating_sub(1);
        }
    }
}

/// In which order a network delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Order {
    /// In any order.
    #[default]
    Any,
    /// On each link in the order of sending.
    Fifo,
    /// A message never arrives before one that was sent causally earlier to the same process.
    Causal,
}
