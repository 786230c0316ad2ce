//! What may be set.

use crate::consensus::ballot::LAST_ROUND;
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::{ProcessSet, Setup, SetupError};

/// No message has more entries; promises may have more votes.
pub(super) const MOST_LINES: u64 = 512;

/// What may be set. The same at all processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) heartbeat_ms: u64,
    pub(super) election_ms: u64,
    /// In how many steps the time before somebody stands varies.
    pub(super) spread: u32,
    /// Nobody begins a ballot of a greater round; for explorers.
    pub(super) most_rounds: u32,
    /// A leader sends so many heartbeats; for explorers.
    pub(super) most_beats: u64,
    /// Whether a process first asks whether others hear of a leader.
    pub(super) asks_first: bool,
    /// Whether entries that come together travel together.
    pub(super) batches: bool,
    /// So many entries travel in one message at most.
    pub(super) most_lines: usize,
    /// Who stands; for explorers.
    pub(super) standing: ProcessSet,
    /// Whether each record holds everything, so that equal processes have equal disks; for explorers.
    pub(super) writes_whole: bool,
    /// Broken on purpose: nothing is written down.
    pub(super) forgetful: bool,
    /// What a new leader proposes.
    pub(super) adopts: Adopts,
}

/// Which of the votes that it is told a new leader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Adopts {
    /// The one of the greatest ballot.
    Greatest,
    /// Broken on purpose: the first that it is told.
    First,
    /// Broken on purpose: none.
    Nothing,
}

/// The parameters of Multi-Paxos alone.
pub(super) const PARAMETERS: [Parameter; 12] = [
    Parameter { name: "heartbeat", meaning: "milliseconds between two heartbeats (default: 50)" },
    Parameter {
        name: "election",
        meaning: "milliseconds without a leader before somebody stands, at least; up to twice as \
                  many, by chance (default: 300)",
    },
    Parameter { name: "spread", meaning: "how many different times that are (default: 8)" },
    Parameter {
        name: "ask",
        meaning: "yes (default), or no: nobody asks first whether others hear of a leader",
    },
    Parameter { name: "batch", meaning: "yes (default), or no: every entry travels alone" },
    Parameter { name: "lines", meaning: "most entries in one message (default: 512)" },
    Parameter {
        name: "acceptors",
        meaning: "durable (default), or forgetful, which is broken: nothing is written down",
    },
    Parameter {
        name: "adopt",
        meaning: "which of the values told in promises a leader proposes: that of the greatest \
                  ballot (default), or the first that it hears or nothing, which is broken",
    },
    Parameter { name: "ballots", meaning: "for explorers: the last round (default: no limit)" },
    Parameter {
        name: "beats",
        meaning: "for explorers: heartbeats of a leader (default: no limit)",
    },
    Parameter { name: "standing", meaning: "for explorers: who wants to lead (default: all)" },
    Parameter {
        name: "records",
        meaning: "log (default); for explorers: whole, each record has it all",
    },
];

impl Settings {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let is = |name: &str, words: [&'static str; 2]| Ok(setup.choice(name, &words)? == words[1]);
        let up_to = |name: &str, default: u64, most: u64| {
            let number = setup.number(name, default)?;
            let is_possible = (1..=most).contains(&number);
            is_possible
                .then_some(number)
                .ok_or_else(|| setup.bad(name, format!("from 1 to {most}")))
        };
        let standing = setup.processes("standing")?.map(|named| named.into_iter().collect());
        Ok(Settings {
            heartbeat_ms: setup.number("heartbeat", 50)?,
            election_ms: setup.number("election", 300)?,
            spread: up_to("spread", 8, 1_000)? as u32,
            most_rounds: up_to("ballots", LAST_ROUND.into(), LAST_ROUND.into())? as u32,
            most_beats: setup.number("beats", u64::MAX >> 2)?,
            asks_first: !is("ask", ["yes", "no"])?,
            batches: !is("batch", ["yes", "no"])?,
            most_lines: up_to("lines", MOST_LINES, MOST_LINES)? as usize,
            standing: standing.unwrap_or_else(|| ProcessSet::all(setup.n)),
            writes_whole: is("records", ["log", "whole"])?,
            forgetful: is("acceptors", ["durable", "forgetful"])?,
            adopts: match setup.choice("adopt", &["greatest", "first", "nothing"])? {
                "first" => Adopts::First,
                "nothing" => Adopts::Nothing,
                _ => Adopts::Greatest,
            },
        })
    }
}
