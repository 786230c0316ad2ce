//! Consensus: every process proposes a value, and all decide on the same one, once and for all.
//!
//! Three problems are one family, because each can be built from the others: *consensus* proper;
//! *Byzantine generals*, where one process, the commander, proposes; and *interactive consistency*,
//! where all decide on the vector of all proposals. They differ in which values are right, so each
//! has a property of its own, and an algorithm promises those of its problem.
//!
//! Processes may be traitors (the parameter `traitors`): their decisions do not count, and their
//! proposals do not bind them.

mod monitor;
mod value;

pub use monitor::Notary;
pub use value::{Decision, Value};

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::byzantine::traitors;
use crate::card::{Parameter, Rounds};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};

/// The family of consensus algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Consensus;

/// A request of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It proposes a value.
    Propose(Value),
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The decision of this process.
    Decided(Decision),
}

/// No two correct processes decide differently.
pub const AGREEMENT: &str = "agreement";
/// No process decides twice.
pub const ONCE: &str = "once";
/// The decided value is the proposal of some process.
pub const VALIDITY: &str = "validity";
/// If all correct processes propose the same value, that value is decided.
pub const UNANIMITY: &str = "unanimity";
/// If the commander is correct, every correct process decides the commander's value.
pub const OBEDIENCE: &str = "obedience";
/// For each correct process, the vector has the value that it proposed.
pub const CONSISTENCY: &str = "consistency";
/// Every correct process decides in the end.
pub const TERMINATION: &str = "termination";

impl Family for Consensus {
    const NAME: &'static str = "consensus";
    const OPERATION: &'static str = "decision";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: AGREEMENT,
            name: "agreement",
            statement: "no two correct processes decide differently, even if one of them crashes \
                        after that",
        },
        Property { id: ONCE, name: "once", statement: "nobody decides again, and differently" },
        Property {
            id: VALIDITY,
            name: "validity",
            statement: "whatever is decided was proposed by some process",
        },
        Property {
            id: UNANIMITY,
            name: "integrity",
            statement: "if all correct processes propose the same value, then that is decided",
        },
        Property {
            id: OBEDIENCE,
            name: "integrity of generals",
            statement: "if the commander is correct, then every correct process decides on what it \
                        proposed",
        },
        Property {
            id: CONSISTENCY,
            name: "integrity of vectors",
            statement: "the vector that is decided has, for each correct process, what it proposed",
        },
        Property {
            id: TERMINATION,
            name: "termination",
            statement: "if somebody proposes, then every correct process that stays up decides in \
                        the end",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[AGREEMENT, ONCE];
    const LIVENESS: &'static [&'static str] = &[TERMINATION];
    const SPECIAL: &'static [&'static str] = &[VALIDITY, UNANIMITY, OBEDIENCE, CONSISTENCY];

    type Input = Input;
    type Output = Output;
    type Application = Proposer;
    type Monitor = Notary;

    fn pace(Input::Propose(_): &Input) -> Pace {
        Pace::AtOnce
    }

    fn mark_of_input(Input::Propose(_): &Input) -> Mark {
        Mark::Ask
    }

    fn mark_of_output(_at: ProcessId, Output::Decided(_): &Output) -> Mark {
        Mark::Done
    }

    fn input_in_words(Input::Propose(value): &Input) -> String {
        format!("proposes {value}")
    }

    fn output_in_words(Output::Decided(decision): &Output) -> String {
        format!("decides {decision}")
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["proposes", value] => value.parse().ok().map(|value| Input::Propose(Value(value))),
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["proposes 7"];
}

/// The parameter that [`proposals`] reads.
pub const PROPOSALS: Parameter = Parameter {
    name: "proposals",
    meaning: "the value that each process proposes, e.g. 7 4 5 1 3 (default: its number)",
};

/// The parameter that [`proposers`] reads.
pub const PROPOSERS: Parameter = Parameter {
    name: "proposers",
    meaning: "whose applications propose, e.g. p0 p2, or all, or nobody",
};

/// The parameter that [`commander`] reads.
pub const COMMANDER: Parameter =
    Parameter { name: "commander", meaning: "who gives the order (default: p0)" };

/// The proposal of each process, if it proposes.
pub fn proposals(setup: &Setup) -> Result<Vec<Value>, SetupError> {
    let numbers = setup.number_each(PROPOSALS.name)?;
    let numbers = numbers.unwrap_or_else(|| (0..setup.n as u64).collect());
    Ok(numbers.into_iter().map(Value).collect())
}

/// The processes whose applications propose; all of them by default. An algorithm with another
/// default says so in [`Algorithm::takes_part`](crate::Algorithm::takes_part).
pub fn proposers(setup: &Setup) -> Result<Option<ProcessSet>, SetupError> {
    match setup.text(PROPOSERS.name) {
        Some("nobody") => Ok(Some(ProcessSet::EMPTY)),
        Some("all") => Ok(Some(ProcessSet::all(setup.n))),
        _ => Ok(setup.processes(PROPOSERS.name)?.map(|named| named.into_iter().collect())),
    }
}

/// The process that gives the order, where only one process proposes.
pub fn commander(setup: &Setup) -> Result<ProcessId, SetupError> {
    setup.process(COMMANDER.name, ProcessId(0))
}

/// An application that proposes its value, once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proposer {
    value: Value,
    left: Rounds,
}

impl Application for Proposer {
    type Family = Consensus;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let values = proposals(setup).expect("the algorithm has accepted the proposals");
        let left = if rounds.are_left() { Rounds::Times(1) } else { rounds };
        Proposer { value: values[me.index()], left }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.left.are_left() {
            offer(Input::Propose(self.value));
        }
    }

    fn on_input(&mut self, Input::Propose(_): &Input) {
        self.left.use_one();
    }

    /// A process that has decided has no use for a proposal.
    fn on_output(&mut self, Output::Decided(_): &Output, _moment: Moment<'_>) -> Option<Input> {
        self.left = Rounds::Times(0);
        None
    }

    fn on_crash(&mut self) {}
}

/// The processes that keep to the algorithm, though they may crash.
pub(crate) fn loyal(setup: &Setup) -> ProcessSet {
    let traitors = traitors(setup).expect("the algorithm has accepted the traitors");
    ProcessId::all(setup.n).filter(|at| !traitors.contains(*at)).collect()
}
