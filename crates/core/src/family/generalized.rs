//! Generalized consensus: all learn the same history of commands, as far as their order matters.
//!
//! Consensus about one value after the other fixes an order for commands that nobody cares about.
//! Here everybody learns a growing *history*, and two may learn commands in different orders if these
//! commute: see [`History`].

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

/// What the application may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It proposes a command.
    Propose(Command),
}

/// What it is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// This is learned now: all that was before, and more.
    Learned(History),
}

/// What two have learned can be continued to the same.
pub const COMPATIBLE: &str = "compatible";
/// What is learned is never unlearned.
pub const GROWING: &str = "growing";
/// Only what was proposed is learned.
pub const NONTRIVIAL: &str = "nontrivial";
/// What is proposed is learned.
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

/// What each process proposes, if anything.
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

    fn offers(&self, offers: &mut Vec<Input>) {
        offers.extend(self.command.map(Input::Propose));
    }

    fn on_input(&mut self, Input::Propose(_): &Input) {
        self.command = None;
    }

    fn on_output(&mut self, Output::Learned(_): &Output, _moment: Moment<'_>) -> Option<Input> {
        None
    }

    fn on_crash(&mut self) {}
}
