//! `synod pool create`.

use crate::cluster::reach::{Cluster, Reach};
use crate::cluster::sides::Survey;
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use crate::parse;
use crate::words::count;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;
use synod_client::Request;
use synod_client::api::{PoolSpec, PoolStatus};
use tokio::time::{Instant, sleep};

/// The time for the nodes to share the items.
const SPREADING: Duration = Duration::from_secs(2);
/// The pause between two looks at the nodes.
const LOOK: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  synod pool create ports --range 20000-29999
  synod pool create licences --size 100 --cooldown 60s   a released item rests for a minute
  synod pool create workers --size 64 --cap 16           no node uses more than 16 of them

All nodes learn of the pool. To create it needs a majority of the nodes; to use it does not.";

/// Create a pool
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Create {
    /// Its name
    name: String,
    /// Its items: the first and the last
    #[arg(long, value_name = "FIRST-LAST", value_parser = range)]
    #[arg(required_unless_present = "size", conflicts_with = "size")]
    range: Option<(u64, u32)>,
    /// The number of its items, which are then 0, 1, 2 and so on
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    size: Option<u32>,
    /// The time for which a released item rests before it is used again
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    cooldown: Option<Duration>,
    /// The most items that one node may use
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    cap: Option<u32>,
    #[command(flatten)]
    reach: Reach,
}

/// `20000-29999`: the first item, and their number.
fn range(text: &str) -> Result<(u64, u32), String> {
    let ends = text.split_once('-').and_then(|(first, last)| {
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let size = last.checked_sub(first)?.checked_add(1)?;
        Some((first, u32::try_from(size).ok()?))
    });
    ends.ok_or_else(|| "a range is written FIRST-LAST, such as 20000-29999".to_owned())
}

impl Create {
    /// Creates the pool.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let (first, size) = self.range.or(self.size.map(|size| (0, size))).unwrap_or((0, 1));
        let cooldown_ms = self.cooldown.map_or(0, |time| time.as_millis() as u64);
        let spec = PoolSpec { cooldown_ms, cap: self.cap, ..PoolSpec::range(first, size) };
        let cluster = self.reach.clone().cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            let answer = node.ask(&Request::CreatePool(self.name.clone(), spec)).await?;
            let users = self.spread(&cluster, size).await;
            let last = crate::cluster::sides::last(&spec);
            let value = json!({
                "pool": self.name,
                "first": first,
                "last": last,
                "size": size,
                "cooldown_ms": cooldown_ms,
                "cap": self.cap,
                "node": answer.node,
                "usable_at": users,
            });
            output.answer(&value, || {
                let items = count(u64::from(size), "item", "items");
                let users = match users.as_slice() {
                    [] => String::new(),
                    users => format!(", usable at {}", users.join(" ")),
                };
                format!("{GOOD}✓{GOOD:#} pool {}: {items}, {first} to {last}{users}\n", self.name)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Waits a moment until the nodes have learnt of the pool, and shared its items. Returns the
    /// nodes that can use it.
    async fn spread(&self, cluster: &Cluster, size: u32) -> Vec<String> {
        let until = Instant::now() + SPREADING.min(cluster.patience);
        // In a small pool, not every node gets an item before it asks for one.
        let is_large = size as usize >= 8 * cluster.targets.len();
        loop {
            let survey = Survey::of(cluster).await;
            let can_use = |status: &PoolStatus| status.settled && (status.free > 0 || !is_large);
            let pools = survey.pools();
            let pool = pools.iter().find(|pool| pool.name == self.name);
            let parts = pool.into_iter().flat_map(|pool| &pool.parts);
            let users: Vec<String> = parts
                .filter(|(_, part)| can_use(part))
                .map(|(node, _)| (*node).to_owned())
                .collect();
            if users.len() == survey.answers().count() || Instant::now() >= until {
                return users;
            }
            sleep(LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_both_ends() {
        assert_eq!(range("20000-29999"), Ok((20_000, 10_000)));
        assert_eq!(range("7-7"), Ok((7, 1)));
        for text in ["", "7", "9-7", "a-b", "0-99999999999", "-5"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
