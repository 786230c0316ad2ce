//! The verdict on a property.

use serde::{Serialize, Serializer};

/// The verdict on a property. The verdict on several properties is the greatest of theirs: one
/// violation outweighs every doubt, and one doubt outweighs every property that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use]
pub enum Verdict {
    /// It holds, wherever the question asks for it: in the whole run, or in every reachable state.
    #[default]
    Holds,
    /// It is not decided: the run or the exploration ended too early to tell.
    Undecided,
    /// It is violated.
    Violated,
}

impl Verdict {
    /// Whether the property holds; none if that is not decided.
    pub fn holds(self) -> Option<bool> {
        match self {
            Verdict::Holds => Some(true),
            Verdict::Undecided => None,
            Verdict::Violated => Some(false),
        }
    }

    /// The verdict on all of them together.
    pub fn on_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max().unwrap_or_default()
    }
}

/// A question that is always decided.
impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::Violated }
    }
}

/// `true`, `false`, or `null` if it is not decided.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.holds().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{self, Holds, Undecided, Violated};

    #[test]
    fn a_violation_outweighs_every_doubt_and_a_doubt_all_that_holds() {
        assert_eq!(Verdict::on_all([Holds, Undecided, Violated, Holds]), Violated);
        assert_eq!(Verdict::on_all([Holds, Undecided, Holds]), Undecided);
        assert_eq!(Verdict::on_all([Holds, Holds]), Holds);
        assert_eq!(Verdict::on_all([]), Holds);
    }
}
