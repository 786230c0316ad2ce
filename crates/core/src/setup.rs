//! The setup of a group before it starts: the number of processes, and the algorithm's parameters.

use crate::algorithm::Algorithm;
use crate::boxed::Which;
use crate::card::{Card, Settings};
use crate::process::{ProcessId, ProcessSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of processes, and the parameters by name, as a scenario file or a command line gives
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// The number of processes.
    pub n: usize,
    /// Parameters of the algorithm, by name. Its card lists them.
    pub parameters: BTreeMap<String, String>,
    /// The algorithm, for drivers of [`Boxed`](crate::Boxed), whose type does not name it.
    #[serde(skip)]
    pub which: Option<Which>,
}

/// Why a group cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The group is too small or too large.
    #[error("{algorithm} needs {wanted} processes, not {n}")]
    GroupSize {
        /// The algorithm.
        algorithm: &'static str,
        /// The sizes it accepts, in words.
        wanted: String,
        /// The size given.
        n: usize,
    },
    /// A parameter that the algorithm does not have.
    #[error("{algorithm} has no parameter '{name}'; {known}")]
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// The name given.
        name: String,
        /// The parameters it has, in words.
        known: String,
    },
    /// A parameter with a value that makes no sense.
    #[error("parameter {name} = {value}: {why}")]
    BadParameter {
        /// The name of the parameter.
        name: String,
        /// The value given.
        value: String,
        /// The mistake, and a value that would be right.
        why: String,
    },
}

impl Setup {
    /// A group of `n` with every parameter at its default.
    pub fn new(n: usize) -> Self {
        Setup { n, parameters: BTreeMap::new(), which: None }
    }

    /// The same group, for drivers of [`Boxed`](crate::Boxed) algorithms: it runs this one.
    #[must_use]
    pub fn of<A: Algorithm>(self) -> Self {
        self.running(Which::of::<A>())
    }

    /// The same, where the algorithm is known only at run time.
    #[must_use]
    pub fn running(self, which: Which) -> Self {
        Setup { which: Some(which), ..self }
    }

    /// The same, with one parameter set.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.parameters.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same, with several parameters set.
    #[must_use]
    pub fn with_all(self, settings: Settings) -> Self {
        settings.iter().fold(self, |setup, (name, value)| setup.with(name, value))
    }

    /// Whether each of these parameters was given, with that value.
    pub fn has_all(&self, settings: Settings) -> bool {
        settings.iter().all(|(name, value)| self.text(name) == Some(*value))
    }

    /// The parameter as given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// An error about a parameter.
    pub fn bad(&self, name: &str, why: impl Into<String>) -> SetupError {
        let value = self.text(name).unwrap_or("").to_owned();
        SetupError::BadParameter { name: name.to_owned(), value, why: why.into() }
    }

    /// A list of one whole number for each process, separated by spaces or commas.
    pub fn number_each(&self, name: &str) -> Result<Option<Vec<u64>>, SetupError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let numbers = split(text)
            .map(|word| {
                whole(word).ok_or_else(|| {
                    self.bad(name, format!("'{word}' is not a whole number below 2^62"))
                })
            })
            .collect::<Result<Vec<u64>, _>>()?;
        if numbers.len() != self.n {
            let why = format!("{} numbers for {} processes", numbers.len(), self.n);
            return Err(self.bad(name, why));
        }
        Ok(Some(numbers))
    }

    /// One whole number.
    pub fn number(&self, name: &str, default: u64) -> Result<u64, SetupError> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => {
                whole(text).ok_or_else(|| self.bad(name, "not a whole number below 2^62"))
            }
        }
    }

    /// One of a few words; the first is the default.
    pub fn choice<'w>(&self, name: &str, words: &[&'w str]) -> Result<&'w str, SetupError> {
        let said = self.text(name).unwrap_or(words[0]);
        let known = words.iter().find(|word| **word == said).copied();
        known.ok_or_else(|| self.bad(name, format!("it is {}", words.join(" or "))))
    }

    /// One process of the group.
    pub fn process(&self, name: &str, default: ProcessId) -> Result<ProcessId, SetupError> {
        match self.text(name) {
            None => Ok(default),
            Some(word) => self.parse_process(name, word),
        }
    }

    /// A list of processes of the group, separated by spaces or commas.
    pub fn processes(&self, name: &str) -> Result<Option<Vec<ProcessId>>, SetupError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        split(text).map(|word| self.parse_process(name, word)).collect::<Result<_, _>>().map(Some)
    }

    /// All processes in the order of a ring; by name is the default.
    pub fn ring(&self, name: &str) -> Result<Vec<ProcessId>, SetupError> {
        let Some(ring) = self.processes(name)? else { return Ok(ProcessId::all(self.n).collect()) };
        let members: ProcessSet = ring.iter().copied().collect();
        if ring.len() != self.n || members.len() != self.n {
            return Err(self.bad(name, "a ring names every process exactly once"));
        }
        Ok(ring)
    }

    /// A word like `p3` (or `3`) as a process of the group.
    pub fn parse_process(&self, name: &str, word: &str) -> Result<ProcessId, SetupError> {
        match word.strip_prefix('p').unwrap_or(word).parse::<u32>() {
            Ok(number) if (number as usize) < self.n => Ok(ProcessId(number)),
            _ => Err(self
                .bad(name, format!("'{word}' is no process of p0..p{}", self.n.saturating_sub(1)))),
        }
    }

    /// Whether the card allows this group size and knows every parameter.
    pub fn fits(&self, card: &Card) -> Result<(), SetupError> {
        if self.n < card.smallest {
            return Err(SetupError::GroupSize {
                algorithm: card.name,
                wanted: format!("at least {}", card.smallest),
                n: self.n,
            });
        }
        let known = |name: &String| card.parameters.iter().any(|p| p.name == name);
        match self.parameters.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => Err(SetupError::UnknownParameter {
                algorithm: card.name,
                name: name.clone(),
                known: match card.parameters {
                    [] => "it has none".to_owned(),
                    all => {
                        let names: Vec<_> = all.iter().map(|p| p.name).collect();
                        format!("it has: {}", names.join(", "))
                    }
                },
            }),
        }
    }
}

/// A number below 2^62: a clock that starts there can still be advanced.
fn whole(word: &str) -> Option<u64> {
    word.parse().ok().filter(|number| *number < 1 << 62)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_leaves_no_room_to_count_on_is_refused() {
        let setup =
            Setup::new(2).with("clocks", "1 18446744073709551615").with("k", "4611686018427387904");
        let error = setup.number_each("clocks").expect_err("it is too large").to_string();
        assert!(
            error.contains("'18446744073709551615' is not a whole number below 2^62"),
            "{error}"
        );
        assert!(setup.number("k", 0).is_err());
        assert_eq!(
            Setup::new(1).with("k", "4611686018427387903").number("k", 0),
            Ok((1 << 62) - 1)
        );
    }

    #[test]
    fn an_empty_group_has_no_process() {
        assert!(Setup::new(0).parse_process("server", "p0").is_err());
    }
}
