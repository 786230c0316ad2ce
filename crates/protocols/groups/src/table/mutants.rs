//! Tables that are merged wrongly.

use super::GroupEngine;
use super::merged::{Message, Table, writing};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant};
use synod_core::family::SharedTable;
use synod_core::family::table::{KEPT, SAME, keys};
use synod_core::group::{Catalogued, Served};
use synod_core::{Data, ProcessId, ProcessSet, Setup, SetupError};

/// The changed rule of a mutant.
pub trait Variant: Data {
    /// Whether a member replaces its copy by each copy that it delivers, instead of merging both.
    const REPLACES: bool = false;
    /// Whether a member is ready as soon as it has delivered its own copy.
    const HASTY: bool = false;
}

/// The rules as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sound {}

impl Variant for Sound {}

/// A member takes the last copy whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Replacing {}

impl Variant for Replacing {
    const REPLACES: bool = true;
}

/// A table in which all members take the copy that is delivered last: their copies are equal, but
/// writes that only the other copies had are gone.
pub type TableReplaced = Served<Table<Replacing>, GroupEngine<Message>>;

impl Catalogued<GroupEngine<Message>> for Table<Replacing> {
    type Family = SharedTable;

    const CARD: Card = Card {
        name: "table-replaced",
        title: "A replicated table in which the last copy replaces all others",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: KEPT,
            scope: writing(
                3,
                &[("engine", "abstract"), ("keys", "1"), ("partitions", "1"), ("merges", "1")],
            ),
            steps: 20,
            story: "p1 and p2 are apart, and p1 writes. When they come together, the copy of p2 is \
                    delivered last; it is empty, and p1's write is gone",
        }],
        mutant: Some(Mutant {
            of: "table",
            change: "a copy that is delivered replaces what its receiver has",
            breaks: KEPT,
        }),
        ..<Table as Catalogued<GroupEngine<Message>>>::CARD
    };

    fn service(_: ProcessId, _: &ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
        keys(setup)?;
        Ok(Table::new())
    }
}

/// A member does not wait for the copies of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hasty {}

impl Variant for Hasty {
    const HASTY: bool = true;
}

/// A table in which a member is ready once it has delivered its own copy: copies that the order
/// puts behind it are missing there.
pub type TableHasty = Served<Table<Hasty>, GroupEngine<Message>>;

impl Catalogued<GroupEngine<Message>> for Table<Hasty> {
    type Family = SharedTable;

    const CARD: Card = Card {
        name: "table-hasty",
        title: "A replicated table whose members do not wait for the copies of the others",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: SAME,
            scope: writing(3, &[("engine", "abstract"), ("keys", "1")]),
            steps: 8,
            story: "p1 is ready once it has delivered its own copy, and writes. p2 delivers this write \
                    before its own copy: p1 was ready with an empty copy, and p2 is with the write",
        }],
        mutant: Some(Mutant {
            of: "table",
            change: "a member is ready as soon as it has delivered its own copy",
            breaks: SAME,
        }),
        fails_with: "--crashes 3 --restart disk --param keys=1",
        ..<Table as Catalogued<GroupEngine<Message>>>::CARD
    };

    fn service(_: ProcessId, _: &ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
        keys(setup)?;
        Ok(Table::new())
    }
}
