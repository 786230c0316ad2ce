//! The groups of a world, and their members.

use crate::card::Parameter;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a group: `g0`, `g1`, …
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub u32);

impl GroupId {
    /// The position of this group in a list of all groups.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The group that the word names: `g1`.
    pub(super) fn from_word(word: &str) -> Option<GroupId> {
        word.strip_prefix('g')?.parse().ok().map(GroupId)
    }
}

impl fmt::Debug for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}

/// The parameter that lists the groups. On the card of every algorithm of the family.
pub const GROUPS: Parameter = Parameter {
    name: "groups",
    meaning: "the members of each group, e.g. p0 p1 p2; p2 p3 (default: one group of everybody)",
};

/// The parameter that names the senders. On the card of every algorithm of the family.
pub const SENDERS: Parameter =
    Parameter { name: "senders", meaning: "who multicasts, e.g. p0 p2 (default: everybody)" };

/// The processes that the parameter [`SENDERS`] names.
pub fn senders(setup: &Setup) -> Result<ProcessSet, SetupError> {
    let named = setup.processes(SENDERS.name)?;
    Ok(named.map_or_else(|| ProcessSet::all(setup.n), |named| named.into_iter().collect()))
}

/// All groups of a world. A process may belong to several, or to none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups(Vec<ProcessSet>);

impl Groups {
    /// The groups that the parameter [`GROUPS`] describes.
    pub fn of(setup: &Setup) -> Result<Groups, SetupError> {
        let Some(text) = setup.text(GROUPS.name) else {
            return Ok(Groups(vec![ProcessSet::all(setup.n)]));
        };
        let groups = text.trim_end().trim_end_matches(';').split(';');
        groups.map(|members| group(setup, members)).collect::<Result<_, _>>().map(Groups)
    }

    /// The members of a group, if there is such a group.
    pub fn members(&self, group: GroupId) -> Option<&ProcessSet> {
        self.0.get(group.index())
    }

    /// Every group with its members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &ProcessSet)> {
        (0..).map(GroupId).zip(&self.0)
    }

    /// The groups of one process, in order.
    pub fn of_process(&self, process: ProcessId) -> impl Iterator<Item = (GroupId, &ProcessSet)> {
        self.iter().filter(move |(_, members)| members.contains(process))
    }
}

fn group(setup: &Setup, text: &str) -> Result<ProcessSet, SetupError> {
    let mut members = ProcessSet::EMPTY;
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let member = setup.parse_process(GROUPS.name, word)?;
        if !members.insert(member) {
            return Err(setup.bad(GROUPS.name, format!("{member} is twice in the same group")));
        }
    }
    match members.is_empty() {
        true => Err(setup.bad(GROUPS.name, "a group has no members; write e.g. p0 p1; p1 p2")),
        false => Ok(members),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Result<Vec<Vec<u32>>, String> {
        let groups = Groups::of(&Setup::new(4).with("groups", text)).map_err(|e| e.to_string())?;
        Ok(groups.iter().map(|(_, members)| members.iter().map(|p| p.0).collect()).collect())
    }

    #[test]
    fn a_process_may_be_in_several_groups() {
        assert_eq!(groups("p0 p1 p2; p2,p3;"), Ok(vec![vec![0, 1, 2], vec![2, 3]]));
        let groups = Groups::of(&Setup::new(4).with("groups", "0 1 2;2 3")).expect("it is right");
        let of = |process| groups.of_process(ProcessId(process)).map(|(group, _)| group.0);
        assert_eq!(of(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(of(3).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn without_the_parameter_all_processes_are_in_one_group() {
        let groups = Groups::of(&Setup::new(3)).expect("the default is right");
        assert_eq!(groups.iter().collect::<Vec<_>>(), [(GroupId(0), &ProcessSet::all(3))]);
    }

    #[test]
    fn what_is_wrong_with_a_list_of_groups_is_said() {
        for (text, why) in [
            ("p0 p4", "'p4' is no process of p0..p3"),
            ("p0 p1; ; p2", "a group has no members"),
            ("p0 p1 p0", "p0 is twice in the same group"),
        ] {
            let error = groups(text).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }
}
