//! Many services on one group: pools of slots and named groups, told apart by tags.
//!
//! One engine serves them all, so a node sends one heartbeat however many pools it has. The monitor
//! judges each pool for itself, by the properties of [`Allocation`], and that no service hears a
//! message of another one.

mod application;
mod monitor;
mod words;

pub use application::Tenants;
pub use monitor::Landlords;

use super::slots::{self, PI1, PI2, PI4, PI15};
use super::{Allocation, Family, Mark, Pace, Property};
use crate::card::Parameter;
use crate::group::{Level, Member, ViewId};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The family of nodes that offer several services.
#[derive(Clone, Copy, Debug)]
pub struct Services;

/// The name of a service in multicasts. A registry gives each tag out once, and never again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tag(pub u32);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The settings of a pool, the same at all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolSettings {
    /// The number of slots.
    pub slots: u32,
    /// The time for which a released slot rests, in milliseconds.
    pub cooldown_ms: u64,
    /// The greatest number of slots that a node may use.
    pub cap: u32,
    /// The number of free slots that a node keeps at hand; 0: as its claims demand.
    pub stock: u32,
    /// The member that owns all slots at first, in this life only. Without a founder the slots are
    /// given out once every node is accounted for.
    pub founder: Option<Member>,
}

impl PoolSettings {
    /// A pool of this size without a founder, with every other setting at its default.
    pub const fn of(slots: u32) -> Self {
        PoolSettings { slots, cooldown_ms: 0, cap: u32::MAX, stock: 0, founder: None }
    }
}

/// What a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Definition {
    /// A pool of slots.
    Pool(PoolSettings),
    /// A group whose members cast messages to each other.
    Group,
}

impl Definition {
    /// The member that owns all slots at first.
    pub fn founder(&self) -> Option<Member> {
        match self {
            Definition::Pool(settings) => settings.founder,
            Definition::Group => None,
        }
    }
}

/// A request of the application at a node, or of the registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The registry tells that this service exists.
    Open(Tag, Definition),
    /// The registry tells that this service is deleted. Its tag is never used again.
    Close(Tag),
    /// The registry tells that these nodes exist. Nodes that are known stay known.
    Nodes(ProcessSet),
    /// The registry certifies that this node is dead for good: no life of it will meet another
    /// node. The set has all nodes that the registry knew at that moment.
    Forget(ProcessId, ProcessSet),
    /// A request to a pool.
    Pool(Tag, slots::Input),
    /// A message to all members of a group.
    Cast(Tag, Level, Vec<u8>),
    /// The node leaves: its pools hand their slots over first.
    Leave,
}

/// An output to the application at a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// These nodes reach each other from now on.
    View(ViewId, Vec<Member>),
    /// The service is open at this node.
    Opened(Tag),
    /// The service is closed, and every claim in it is void.
    Closed(Tag),
    /// The node has no service of this tag, or not yet.
    Unknown(Tag),
    /// An output of a pool.
    Pool(Tag, slots::Output),
    /// A member of a group said this.
    Heard(Tag, Member, Vec<u8>),
    /// The message was not cast: the engine has no room for it now.
    Full(Tag),
    /// The membership is lost, and with it all claims.
    Lost,
}

/// A service hears only what was said to it.
pub const OWN: &str = "own";

/// The parameter for the number of services.
pub const POOLS: Parameter =
    Parameter { name: "pools", meaning: "how many pools the nodes open (default: 2)" };
/// The parameter for the size of each pool.
pub const SLOTS: Parameter =
    Parameter { name: "slots", meaning: "how many slots each pool has (default: 8)" };
/// The parameter for the stock of each pool.
pub const STOCK: Parameter = Parameter {
    name: "stock",
    meaning: "how many free slots a member keeps (default: as its claims demand)",
};
/// The parameter for a group beside the pools.
pub const SAYS: Parameter = Parameter {
    name: "says",
    meaning: "how many messages each node casts in a group beside the pools (default: 0)",
};

