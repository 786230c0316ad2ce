//! The settings of a group, and the rule that the mutant leaves out.

use crate::replication::settings::{MOST_BYTES, most_bytes_rule, part_bytes_rule};
use serde::{Deserialize, Serialize};
use synod_agreement::consensus::ballot::LAST_ROUND;
use synod_core::card::Parameter;
use synod_core::replication::{BadSettings, PART_BYTES};
use synod_core::{Data, ProcessSet, Setup, SetupError};

/// No message has more entries; promises may have more votes.
pub(super) const MOST_ENTRIES: u64 = 512;

/// The rules that a mutant leaves out.
pub trait Rules: Data {
    /// An acceptor takes part in no ballot smaller than the one that it has promised.
    const KEEPS_PROMISES: bool = true;
}

/// All rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sound;

impl Rules for Sound {}

/// The settings of a group. All its processes have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The time between two heartbeats of the leader.
    pub heartbeat_ms: u64,
    /// A process begins a ballot after this time without a leader, at the earliest, and after twice
    /// as long at the latest.
    pub election_ms: u64,
    /// The number of different election timeouts between the two. With more of them it is less
    /// likely that two processes begin a ballot at the same time.
    pub timeouts: u32,
    /// Whether a process first asks whether others hear of a leader.
    pub asks_first: bool,
    /// Whether entries that come together travel together.
    pub batches: bool,
    /// At most this many entries travel in one message.
    pub most_entries: usize,
    /// A message has no second entry if its entries have more bytes than this together; promises
    /// may have more votes.
    pub most_bytes: usize,
    /// A state that has more bytes travels, and is written, in parts of about this size.
    pub part_bytes: usize,
}

impl Default for Settings {
    /// Settings for a group in one data centre: a heartbeat every 50 ms, elections after 300 ms.
    fn default() -> Self {
        Settings {
            heartbeat_ms: 50,
            election_ms: 300,
            timeouts: 8,
            asks_first: true,
            batches: true,
            most_entries: MOST_ENTRIES as usize,
            most_bytes: MOST_BYTES,
            part_bytes: PART_BYTES,
        }
    }
}

impl Settings {
    /// Whether a group can work like that; if not, the first setting that is wrong, and why.
    pub fn check(&self) -> Result<(), BadSettings> {
        let rules = [
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

/// More different timeouts than this have no use.
const MOST_TIMEOUTS: u32 = 1_000;

/// Limits for explorers: worlds that end, states that are equal whenever they can be, and processes
/// that break a rule on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Limits {
    /// No process begins a ballot of a greater round.
    pub(super) most_rounds: u32,
    /// A leader sends this many heartbeats.
    pub(super) most_beats: u64,
    /// The processes that may begin ballots; None: every process.
    pub(super) candidates: Option<ProcessSet>,
    /// Whether each record holds the whole state, so that equal processes have equal disks.
    pub(super) writes_whole: bool,
    /// Broken on purpose: nothing is written down.
    pub(super) forgetful: bool,
    /// The votes that a new leader proposes again.
    pub(super) adopts: Adopts,
}

impl Limits {
    /// No limits, and every rule is kept: for groups that run.
    pub(super) const NONE: Limits = Limits {
        most_rounds: LAST_ROUND,
        most_beats: u64::MAX >> 2,
        candidates: None,
        writes_whole: false,
        forgetful: false,
        adopts: Adopts::Greatest,
    };
}

/// The vote that a new leader proposes again, of those in the promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Adopts {
    /// The one of the greatest ballot.
    Greatest,
    /// Broken on purpose: the first that arrives.
    First,
    /// Broken on purpose: none.
    Nothing,
}

/// The parameters of Multi-Paxos alone.
pub(super) const PARAMETERS: [Parameter; 12] = [
    Parameter { name: "heartbeat", meaning: "milliseconds between two heartbeats (default: 50)" },
    Parameter {
        name: "election",
        meaning: "election timeout: milliseconds without a leader before a process campaigns, at \
                  least; up to twice as many, by chance (default: 300)",
    },
    Parameter {
        name: "spread",
        meaning: "how many different election timeouts there are (default: 8)",
    },
    Parameter {
        name: "ask",
        meaning: "yes (default): a candidate first asks whether others hear of a leader; or no",
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
    Parameter {
        name: "standing",
        meaning: "for explorers: the processes that may campaign (default: all)",
    },
    Parameter {
        name: "records",
        meaning: "log (default); for explorers: whole, each record has it all",
    },
];

/// Reads the parameters of the catalogue.
pub(super) fn from_setup(setup: &Setup) -> Result<(Settings, Limits), SetupError> {
    let is = |name: &str, words: [&'static str; 2]| Ok(setup.choice(name, &words)? == words[1]);
    let up_to = |name: &str, default: u64, most: u64| {
        let number = setup.number(name, default)?;
        let is_possible = (1..=most).contains(&number);
        is_possible.then_some(number).ok_or_else(|| setup.bad(name, format!("from 1 to {most}")))
    };
    let candidates = setup.processes("standing")?.map(|named| named.into_iter().collect());
    let settings = Settings {
        heartbeat_ms: setup.number("heartbeat", 50)?,
        election_ms: setup.number("election", 300)?,
        timeouts: up_to("spread", 8, MOST_TIMEOUTS.into())? as u32,
        asks_first: !is("ask", ["yes", "no"])?,
        batches: !is("batch", ["yes", "no"])?,
        most_entries: up_to("lines", MOST_ENTRIES, MOST_ENTRIES)? as usize,
        ..Settings::default()
    };
    let limits = Limits {
        most_rounds: up_to("ballots", LAST_ROUND.into(), LAST_ROUND.into())? as u32,
        most_beats: setup.number("beats", Limits::NONE.most_beats)?,
        candidates,
        writes_whole: is("records", ["log", "whole"])?,
        forgetful: is("acceptors", ["durable", "forgetful"])?,
        adopts: match setup.choice("adopt", &["greatest", "first", "nothing"])? {
            "first" => Adopts::First,
            "nothing" => Adopts::Nothing,
            _ => Adopts::Greatest,
        },
    };
    Ok((settings, limits))
}
