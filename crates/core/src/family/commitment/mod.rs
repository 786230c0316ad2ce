//! Atomic commitment: a transaction takes effect everywhere or nowhere.
//!
//! The application of one process, the coordinator, asks to commit; the applications of the others,
//! the participants, vote; and all learn the same outcome. The properties are those of Bernstein,
//! Hadzilacos and Goodman (Concurrency control and recovery in database systems, 1987, chapter 7),
//! where AC5 here is their non-blocking property, and their AC5 is called AC5-repaired.

mod monitor;

pub use monitor::Registrar;

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::{Parameter, Rounds};
use crate::process::ProcessId;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The family of atomic commitment protocols.
#[derive(Clone, Copy, Debug)]
pub struct Commitment;

/// The number of a transaction. The application that asks to commit counts them.
pub type Transaction = u32;

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It takes effect.
    Commit,
    /// It has no effect.
    Abort,
}

/// A request of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The coordinator's application wants a transaction to be committed.
    Commit(Transaction),
    /// A participant's application votes: it can make the transaction take effect even after a
    /// crash, or not.
    Vote(Transaction, Vote),
}

/// Whether a transaction may be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Vote {
    /// It may.
    Yes,
    /// It must not.
    No,
}

/// An output to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The participant's application must vote.
    Asked(Transaction),
    /// The participant has promised to commit, and does not know the outcome. Its application
    /// learns this when the promise is safe on disk, and again after a crash.
    InDoubt(Transaction),
    /// The participant's application learns the outcome.
    Learned(Transaction, Outcome),
    /// The coordinator's application learns the outcome.
    Answered(Transaction, Outcome),
}

/// All processes that decide decide the same.
pub const AC1: &str = "AC1";
/// No process decides twice.
pub const AC2: &str = "AC2";
/// Commit only if all voted yes.
pub const AC3: &str = "AC3";
/// Commit if all vote yes and no fault occurs.
pub const AC4: &str = "AC4";
/// Every living process decides, even while others are down.
pub const AC5: &str = "AC5";
/// Every process decides once all faults are repaired.
pub const AC5_REPAIRED: &str = "AC5-repaired";

impl Family for Commitment {
    const NAME: &'static str = "atomic commitment";
    const OPERATION: &'static str = "transaction";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: AC1,
            name: "agreement",
            statement: "no two processes decide differently about a transaction, crashed ones \
                        included",
        },
        Property {
            id: AC2,
            name: "irrevocability",
            statement: "no process decides first one way about a transaction and then the other, \
                        crash or not",
        },
        Property {
            id: AC3,
            name: "commit validity",
            statement: "a transaction is committed only if all participants voted yes",
        },
        Property {
            id: AC4,
            name: "abort validity",
            statement: "as long as nobody crashes and no link is cut, a transaction that nobody \
                        votes against is not aborted",
        },
        Property {
            id: AC5,
            name: "non-blocking",
            statement: "whoever is up and has asked to commit, or promised to, learns the outcome, \
                        whoever else is down",
        },
        Property {
            id: AC5_REPAIRED,
            name: "termination",
            statement: "once everybody is up and every link works, whoever has asked to commit, or \
                        promised to, learns the outcome",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[AC1, AC2, AC3];
    const LIVENESS: &'static [&'static str] = &[AC5, AC5_REPAIRED];

    type Input = Input;
    type Output = Output;
    type Application = Party;
    type Monitor = Registrar;

    fn pace(input: &Input) -> Pace {
        match input {
            Input::Commit(_) => Pace::Think,
            Input::Vote(..) => Pace::AtOnce,
        }
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Commit(_) => Mark::Ask,
            Input::Vote(..) => Mark::None,
        }
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Asked(_) | Output::InDoubt(_) => Mark::None,
            Output::Learned(..) => Mark::Reached,
            Output::Answered(..) => Mark::Done,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Commit(transaction) => format!("wants {transaction}"),
            Input::Vote(transaction, Vote::Yes) => format!("votes yes on {transaction}"),
            Input::Vote(transaction, Vote::No) => format!("votes no on {transaction}"),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Asked(transaction) => format!("is asked about {transaction}"),
            Output::InDoubt(transaction) => format!("is in doubt about {transaction}"),
            Output::Learned(transaction, Outcome::Commit)
            | Output::Answered(transaction, Outcome::Commit) => format!("commits {transaction}"),
            Output::Learned(transaction, Outcome::Abort)
            | Output::Answered(transaction, Outcome::Abort) => format!("aborts {transaction}"),
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["wants", transaction] => Some(Input::Commit(transaction.parse().ok()?)),
            ["votes", "yes", "on", transaction] => {
                Some(Input::Vote(transaction.parse().ok()?, Vote::Yes))
            }
            ["votes", "no", "on", transaction] => {
                Some(Input::Vote(transaction.parse().ok()?, Vote::No))
            }
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] = &["wants 1", "votes yes on 1", "votes no on 1"];
}

