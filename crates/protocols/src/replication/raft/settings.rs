//! What may be set, and which rules hold.

use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::{Data, ProcessSet, Setup, SetupError};

/// No message has more entries.
pub(super) const MOST_LINES: u64 = 512;

/// The rules that a mutant leaves out.
pub trait Rules: Data {
    /// A leader counts copies of entries of its own term only.
    const COMMITS_ONLY_ITS_OWN_TERM: bool = true;
    /// A vote is given only to a log that is at least as good.
    const COMPARES_LOGS: bool = true;
    /// A vote is written down before it is given.
    const KEEPS_VOTES: bool = true;
}

/// All rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sound;

impl Rules for Sound {}

/// What may be set. The same at all servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Settings {
    /// Who votes in the beginning.
    pub(super) voters: ProcessSet,
    pub(super) heartbeat_ms: u64,
    pub(super) election_ms: u64,
    /// In how many steps the time before an election varies.
    pub(super) spread: u32,
    /// Nobody stands for a greater term; for explorers.
    pub(super) most_terms: u64,
    /// A leader sends so many heartbeats; for explorers.
    pub(super) most_beats: u64,
    /// Whether a server first asks whether it would be elected.
    pub(super) asks_first: bool,
    /// Whether a leader that a majority heard of late answers reads at once.
    pub(super) leases: bool,
    /// Whether entries that come together travel together.
    pub(super) batches: bool,
    /// So many entries travel in one message at most.
    pub(super) most_lines: usize,
    /// Who stands for election; for explorers.
    pub(super) standing: ProcessSet,
    /// Whether each record holds everything, so that equal servers have equal disks; for explorers.
    pub(super) writes_whole: bool,
}

/// The parameters of Raft alone.
pub(super) const PARAMETERS: [Parameter; 13] = [
    Parameter {
        name: "voters",
        meaning: "who votes in the beginning, e.g. p0 p1 p2 (default: all)",
    },
    Parameter { name: "heartbeat", meaning: "milliseconds between two heartbeats (default: 50)" },
    Parameter {
        name: "election",
        meaning: "milliseconds without a leader before somebody stands, at least; up to twice as \
                  many, by chance (default: 300)",
    },
    Parameter {
        name: "spread",
        meaning: "how many different times before an election (default: 8)",
    },
    Parameter {
        name: "prevote",
        meaning: "yes (default), or no: nobody asks first whether to stand",
    },
    Parameter { name: "lease", meaning: "no (default), or yes: reads by clocks, without messages" },
    Parameter { name: "batch", meaning: "yes (default), or no: every entry travels alone" },
    Parameter { name: "terms", meaning: "for explorers: the last term (default: no limit)" },
    Parameter {
        name: "beats",
        meaning: "for explorers: heartbeats of a leader (default: no limit)",
    },
    Parameter { name: "lines", meaning: "most entries in one message (default: 512)" },
    Parameter {
        name: "standing",
        meaning: "for explorers: who stands for election (default: all)",
    },
    Parameter {
        name: "logs",
        meaning: "for explorers: the terms of the lines that are in logs from the start, e.g. \
                  'p0:1 p0:1 p2:2' (default: none)",
    },
    Parameter {
        name: "records",
        meaning: "log (default); for explorers: whole, each record has it all",
    },
];

/// The terms of the lines with which each log begins.
pub(super) fn first_lines(setup: &Setup) -> Result<Vec<Vec<u64>>, SetupError> {
    let mut terms = vec![Vec::new(); setup.n];
    for word in setup.text("logs").unwrap_or("").split([' ', ',']).filter(|word| !word.is_empty()) {
        let unclear = || setup.bad("logs", format!("'{word}' is no server and term, e.g. p0:1"));
        let (at, term) = word.split_once(':').ok_or_else(unclear)?;
        let term =
            term.parse().ok().filter(|term| (1..1_000).contains(term)).ok_or_else(unclear)?;
        let log: &mut Vec<u64> = &mut terms[setup.parse_process("logs", at)?.index()];
        if log.last().is_some_and(|last| *last > term) {
            return Err(setup.bad("logs", "terms grow in a log"));
        }
        log.push(term);
    }
    Ok(terms)
}

impl Settings {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let is = |name: &str, words: [&'static str; 2]| Ok(setup.choice(name, &words)? == words[1]);
        let voters = setup.processes("voters")?.map(|named| named.into_iter().collect());
        let voters: ProcessSet = voters.unwrap_or_else(|| ProcessSet::all(setup.n));
        if voters.is_empty() {
            return Err(setup.bad("voters", "somebody has to vote"));
        }
        let most_lines = setup.number("lines", MOST_LINES)?;
        if !(1..=MOST_LINES).contains(&most_lines) {
            return Err(setup.bad("lines", format!("from 1 to {MOST_LINES}")));
        }
        let standing = setup.processes("standing")?.map(|named| named.into_iter().collect());
        let spread = setup.number("spread", 8)?;
        if !(1..=1_000).contains(&spread) {
            return Err(setup.bad("spread", "from 1 to 1000"));
        }
        Ok(Settings {
            voters,
            heartbeat_ms: setup.number("heartbeat", 50)?,
            election_ms: setup.number("election", 300)?,
            spread: spread as u32,
            most_terms: setup.number("terms", u64::MAX >> 2)?,
            most_beats: setup.number("beats", u64::MAX >> 2)?,
            asks_first: !is("prevote", ["yes", "no"])?,
            leases: is("lease", ["no", "yes"])?,
            batches: !is("batch", ["yes", "no"])?,
            most_lines: most_lines as usize,
            standing: standing.unwrap_or_else(|| ProcessSet::all(setup.n)),
            writes_whole: is("records", ["log", "whole"])?,
        })
    }
}
