//! Proposals and decisions.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value that a process proposes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Value(pub u64);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A decision of a process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Decision {
    /// No value: the default, written ⊥.
    Nothing,
    /// This value.
    Value(Value),
    /// The proposal of each process; none where it is not known.
    Vector(Vec<Option<Value>>),
}

impl From<Option<Value>> for Decision {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Decision::Nothing, Decision::Value)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Nothing => f.write_str("⊥"),
            Decision::Value(value) => value.fmt(f),
            Decision::Vector(values) => {
                let word =
                    |value: &Option<Value>| value.map_or("⊥".to_owned(), |v| v.to_string());
                let words: Vec<String> = values.iter().map(word).collect();
                write!(f, "({})", words.join(" "))
            }
        }
    }
}

impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_written_as_the_textbooks_do() {
        let some = Some(Value(7));
        let words = [None.into(), some.into(), Decision::Vector(vec![some, None])];
        assert_eq!(words.map(|decision: Decision| decision.to_string()), ["⊥", "7", "(7 ⊥)"]);
    }
}
