//! What came of a run on real sockets, as its caller sees it.

use crate::control::Medium;
use synod_core::ProcessId;
use synod_sim::Report;

/// What came of a run on real sockets.
#[derive(Clone, Debug)]
pub struct Real {
    /// The same as of a simulated run.
    pub report: Report,
    /// What only a real run has.
    pub facts: Facts,
}

/// What only a real run has.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What carried the messages.
    pub medium: Medium,
    /// Whether a multicast was sent once for all, by IP multicast.
    pub shared: bool,
    /// From the first request to the last answer, in microseconds.
    pub busy_us: u64,
    /// How many answers there were after the first, and from that to the last, in microseconds: the
    /// speed without what was needed to get going.
    pub pace: (u64, u64),
    /// From requests to their answers; where requests take effect at others, until they do.
    pub latency: Option<Latency>,
    /// How many messages were handed to sockets, and how many bytes they took with all that
    /// surrounds them.
    pub parcels: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Clients and datagrams that did not belong to the run.
    pub strangers: u64,
    /// Messages that could not be read.
    pub unreadable: u64,
    /// Who died, and when, in microseconds since the start.
    pub crashes: Vec<(ProcessId, u64)>,
    /// Who was started again, and when.
    pub restarts: Vec<(ProcessId, u64)>,
    /// What else people should know.
    pub notes: Vec<String>,
}

/// How long requests took, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Half of them no longer than this.
    pub p50_us: u64,
    /// All but one in a hundred no longer than this.
    pub p99_us: u64,
}

impl Latency {
    pub(crate) fn of(all: &mut [u64]) -> Option<Self> {
        all.sort_unstable();
        let rank = |percent: usize| all.get((all.len().saturating_sub(1)) * percent / 100).copied();
        Some(Latency { p50_us: rank(50)?, p99_us: rank(99)? })
    }
}
