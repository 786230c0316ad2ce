//! A table that is merged wrongly.

use super::GroupEngine;
use super::merged::{Message, Table, writing};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant};
use synod_core::family::SharedTable;
use synod_core::family::table::{KEPT, keys};
use synod_core::group::{Catalogued, Served};
use synod_core::{Data, ProcessId, ProcessSet, Setup, SetupError};

/// What is changed.
pub trait Variant: Data {
    /// Whether a copy that is delivered replaces what a member has, instead of being merged with
    /// it.
    const REPLACES: bool;
}

/// Nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sound {}

impl Variant for Sound {
    const REPLACES: bool = false;
}

/// The last copy is taken whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Replacing {}

impl Variant for Replacing {
    const REPLACES: bool = true;
}

/// A table in which the copy that is delivered last is everybody's copy: members have the same, but
/// what only the others had is gone.
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
