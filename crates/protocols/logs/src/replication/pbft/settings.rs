//! The settings of a group, and the rule that the mutant leaves out.

use crate::replication::settings::{MOST_BYTES, most_bytes_rule, part_bytes_rule};
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::replication::{BadSettings, PART_BYTES};
use synod_core::{Data, ProcessId, ProcessSet, Setup, SetupError};

/// The rules that a mutant leaves out.
pub trait Rules: Data {
    /// A quorum is so large that any two of them have a loyal replica in common.
    const QUORUMS_MEET: bool = true;
}

/// All rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sound;

impl Rules for Sound {}

/// The settings of a group. All its processes have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The first processes, this many, are replicas; the others have only clients.
    pub replicas: usize,
    /// f: this many of them may be traitors.
    pub faulty: usize,
    /// K: a checkpoint is taken after this many sequence numbers. The log has room for twice as
    /// many: with a large state, it must be longer than the digest of the state takes.
    pub period: u64,
    /// At most this many requests are in a batch.
    pub most_requests: usize,
    /// A batch has no second request if its requests have more bytes than this together.
    pub most_bytes: usize,
    /// At most this many batches of the primary are under way at a time.
    pub ahead: u64,
    /// A replica suspects the primary if a request takes longer than this.
    pub suspect_ms: u64,
    /// How long a replica waits before it asks for messages that may have been lost; 0: it never
    /// does.
    pub resend_ms: u64,
    /// A state that has more bytes travels, and is written, in parts of about this size.
    pub part_bytes: usize,
}

impl Settings {
    /// Settings for this many replicas in one data centre, with as many traitors as they can bear.
    pub fn new(replicas: usize) -> Self {
        Settings {
            replicas,
            faulty: replicas.saturating_sub(1) / 3,
            period: 64,
            most_requests: 64,
            most_bytes: MOST_BYTES,
            ahead: 8,
            suspect_ms: 400,
            resend_ms: 150,
            part_bytes: PART_BYTES,
        }
    }

    /// Whether a group can work like that; if not, the first setting that is wrong, and why.
    pub fn check(&self) -> Result<(), BadSettings> {
        let up_to = |number: u64| (1..=MOST).contains(&number);
        let most_ms = u64::MAX >> 16;
        let rules = [
            ("replicas", self.replicas > 0, "a log needs a replica"),
            (
                "faulty",
                self.replicas > self.faulty.saturating_mul(3),
                "there must be more than three times as many replicas as traitors",
            ),
            ("period", up_to(self.period), "from 1 to 1024"),
            ("most_requests", up_to(self.most_requests as u64), "from 1 to 1024"),
            ("ahead", up_to(self.ahead), "from 1 to 1024"),
            ("suspect_ms", (1..=most_ms).contains(&self.suspect_ms), "from 1 to 2^48"),
            ("resend_ms", self.resend_ms <= most_ms, "from 0 to 2^48"),
            most_bytes_rule(self.most_bytes),
            part_bytes_rule(self.part_bytes),
        ];
        BadSettings::first(&rules)
    }
}

/// Limits for explorers: worlds that end, and replicas that break a rule on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Limits {
    /// No replica goes to a later view.
    pub(super) most_views: u64,
    /// Whether a replica executes only what a quorum has committed.
    pub(super) commits: bool,
    /// Whether clients are at processes that are no replicas.
    pub(super) outsiders: bool,
}

impl Limits {
    /// No limits, and every rule is kept: for groups that run.
    pub(super) const NONE: Limits =
        Limits { most_views: u64::MAX >> 2, commits: true, outsiders: true };
}

/// No batch has more requests, no group a longer period.
const MOST: u64 = 1_024;

/// The parameters of PBFT alone.
pub(super) const PARAMETERS: [Parameter; 11] = [
    Parameter {
        name: "replicas",
        meaning: "the first so many processes keep the log, and the others only have clients \
                  (default: all)",
    },
    Parameter {
        name: "faulty",
        meaning: "how many traitors among the replicas it is made for (default: (replicas − 1) / 3)",
    },
    Parameter {
        name: "unsafe",
        meaning: "no (default), or yes: for more traitors than a group of this size can bear",
    },
    Parameter {
        name: "checkpoint",
        meaning: "after how many sequence numbers a checkpoint is taken (default: 64)",
    },
    Parameter { name: "batch", meaning: "most requests under one sequence number (default: 64)" },
    Parameter {
        name: "ahead",
        meaning: "how many batches the primary has under way at a time (default: 8)",
    },
    Parameter {
        name: "suspect",
        meaning: "milliseconds that a request may take before the primary is suspected; twice as \
                  many after each change of view (default: 400)",
    },
    Parameter {
        name: "resend",
        meaning: "milliseconds before a replica asks for what may have been lost; 0: it does not \
                  (default: 150)",
    },
    Parameter { name: "views", meaning: "for explorers: the last view (default: no limit)" },
    Parameter {
        name: "commit",
        meaning: "yes (default), or no: what is prepared is executed at once, which is not safe",
    },
    Parameter { name: "secret", meaning: "the number that all keys are made from (default: 0)" },
];

/// Reads the parameters of the catalogue.
pub(super) fn from_setup(setup: &Setup) -> Result<(Settings, Limits), SetupError> {
    let replicas = within(setup, "replicas", setup.n as u64, setup.n as u64)? as usize;
    let faulty = setup.number("faulty", (replicas as u64 - 1) / 3)?.min(MOST) as usize;
    let bold = setup.choice("unsafe", &["no", "yes"])? == "yes";
    if replicas <= faulty || !bold && replicas < 3 * faulty + 1 {
        let why = format!("{replicas} replicas cannot bear {faulty} traitors");
        return Err(setup.bad("faulty", why));
    }
    let settings = Settings {
        faulty,
        period: within(setup, "checkpoint", 64, MOST)?,
        most_requests: within(setup, "batch", 64, MOST)? as usize,
        ahead: within(setup, "ahead", 8, MOST)?,
        suspect_ms: within(setup, "suspect", 400, u64::MAX >> 16)?,
        resend_ms: setup.number("resend", 150)?.min(u64::MAX >> 16),
        ..Settings::new(replicas)
    };
    let limits = Limits {
        most_views: setup.number("views", Limits::NONE.most_views)?,
        commits: setup.choice("commit", &["yes", "no"])? == "yes",
        outsiders: replicas < setup.n,
    };
    Ok((settings, limits))
}

impl Settings {
    /// All but those that may be silent.
    pub(super) fn quorum(&self) -> usize {
        self.replicas - self.faulty
    }

    /// The distance of the water marks: H − h of section 4.3.
    pub(super) fn window(&self) -> u64 {
        2 * self.period
    }

    pub(super) fn is_replica(&self, at: ProcessId) -> bool {
        at.index() < self.replicas
    }

    pub(super) fn all(&self) -> ProcessSet {
        ProcessSet::all(self.replicas)
    }

    /// Section 4: the primary of view v is the replica p = v mod |R|.
    pub(super) fn primary(&self, view: u64) -> ProcessId {
        ProcessId((view % self.replicas as u64) as u32)
    }
}

/// A number from 1 to a limit.
fn within(setup: &Setup, name: &str, default: u64, most: u64) -> Result<u64, SetupError> {
    match setup.number(name, default)? {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(setup.bad(name, format!("from 1 to {most}"))),
    }
}