/// The parameter for the founder of each pool.
pub const FOUNDER: Parameter = Parameter {
    name: "founder",
    meaning: "the node whose first life owns all slots of each pool at first, e.g. p1 (default: none; \
              the slots are given out when all nodes are together)",
};
/// The parameter for services that need not be opened.
pub const OPENED: Parameter = Parameter {
    name: "opened",
    meaning: "yes: every node knows all services from the beginning; no (default): each application \
              opens them",
};
/// The parameter for nodes that are added later.
pub const ADDED: Parameter = Parameter {
    name: "added",
    meaning: "nodes that only themselves know at first, e.g. p3 (default: none)",
};

/// The services that applications open, in the order of their tags.
pub fn definitions(setup: &Setup) -> Result<Vec<Definition>, SetupError> {
    let number =
        |parameter: Parameter, default, most| match setup.number(parameter.name, default)? {
            number if number <= most => Ok(number as u32),
            _ => Err(setup.bad(parameter.name, format!("it is a number up to {most}"))),
        };
    let founder = setup.text(FOUNDER.name).map(|word| setup.parse_process(FOUNDER.name, word));
    let first_life = |node| Member { node, incarnation: 1 };
    let pools = number(POOLS, 2, 1_000)?;
    let settings = PoolSettings {
        stock: number(STOCK, 0, u64::from(u32::MAX))?,
        founder: founder.transpose()?.map(first_life),
        ..PoolSettings::of(number(SLOTS, 8, 1 << 24)?)
    };
    if settings.slots == 0 {
        return Err(setup.bad(SLOTS.name, "a pool has at least one slot"));
    }
    let group = (number(SAYS, 0, 1_000)? > 0).then_some(Definition::Group);
    Ok((0..pools).map(|_| Definition::Pool(settings)).chain(group).collect())
}

/// Whether every node knows all services from the beginning.
pub fn are_opened(setup: &Setup) -> Result<bool, SetupError> {
    Ok(setup.choice(OPENED.name, &["no", "yes"])? == "yes")
}

/// The nodes that only themselves know at first.
pub fn added(setup: &Setup) -> Result<ProcessSet, SetupError> {
    let added = setup.processes(ADDED.name)?;
    Ok(added.into_iter().flatten().collect())
}

impl Family for Services {
    const NAME: &'static str = "services";
    const OPERATION: &'static str = "claim";
    const PROPERTIES: &'static [Property] = &[
        Allocation::PROPERTIES[0],
        Allocation::PROPERTIES[1],
        Allocation::PROPERTIES[2],
        Allocation::PROPERTIES[3],
        Allocation::PROPERTIES[4],
        Property {
            id: OWN,
            name: "own messages",
            statement: "a group hears only what one of its members cast in it, and each cast at most \
                        once",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[PI1, OWN];
    const LIVENESS: &'static [&'static str] = &[PI2, PI4, PI15];
    const RUN_FOR_MS: u64 = 2_000;

    type Input = Input;
    type Output = Output;
    type Application = Tenants;
    type Monitor = Landlords;

    fn pace(input: &Input) -> Pace {
        match input {
            Input::Open(..) => Pace::AtOnce,
            Input::Pool(_, input) => Allocation::pace(input),
            _ => Pace::Think,
        }
    }

    fn is_order(input: &Input) -> bool {
        match input {
            Input::Pool(_, input) => Allocation::is_order(input),
            _ => true,
        }
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Pool(_, input) => Allocation::mark_of_input(input),
            _ => Mark::None,
        }
    }

    fn mark_of_output(at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Pool(_, output) => Allocation::mark_of_output(at, output),
            _ => Mark::None,
        }
    }

    fn input_in_words(input: &Input) -> String {
        words::of_input(input)
    }

    fn output_in_words(output: &Output) -> String {
        words::of_output(output)
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        words::to_input(words)
    }

    const PHRASES: &'static [&'static str] = &[
        "opens #0 pool 8",
        "opens #2 group",
        "closes #0",
        "#0 claims",
        "#0 claims s3",
        "#0 releases s3 1.2",
        "#2 casts 6869",
        "knows p1 p2",
        "forgets p3 of p1 p2 p3",
        "leaves",
    ];
}
