//! The second part of the catalogue: groups whose members see views and one order of multicasts,
//! and the services on them.
#![forbid(unsafe_code)]

pub mod group;
pub mod slots;
pub mod switchboard;
pub mod table;