/// The parameter that [`coordinator`] reads.
pub const COORDINATOR: Parameter =
    Parameter { name: "coordinator", meaning: "who coordinates, e.g. p1 (default: p0)" };

/// The parameter that [`votes`] reads.
pub const VOTES: Parameter = Parameter {
    name: "votes",
    meaning: "how each process votes: yes, no, or either; e.g. yes yes no, or one word for all (what \
              is said of the coordinator does not matter; default: yes)",
};

/// The coordinator.
pub fn coordinator(setup: &Setup) -> Result<ProcessId, SetupError> {
    setup.process("coordinator", ProcessId(0))
}

/// How each process votes.
pub fn votes(setup: &Setup) -> Result<Vec<Opinion>, SetupError> {
    let text = setup.text("votes").unwrap_or("yes");
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let opinions = words
        .map(|word| Opinion::from_word(word).ok_or_else(|| setup.bad("votes", "yes, no or either")))
        .collect::<Result<Vec<_>, _>>()?;
    match opinions.len() {
        1 => Ok(vec![opinions[0]; setup.n]),
        given if given == setup.n => Ok(opinions),
        given => Err(setup.bad("votes", format!("{given} votes for {} processes", setup.n))),
    }
}

/// How an application votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opinion {
    /// Always the same.
    Always(Vote),
    /// Sometimes yes, sometimes no.
    Either,
}

impl Opinion {
    fn from_word(word: &str) -> Option<Opinion> {
        match word {
            "yes" => Some(Opinion::Always(Vote::Yes)),
            "no" => Some(Opinion::Always(Vote::No)),
            "either" => Some(Opinion::Either),
            _ => None,
        }
    }
}

/// An application that asks to commit transactions, one after the other, and votes when asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Party {
    opinion: Opinion,
    waits: bool,
    left: Rounds,
    next: Transaction,
    /// The transactions that await its vote.
    asked: SmallVec<[Transaction; 2]>,
}

impl Application for Party {
    type Family = Commitment;

    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let votes = votes(setup).expect("the algorithm has accepted the votes");
        let opinion = votes[me.index()];
        Party { opinion, waits: false, left: rounds, next: 1, asked: SmallVec::new() }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        for transaction in &self.asked {
            for vote in [Vote::Yes, Vote::No] {
                offer(Input::Vote(*transaction, vote));
            }
        }
        if !self.waits && self.left.are_left() {
            offer(Input::Commit(self.next));
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Commit(transaction) => {
                self.waits = true;
                self.left.use_one();
                // A number is never used twice, even after a crash; the number of an operator's
                // transaction counts, too.
                self.next = self.next.max(transaction.saturating_add(1));
            }
            Input::Vote(transaction, _) => self.asked.retain(|asked| asked != transaction),
        }
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match (output, self.opinion) {
            (Output::Asked(transaction), Opinion::Always(vote)) => {
                return Some(Input::Vote(*transaction, vote));
            }
            (Output::Asked(transaction), Opinion::Either) => {
                if !self.asked.contains(transaction) {
                    self.asked.push(*transaction);
                }
            }
            (Output::InDoubt(_), _) => {}
            (Output::Learned(transaction, _), _) => self.asked.retain(|t| t != transaction),
            (Output::Answered(..), _) => self.waits = false,
        }
        None
    }

    fn on_crash(&mut self) {
        self.waits = false;
        self.asked.clear();
    }
}
