//! `synod pool ls`.

use crate::cluster::reach::Reach;
use crate::cluster::sides::{Survey, last};
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::{self, Output};
use crate::words::grouped;
use anyhow::Result;
use clap::Args;
use serde_json::Value;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  synod pool ls
  synod pool ls -o json | jq -r '.[].name'";

/// List the pools, and how full they are
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ls {
    #[command(flatten)]
    reach: Reach,
}

impl Ls {
    /// Lists the pools.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let mut survey = Survey::of(&cluster).await;
            if survey.answers().next().is_none() {
                let why = survey.nodes.drain(..).find_map(|seen| seen.status.err());
                let why = why.map(|why| why.to_string()).unwrap_or_default();
                return Err(Trouble::NoneAnswers { nodes: cluster.names(), why }.into());
            }
            let pools = survey.pools();
            let values: Vec<Value> = pools.iter().map(|pool| pool.json()).collect();
            output.answer(&values, || {
                if pools.is_empty() {
                    return "there is no pool yet: synod pool create NAME --size 100\n".to_owned();
                }
                let rows = pools.iter().map(|pool| {
                    vec![
                        pool.name.to_owned(),
                        format!("{} to {}", pool.spec.first, last(&pool.spec)),
                        grouped(u64::from(pool.spec.size)),
                        grouped(pool.sum(|_, status| status.used)),
                        grouped(pool.sum(|_, status| status.unused())),
                        grouped(pool.sum(|_, status| status.cooling)),
                        grouped(pool.absent()),
                    ]
                });
                let header = ["pool", "items", "all", "used", "free", "resting", "absent"];
                output::table(
                    &header,
                    &["all", "used", "free", "resting", "absent"],
                    rows.collect(),
                )
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
