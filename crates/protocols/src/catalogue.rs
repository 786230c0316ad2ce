//! Every algorithm by name. A new one is a file and a line in its family's list; every driver then
//! has it.

use crate::{
    commitment, consensus, detector, election, group, lockstep, multicast, mutex, replication,
    slots, switchboard, table, time,
};
use synod_core::boxed::Which;
use synod_core::{Card, Visit};

/// One algorithm, as lists show it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its card.
    pub card: Card,
    /// The name of its family.
    pub family: &'static str,
}

macro_rules! families {
    ($($family:ident),* $(,)?) => {
        /// The lists of all families. References to the statics, because the value of a static
        /// would be taken over with all code behind it, and be compiled once more here.
        static FAMILIES: &[&&[Which]] = &[$(&$family::ALGORITHMS),*];

        /// Visits the algorithm of that name or alias, if there is one.
        pub fn visit<V: Visit>(name: &str, visitor: V) -> Option<V::Answer> {
            $(let visitor = match $family::visit(name, visitor) {
                Ok(answer) => return Some(answer),
                Err(visitor) => visitor,
            };)*
            drop(visitor);
            None
        }
    };
}

// In the order of the course.
families! {
    time,
    mutex,
    election,
    multicast,
    detector,
    group,
    slots,
    switchboard,
    table,
    consensus,
    replication,
    commitment,
    lockstep,
}

/// All algorithms, in the order of the course.
pub fn algorithms() -> impl Iterator<Item = Which> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// All algorithms, as lists show them.
pub fn entries() -> Vec<Entry> {
    algorithms().map(Entry::from).collect()
}

/// The algorithm of that name or alias, for a driver.
pub fn which(name: &str) -> Option<Which> {
    algorithms().find(|which| which.card().answers_to(name))
}

/// The entry of that name or alias.
pub fn find(name: &str) -> Option<Entry> {
    which(name).map(Entry::from)
}

impl From<Which> for Entry {
    fn from(which: Which) -> Self {
        Entry { card: *which.card(), family: which.family() }
    }
}
