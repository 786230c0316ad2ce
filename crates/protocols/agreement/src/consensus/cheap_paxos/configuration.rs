//! Configurations: the main acceptors, and the auxiliary ones that help out.

use crate::consensus::quorum::majority;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::{ProcessId, ProcessSet};

/// The acceptors of one instance: k main ones, and k - 1 auxiliary ones (or as many as there are).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Configuration {
    /// The number of main acceptors that were dropped before.
    pub instance: u32,
    /// The main acceptors.
    pub mains: ProcessSet,
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.mains)
    }
}

impl Configuration {
    /// The first of the main ones.
    pub fn first(&self) -> Option<ProcessId> {
        self.mains.first()
    }

    /// The size of a quorum: the number of main acceptors.
    pub fn quorum(&self) -> usize {
        self.mains.len()
    }

    /// All acceptors, in a group of `n`. The auxiliary ones are the last of the group.
    pub fn members(&self, n: usize) -> ProcessSet {
        let auxiliary = ProcessId::all(n).skip(majority(n)).take(self.quorum().saturating_sub(1));
        self.mains.iter().chain(auxiliary).collect()
    }

    /// The next configuration, without `main`; `None` if it is no main acceptor, or the last one.
    pub fn without(&self, main: ProcessId) -> Option<Configuration> {
        let mut mains = self.mains.clone();
        let is_main = mains.remove(main);
        let next = Configuration { instance: self.instance + 1, mains };
        (is_main && !next.mains.is_empty()).then_some(next)
    }

    /// Drops all others without a vote, as the mutant does.
    pub(super) fn keep_only(&mut self, main: ProcessId) {
        self.mains = [main].into_iter().collect();
    }

    /// Whether a group of `n` may have it.
    pub(super) fn is_sound(&self, n: usize) -> bool {
        let mains = majority(n);
        let dropped = mains.checked_sub(self.mains.len());
        !self.mains.is_empty()
            && self.mains.iter().all(|main| main.index() < mains)
            && dropped == Some(self.instance as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_quorums_of_a_configuration_share_an_acceptor() {
        for n in 1..=9 {
            let all = Configuration { instance: 0, mains: ProcessSet::all(majority(n)) };
            let mut next = Some(all);
            while let Some(configuration) = next {
                let members = configuration.members(n);
                assert!(2 * configuration.quorum() > members.len(), "{configuration:?} of {n}");
                assert!(configuration.is_sound(n));
                next = configuration.first().and_then(|main| configuration.without(main));
            }
        }
    }

    #[test]
    fn only_a_main_process_can_be_dropped_and_not_the_last() {
        let two = Configuration { instance: 0, mains: ProcessSet::all(2) };
        assert_eq!(two.without(ProcessId(2)), None);
        let one = two.without(ProcessId(0)).expect("one is left");
        assert_eq!((one.instance, one.first()), (1, Some(ProcessId(1))));
        assert_eq!(one.without(ProcessId(1)), None);
        assert!(!Configuration { instance: 1, ..two }.is_sound(3));
    }
}
