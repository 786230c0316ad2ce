//! `synod bench`: multicasts and replicated logs, measured on real sockets.

mod multicasts;
mod stores;

use crate::about::About;
use crate::output::Output;
use crate::parse;
use crate::real::On;
use anyhow::{Result, ensure};
use clap::Args;
use multicasts::Multicasts;
use stores::Stores;
use synod_core::Family;
use synod_core::Verdict;
use synod_core::family::{GroupMulticast, Replication};

const EXAMPLES: &str = "\
Examples:
  synod bench                               every multicast, 5 processes, 10,000 messages
  synod bench --only sequencer -n 3         one of them
  synod bench --requests 100000 --runs 5    longer, and more often
  synod bench --stores                      every replicated log, with a disk and without
  synod bench --only raft --clients 1,64    one of them, with 1 and with 64 clients";

/// Measure every multicast, or every replicated log, on real sockets: speed, latency, bytes
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// The number of processes [default: 5; replicated logs: the fewest that survive a failure]
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::group)]
    n: Option<usize>,
    /// The number of requests of all processes together [default: 10000; replicated logs: 2000 of
    /// one client, 200 more of each other]
    #[arg(short, long, value_name = "R", value_parser = parse::requests)]
    requests: Option<u64>,
    /// Multicasts: the number of bytes in each message
    #[arg(long, value_name = "BYTES", value_parser = parse::positive, default_value = "64")]
    payload: u64,
    /// The number of runs of each; the report has the run with the median speed
    #[arg(long, value_name = "K", value_parser = parse::positive, default_value = "3")]
    runs: u64,
    /// Only this algorithm; may be repeated
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Multicasts: only on this medium
    #[arg(long, value_name = "MEDIUM", value_enum)]
    on: Option<On>,
    /// Measure every replicated log instead, under a key-value store
    #[arg(long)]
    stores: bool,
    /// Replicated logs: the numbers of clients
    #[arg(long, value_name = "C,C", value_delimiter = ',', default_value = "1,64,256")]
    #[arg(value_parser = parse::positive)]
    clients: Vec<u64>,
}

impl Bench {
    /// Measures.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let families = self.only.iter().map(|name| Ok(About::find(name)?.family));
        let families: Vec<&str> = families.collect::<Result<_>>()?;
        let is_of = |family: &str| families.iter().all(|other| *other == family);
        let stores = self.stores || !families.is_empty() && is_of(Replication::NAME);
        ensure!(
            is_of(if stores { Replication::NAME } else { GroupMulticast::NAME }),
            "--only: name multicasts or replicated logs, but not both, and no other family"
        );
        if stores {
            let Bench { n, requests, runs, only, clients, .. } = self;
            return Stores { n, requests, runs, only, clients }.perform(output);
        }
        let Bench { n, requests, payload, runs, only, on, .. } = self;
        let (n, requests) = (n.unwrap_or(5), requests.unwrap_or(10_000));
        Multicasts { n, requests, payload, runs, only, on }.perform(output)
    }
}
