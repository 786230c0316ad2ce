//! The function by which a process decides, when all know the same proposals.
//!
//! Any function does, as long as all use the same: equal arguments give equal results. Smallest and
//! greatest need the values alone. A majority needs to know whose they are, because a value that is
//! passed on is heard twice.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use synod_core::card::Parameter;
use synod_core::family::consensus::Value;
use synod_core::{ProcessId, Setup, SetupError};

/// The parameter that chooses the function.
pub(super) const DECIDE: Parameter = Parameter {
    name: "decide",
    meaning: "minimum, maximum or majority: which of the proposals that all know is decided; \
              majority is the one that more than half of them name, or else the smallest (default: \
              minimum)",
};

/// The function by which a process decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecisionFunction {
    /// The smallest value.
    Minimum,
    /// The greatest.
    Maximum,
    /// The value of more than half of the proposals, or the smallest if there is none.
    Majority,
}

impl DecisionFunction {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        Ok(match setup.choice(DECIDE.name, &["minimum", "maximum", "majority"])? {
            "maximum" => DecisionFunction::Maximum,
            "majority" => DecisionFunction::Majority,
            _ => DecisionFunction::Minimum,
        })
    }

    /// Whether it must be told whose the proposals are.
    pub fn counts(self) -> bool {
        self == DecisionFunction::Majority
    }

    /// The result for these values; `votes` are those of known processes, if they are counted.
    pub fn of(self, values: &BTreeSet<Value>, votes: &BTreeMap<ProcessId, Value>) -> Option<Value> {
        match self {
            DecisionFunction::Minimum => values.first().copied(),
            DecisionFunction::Maximum => values.last().copied(),
            DecisionFunction::Majority => majority(votes).or(votes.values().min().copied()),
        }
    }
}

/// The value that more than half of the processes have, if there is one.
fn majority(votes: &BTreeMap<ProcessId, Value>) -> Option<Value> {
    let has = |value: &Value| votes.values().filter(|other| *other == value).count();
    votes.values().find(|value| 2 * has(value) > votes.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(function: DecisionFunction, proposals: &[u64]) -> Option<u64> {
        let values = proposals.iter().copied().map(Value).collect();
        let votes = (0..).map(ProcessId).zip(proposals.iter().copied().map(Value)).collect();
        function.of(&values, &votes).map(|Value(value)| value)
    }

    #[test]
    fn each_function_takes_its_value_from_the_proposals() {
        use DecisionFunction::{Majority, Maximum, Minimum};
        assert_eq!(
            [Minimum, Maximum, Majority].map(|f| decided(f, &[5, 2, 5])),
            [Some(2), Some(5), Some(5)]
        );
        assert_eq!(decided(Majority, &[7, 3, 5]), Some(3), "none has more than half");
        assert_eq!(decided(Majority, &[7, 7, 5, 5]), Some(5), "half is not enough");
        assert_eq!([Minimum, Maximum, Majority].map(|f| decided(f, &[])), [None; 3]);
    }
}
