//! Tables of which every member of a group has a copy.

mod merged;
pub mod mutants;

pub use merged::{Message, Table, TableAlgorithm};

use crate::group::GroupEngine;

synod_core::catalogue! {
    TableAlgorithm,
    mutants::TableReplaced,
    mutants::TableHasty,
}
