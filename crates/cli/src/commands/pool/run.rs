//! `synod pool run`.

use crate::cluster::lease::{Lease, SHORTEST_TTL};
use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::parse;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  synod pool run ports -- server --port {slot}
  synod pool run ports --wait 5s -- server --port {slot}      wait until an item is free
  synod pool run ports --ttl 3s -- sh -c 'echo $SYNOD_SLOT'

The command gets the item in place of {slot} and as SYNOD_SLOT, its fencing token as SYNOD_FENCE and
the pool as SYNOD_POOL. SIGTERM, SIGINT and SIGHUP are passed on. If the node is silent for so long
that the item could soon be given to another user, the command gets SIGTERM, and SIGKILL a third of
the TTL later: it is dead before another user can have the item, also if 'synod pool run' itself is
stopped or killed. The command runs in a process group of its own, without standard input; the group
is killed when the command ends.

The exit code is that of the command; 73: no item; 74: the item was lost, and the command ended for
it; 69: the node cannot be reached.";

/// Run a command with an item that is given back when it ends
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// The pool
    name: String,
    /// The silence after which the node gives the item to others
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = ttl)]
    ttl: Duration,
    /// The time to wait for a free item
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse::duration)]
    wait: Duration,
    /// The command, for operators
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    reach: Reach,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<String>,
}

fn ttl(text: &str) -> Result<Duration, String> {
    let ttl = parse::duration(text)?;
    match ttl >= SHORTEST_TTL {
        true => Ok(ttl),
        false => Err(format!("a TTL is at least {SHORTEST_TTL:?}: a busy machine could be late")),
    }
}

impl Run {
    /// Runs the command.
    pub(super) fn perform(self) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        let label = self.label.or_else(|| self.words.first().cloned()).unwrap_or_default();
        let lease =
            Lease { pool: self.name, ttl: self.ttl, wait: self.wait, label, words: self.words };
        wait_for(async {
            let node = cluster.any().await?;
            Ok(ExitCode::from(lease.run(&node).await?))
        })
    }
}
