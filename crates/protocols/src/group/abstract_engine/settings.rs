//! How much may go wrong.

use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::{Setup, SetupError};

/// More than this is more than anybody can explore.
const MOST: u64 = 1_000;

/// The parameters of the abstract engine.
pub const PARAMETERS: [Parameter; 9] = [
    Parameter {
        name: "partitions",
        meaning: "abstract engine: how often some members go on without the others (default: 0)",
    },
    Parameter {
        name: "merges",
        meaning: "abstract engine: how often two views become one (default: 0)",
    },
    Parameter {
        name: "deaths",
        meaning: "abstract engine: how many processes die, and everybody near is told (default: 0)",
    },
    Parameter {
        name: "node-crashes",
        meaning: "abstract engine: how many nodes fail, which looks like a partition (default: 0)",
    },
    Parameter {
        name: "restarts",
        meaning: "abstract engine: how many of the dead start again (default: 0)",
    },
    Parameter {
        name: "start",
        meaning: "abstract engine: together (default), each member alone, or later: whenever and \
                  wherever it likes",
    },
    Parameter {
        name: "safe",
        meaning: "abstract engine: yes (default) or no, if it offers agreed delivery only",
    },
    Parameter {
        name: "lag",
        meaning: "abstract engine: nobody is told anything while somebody has so many events more to be \
                  told (default: no limit); fewer histories",
    },
    Parameter {
        name: "passing",
        meaning: "abstract engine: a transitional configuration passes step by step (step, \
                  default), or at once (once); fewer histories",
    },
];

/// How the members begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Beginning {
    /// In one view.
    Together,
    /// Each in a view of its own.
    Alone,
    /// Each at some time, alone or in some view; or never.
    Later,
}

/// How much may still go wrong, and what does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// Partitions left.
    pub partitions: u32,
    /// Merges left.
    pub merges: u32,
    /// Deaths of processes left.
    pub deaths: u32,
    /// Crashes of nodes left.
    pub crashes: u32,
    /// Restarts left.
    pub restarts: u32,
    /// How the members begin.
    pub beginning: Beginning,
    /// Whether it offers safe delivery.
    pub safe: bool,
    /// By how many events a member may be ahead of another.
    pub lag: u32,
    /// Whether a transitional configuration passes in one step.
    pub at_once: bool,
}

impl Settings {
    /// As the parameters say.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let budget = |name: &str| match setup.number(name, 0)? {
            number if number <= MOST => Ok(number as u32),
            _ => Err(setup.bad(name, format!("it is at most {MOST}"))),
        };
        Ok(Settings {
            partitions: budget("partitions")?,
            merges: budget("merges")?,
            deaths: budget("deaths")?,
            crashes: budget("node-crashes")?,
            restarts: budget("restarts")?,
            beginning: match setup.choice("start", &["together", "alone", "later"])? {
                "together" => Beginning::Together,
                "alone" => Beginning::Alone,
                _ => Beginning::Later,
            },
            safe: setup.choice("safe", &["yes", "no"])? == "yes",
            lag: u32::try_from(setup.number("lag", MOST)?).unwrap_or(u32::MAX),
            at_once: setup.choice("passing", &["step", "once"])? == "once",
        })
    }
}
