//! Generalized consensus: all learn the same history of commands, as far as their order matters.
//!
//! Consensus about one value after the other orders even commands whose order has no effect. Here
//! every process learns a growing *history*, and two processes may learn commands in different
//! orders if these commute: see [`History`].

mod history;
mod monitor;

pub use history::{Command, History};
pub use monitor::Archivist;

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::{Parameter, Rounds};
use crate::process::ProcessId;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};

/// The family of generalized consensus.
#[derive(Clone, Copy, Debug)]
pub struct GeneralizedConsensus;

/// A request of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It proposes a command.
    Propose(Command),
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The history learned so far: the one before, and more.
    Learned(History),
}

/// The histories of any two processes have a common extension.
pub const COMPATIBLE: &str = "compatible";
/// A learned history only grows.
pub const GROWING: &str = "growing";
/// Only proposed commands are learned.
pub const NONTRIVIAL: &str = "nontrivial";
/// Every proposed command is learned.
pub const LEARNING: &str = "learning";

impl Family for GeneralizedConsensus {
    const NAME: &'static str = "generalized consensus";
    const OPERATION: &'static str = "command";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: COMPATIBLE,
            name: "agreement",
            statement: "whatever two processes have learned, there is a history that continues both",
        },
        Property {
            id: GROWING,
            name: "stability",
            statement: "what a process learns continues what it learned before",
        },
        Property {
            id: NONTRIVIAL,
            name: "validity",
            statement: "every command that is learned was proposed",
        },
        Property {
            id: LEARNING,
            name: "liveness",
            statement: "every command that a process proposes that stays up is learned in the end by \
                        all that stay up",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[COMPATIBLE, GROWING];
    const LIVENESS: &'static [&'static str] = &[LEARNING];

    type Input = Input;
    type Output = Output;
    type Application = Client;
    type Monitor = Archivist;

    fn pace(Input::Propose(_): &Input) -> Pace {
        Pace::AtOnce
    }

    fn mark_of_input(Input::Propose(_): &Input) -> Mark {
        Mark::Ask
    }

    /// An operation is over when its own command is learned where it was proposed.
    fn mark_of_output(at: ProcessId, Output::Learned(history): &Output) -> Mark {
        match history.commands().iter().any(|command| command.of == at) {
            true => Mark::Done,
            false => Mark::None,
        }
    }

    fn input_in_words(Input::Propose(command): &Input) -> String {
        format!("proposes {command:?}")
    }

    fn output_in_words(Output::Learned(history): &Output) -> String {
        format!("learns {history:?}")
    }

    /// A command is written with its owner: `p0 proposes p0:w1`.
    fn input_from_words(words: &[&str]) -> Option<Input> {
        let ["proposes", word] = words else { return None };
        let (of, command) = word.split_once(':')?;
        let of = ProcessId(of.strip_prefix('p')?.parse().ok()?);
        Command::from_word(of, command).map(Input::Propose)
    }

    const PHRASES: &'static [&'static str] = &["proposes p0:w1"];
}

/// The parameter that [`commands`] reads.
pub const COMMANDS: Parameter = Parameter {
    name: "commands",
    meaning: "what each process proposes: w0 writes key 0, r0 reads it, - is nothing (default: w0 for \
              all)",
};

/// The command of each process, if it proposes one.
pub fn commands(setup: &Setup) -> Result<Vec<Option<Command>>, SetupError> {
    let Some(text) = setup.text(COMMANDS.name) else {
        let write = |of| Some(Command { of, key: 0, writes: true });
        return Ok(ProcessId::all(setup.n).map(write).collect());
    };
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    if words.len() != setup.n {
        let why = format!("{} commands for {} processes", words.len(), setup.n);
        return Err(setup.bad(COMMANDS.name, why));
    }
    let command = |(of, word): (ProcessId, &str)| match (word, Command::from_word(of, word)) {
        ("-", _) => Ok(None),
        (_, Some(command)) => Ok(Some(command)),
        (_, None) => {
            Err(setup.bad(COMMANDS.name, format!("'{word}' is no command; one is w0, r0 or -")))
        }
    };
    ProcessId::all(setup.n).zip(words).map(command).collect()
}

/// An application that proposes its command, once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    command: Option<Command>,
}

impl Application for Client {
    type Family = GeneralizedConsensus;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let all = commands(setup).expect("the algorithm has accepted the commands");
        Client { command: all[me.index()].filter(|_| rounds.are_left()) }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        self.command.map(Input::Propose).into_iter().for_each(offer);
    }

    fn on_input(&mut self, Input::Propose(_): &Input) {
        self.command = None;
    }

    fn on_output(&mut self, Output::Learned(_): &Output, _moment: Moment<'_>) -> Option<Input> {
        None
    }

    fn on_crash(&mut self) {}
}
