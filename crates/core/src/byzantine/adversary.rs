//! The conduct of a traitor: its messages instead of the algorithm's.

use crate::card::Parameter;
use crate::family::consensus::Value;
use crate::process::ProcessId;
use crate::protocol::Wire;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parameter that names the adversary.
pub const ADVERSARY: Parameter = Parameter {
    name: "adversary",
    meaning: "what traitors do: silent (default), equivocating (one thing to the first half, another \
              to the others), odd-liar (one thing to odd processes, another to even ones), replaying \
              (old messages now and then), random (anything), scripted",
};

/// The parameter for the values of lies.
pub const LIES: Parameter = Parameter {
    name: "lies",
    meaning: "the values that traitors lie about; the first for odd processes (default: 1 0)",
};

/// The parameter for a traitor that follows a script.
pub const SCRIPT: Parameter = Parameter {
    name: "script",
    meaning: "scripted traitors: to whom they say what, message by message, the last word again and \
              again, e.g. 'p1:7 p2:truth p2:silence' (default: the truth)",
};

/// The number of messages that a traitor remembers for replay.
const MEMORY: usize = 4;

/// Decides the messages of a traitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Adversary<M> {
    conduct: Conduct,
    lies: Vec<Value>,
    /// The last messages it saw, oldest first; kept only for replay.
    seen: Vec<M>,
}

/// The kind of traitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Conduct {
    Silent,
    Equivocating { half: u32 },
    OddLiar,
    Replaying,
    Random,
    Scripted(BTreeMap<ProcessId, Vec<Saying>>),
}

/// A traitor's replacement for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Saying {
    Truth,
    Silence,
    Lie(Value),
}

impl<M: Wire> Adversary<M> {
    /// The adversary that the parameters describe.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let lies = numbers(setup)?;
        let words = ["silent", "equivocating", "odd-liar", "replaying", "random", "scripted"];
        let conduct = match setup.choice(ADVERSARY.name, &words)? {
            "equivocating" => Conduct::Equivocating { half: setup.n.div_ceil(2) as u32 },
            "odd-liar" => Conduct::OddLiar,
            "replaying" => Conduct::Replaying,
            "random" => Conduct::Random,
            "scripted" => Conduct::Scripted(script(setup)?),
            _ => Conduct::Silent,
        };
        Ok(Adversary { conduct, lies, seen: Vec::new() })
    }

    /// The replacement for `message` to `to`, if any. `lie` is the message with another value, if
    /// it has one; `choose` decides between replacements.
    pub(super) fn says(
        &mut self,
        message: &M,
        to: ProcessId,
        lie: &dyn Fn(Value) -> Option<M>,
        choose: &mut dyn FnMut(u32) -> u32,
    ) -> Option<M> {
        let saying = match &mut self.conduct {
            Conduct::Silent => Saying::Silence,
            Conduct::Equivocating { half } => Saying::Lie(self.lies[usize::from(to.0 >= *half)]),
            Conduct::OddLiar => Saying::Lie(self.lies[usize::from(to.0.is_multiple_of(2))]),
            Conduct::Random => any(&self.lies, choose),
            Conduct::Scripted(script) => next_word(script, to),
            Conduct::Replaying => {
                let which = choose(1 + self.seen.len() as u32) as usize;
                return Some(which.checked_sub(1).map_or(message, |old| &self.seen[old]).clone());
            }
        };
        match saying {
            Saying::Truth => Some(message.clone()),
            Saying::Silence => None,
            // A message without a value has no lie.
            Saying::Lie(value) => Some(lie(value).unwrap_or_else(|| message.clone())),
        }
    }

    /// Whether it never sends a message.
    pub(super) fn is_silent(&self) -> bool {
        self.conduct == Conduct::Silent
    }

    /// The traitor sees a message, its own or another's.
    pub(super) fn remember(&mut self, message: M) {
        if self.conduct != Conduct::Replaying || self.seen.contains(&message) {
            return;
        }
        if self.seen.len() == MEMORY {
            self.seen.remove(0);
        }
        self.seen.push(message);
    }
}

/// The truth, silence, or a lie.
fn any(lies: &[Value], choose: &mut dyn FnMut(u32) -> u32) -> Saying {
    match choose(2 + lies.len() as u32) {
        0 => Saying::Truth,
        1 => Saying::Silence,
        lie => Saying::Lie(lies[lie as usize - 2]),
    }
}

/// The next word of the script for this receiver. The last word repeats for ever.
fn next_word(script: &mut BTreeMap<ProcessId, Vec<Saying>>, to: ProcessId) -> Saying {
    match script.get_mut(&to) {
        None => Saying::Truth,
        Some(words) if words.len() == 1 => words[0],
        Some(words) => words.remove(0),
    }
}

/// At least two lies.
fn numbers(setup: &Setup) -> Result<Vec<Value>, SetupError> {
    let Some(text) = setup.text(LIES.name) else { return Ok(vec![Value(1), Value(0)]) };
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let bad = |_| setup.bad(LIES.name, "these are whole numbers, e.g. 1 0");
    let values: Vec<Value> =
        words.map(|word| word.parse().map(Value)).collect::<Result<_, _>>().map_err(bad)?;
    match values.len() {
        2..=8 => Ok(values),
        _ => Err(setup.bad(LIES.name, "a liar needs two values, and no more than eight")),
    }
}

fn script(setup: &Setup) -> Result<BTreeMap<ProcessId, Vec<Saying>>, SetupError> {
    let mut script: BTreeMap<ProcessId, Vec<Saying>> = BTreeMap::new();
    let text = setup.text(SCRIPT.name).unwrap_or("");
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let unclear = || {
            let why = format!("'{word}' is not a receiver and what it is told, e.g. p1:7");
            setup.bad(SCRIPT.name, why)
        };
        let (to, said) = word.split_once(':').ok_or_else(unclear)?;
        let saying = match said {
            "truth" => Saying::Truth,
            "silence" => Saying::Silence,
            number => Saying::Lie(Value(number.parse().map_err(|_| unclear())?)),
        };
        script.entry(setup.parse_process(SCRIPT.name, to)?).or_default().push(saying);
    }
    Ok(script)
}
