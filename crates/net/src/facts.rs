//! The result of a run on real sockets.

use crate::control::Medium;
use synod_core::ProcessId;
use synod_sim::Report;

/// The result of a run on real sockets.
#[derive(Clone, Debug)]
pub struct Real {
    /// Verdicts, counts and costs, as a simulated run reports them.
    pub report: Report,
    /// Measurements that only a real run has.
    pub facts: Facts,
}

/// Measurements that only a real run has.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The transport that carried the messages.
    pub medium: Medium,
    /// Whether one datagram of IP multicast carried a multicast to all its receivers.
    pub shared: bool,
    /// From the first request to the last answer, in microseconds.
    pub busy_us: u64,
    /// The number of answers after the first, and the time from the first to the last in
    /// microseconds: the throughput without the time to get going.
    pub pace: (u64, u64),
    /// From each request to its answer. A multicast counts once per other receiver, until its
    /// delivery there.
    pub latency: Option<Latency>,
    /// Messages handed to sockets.
    pub parcels: u64,
    /// Their bytes, including heads and lengths.
    pub bytes: u64,
    /// Connections and datagrams that did not belong to the run.
    pub strangers: u64,
    /// Messages that could not be decoded.
    pub unreadable: u64,
    /// The processes that died, each with the time in microseconds since the start.
    pub crashes: Vec<(ProcessId, u64)>,
    /// The processes that the coordinator restarted, each with the time.
    pub restarts: Vec<(ProcessId, u64)>,
    /// Remarks for the reader of the report, such as a member that fell silent.
    pub notes: Vec<String>,
}

/// Latencies of requests in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The median.
    pub p50_us: u64,
    /// The 99th percentile.
    pub p99_us: u64,
}

impl Latency {
    pub(crate) fn of(all: &mut [u64]) -> Option<Self> {
        all.sort_unstable();
        let rank = |percent: usize| all.get((all.len().saturating_sub(1)) * percent / 100).copied();
        Some(Latency { p50_us: rank(50)?, p99_us: rank(99)? })
    }
}
