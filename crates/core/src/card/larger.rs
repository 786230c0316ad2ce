//! Worlds that are too large for every run of the tests.

use super::Scope;
use serde::Serialize;

/// A larger world that was explored to the end, and what that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Larger {
    /// The world.
    pub scope: Scope,
    /// The properties that hold in all of its states, by id: a world without retries keeps no
    /// promise about the end.
    pub holds: &'static [&'static str],
    /// The number of its states.
    pub states: u64,
    /// The duration, in seconds of one thread, on the machine on which it was measured.
    pub seconds: u32,
    /// The memory of the whole program, in mebibytes.
    pub mebibytes: u32,
}
