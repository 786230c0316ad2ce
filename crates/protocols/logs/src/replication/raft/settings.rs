//! The settings of a group, and the rules that mutants leave out.

use crate::replication::settings::{MOST_BYTES, most_bytes_rule, part_bytes_rule};
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::replication::{BadSettings, PART_BYTES};
use synod_core::{Data, ProcessSet, Setup, SetupError};

/// No message has more entries.
pub(super) const MOST_ENTRIES: u64 = 512;

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

/// The settings of a group. All its servers have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The voters in the beginning.
    pub voters: ProcessSet,
    /// The time between two heartbeats of the leader.
    pub heartbeat_ms: u64,
    /// A follower campaigns after this time without a leader, at the earliest, and after twice as
    /// long at the latest.
    pub election_ms: u64,
    /// The number of different election timeouts between the two. With more of them it is less
    /// likely that two servers campaign at the same time.
    pub timeouts: u32,
    /// Whether a server asks for pre-votes before it campaigns.
    pub pre_vote: bool,
    /// Whether a leader answers reads without a message while a majority has promised to elect no
    /// other. Clocks must run alike, up to a tenth.
    pub leases: bool,
    /// Whether entries that come together travel together.
    pub batches: bool,
    /// At most this many entries travel in one message.
    pub most_entries: usize,
    /// A message has no second entry if its entries have more bytes than this together.
    pub most_bytes: usize,
    /// A state that has more bytes travels, and is written, in parts of about this size.
    pub part_bytes: usize,
}

impl Settings {
    /// Settings for a group in one data centre: a heartbeat every 50 ms, elections after 300 ms.
    pub fn new(voters: ProcessSet) -> Self {
        Settings {
            voters,
            heartbeat_ms: 50,
            election_ms: 300,
            timeouts: 8,
            pre_vote: true,
            leases: false,
            batches: true,
            most_entries: MOST_ENTRIES as usize,
            most_bytes: MOST_BYTES,
            part_bytes: PART_BYTES,
        }
    }

    /// Whether a group can work like that; if not, the first setting that is wrong, and why.
    pub fn check(&self) -> Result<(), BadSettings> {
        let rules = [
            ("voters", !self.voters.is_empty(), "a group without voters elects no leader"),
            ("heartbeat_ms", self.heartbeat_ms > 0, "a leader needs time between two heartbeats"),
            (
                "election_ms",
                self.election_ms >= 2 * self.heartbeat_ms,
                "a follower must be able to miss a heartbeat: at least twice heartbeat_ms",
            ),
            ("timeouts", (1..=MOST_TIMEOUTS).contains(&self.timeouts), "from 1 to 1000"),
            (
                "most_entries",
                (1..=MOST_ENTRIES as usize).contains(&self.most_entries),
                "from 1 to 512",
            ),
            most_bytes_rule(self.most_bytes),
            part_bytes_rule(self.part_bytes),
        ];
        BadSettings::first(&rules)
    }
}

/// Limits for explorers: worlds that end, and states that are equal whenever they can be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Limits {
    /// No server campaigns in a greater term.
    pub(super) most_terms: u64,
    /// A leader sends this many heartbeats.
    pub(super) most_beats: u64,
    /// The servers that may campaign; None: every voter.
    pub(super) candidates: Option<ProcessSet>,
    /// Whether each record holds the whole state, so that equal servers have equal disks.
    pub(super) writes_whole: bool,
}

impl Limits {
    /// No limits: for groups that run.
    pub(super) const NONE: Limits = Limits {
        most_terms: u64::MAX >> 2,
        most_beats: u64::MAX >> 2,
        candidates: None,
        writes_whole: false,
    };
}

/// More different election timeouts than this have no use.
const MOST_TIMEOUTS: u32 = 1_000;

/// The parameters of Raft alone.
pub(super) const PARAMETERS: [Parameter; 13] = [
    Parameter {
        name: "voters",
        meaning: "who votes in the beginning, e.g. p0 p1 p2 (default: all)",
    },
    Parameter { name: "heartbeat", meaning: "milliseconds between two heartbeats (default: 50)" },
    Parameter {
        name: "election",
        meaning: "election timeout: milliseconds without a leader before a server campaigns, at \
                  least; up to twice as many, by chance (default: 300)",
    },
    Parameter {
        name: "spread",
        meaning: "how many different election timeouts there are (default: 8)",
    },
    Parameter {
        name: "prevote",
        meaning: "yes (default): a candidate asks for pre-votes first; or no",
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
        meaning: "for explorers: the servers that may campaign (default: all)",
    },
    Parameter {
        name: "logs",
        meaning: "for explorers: the terms of the entries that are in logs from the start, e.g. \
                  'p0:1 p0:1 p2:2' (default: none)",
    },
    Parameter {
        name: "records",
        meaning: "log (default); for explorers: whole, each record has it all",
    },
];

/// The terms of the entries with which each log begins.
pub(super) fn first_entries(setup: &Setup) -> Result<Vec<Vec<u64>>, SetupError> {
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

/// Reads the parameters of the catalogue.
pub(super) fn from_setup(setup: &Setup) -> Result<(Settings, Limits), SetupError> {
    let is = |name: &str, words: [&'static str; 2]| Ok(setup.choice(name, &words)? == words[1]);
    let voters = setup.processes("voters")?.map(|named| named.into_iter().collect());
    let voters: ProcessSet = voters.unwrap_or_else(|| ProcessSet::all(setup.n));
    if voters.is_empty() {
        return Err(setup.bad("voters", "somebody has to vote"));
    }
    let most_entries = setup.number("lines", MOST_ENTRIES)?;
    if !(1..=MOST_ENTRIES).contains(&most_entries) {
        return Err(setup.bad("lines", format!("from 1 to {MOST_ENTRIES}")));
    }
    let timeouts = setup.number("spread", 8)?;
    if !(1..=MOST_TIMEOUTS.into()).contains(&timeouts) {
        return Err(setup.bad("spread", format!("from 1 to {MOST_TIMEOUTS}")));
    }
    let candidates = setup.processes("standing")?.map(|named| named.into_iter().collect());
    let settings = Settings {
        heartbeat_ms: setup.number("heartbeat", 50)?,
        election_ms: setup.number("election", 300)?,
        timeouts: timeouts as u32,
        pre_vote: !is("prevote", ["yes", "no"])?,
        leases: is("lease", ["no", "yes"])?,
        batches: !is("batch", ["yes", "no"])?,
        most_entries: most_entries as usize,
        ..Settings::new(voters)
    };
    let limits = Limits {
        most_terms: setup.number("terms", Limits::NONE.most_terms)?,
        most_beats: setup.number("beats", Limits::NONE.most_beats)?,
        candidates,
        writes_whole: is("records", ["log", "whole"])?,
    };
    Ok((settings, limits))
}
