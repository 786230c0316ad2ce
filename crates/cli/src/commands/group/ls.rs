//! `synod group ls`.

use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::{self, Output};
use crate::words::grouped;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use synod_client::{Error, Reply, Request};

const EXAMPLES: &str = "\
Examples:
  synod group ls
  synod group ls --node n3   with the messages that n3 has delivered";

/// List the groups
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Ls {
    #[command(flatten)]
    reach: Reach,
}

impl Ls {
    /// Lists the groups, as one node sees them.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            let answer = node.ask(&Request::Status).await?;
            let Ok(Reply::Status(status)) = answer.result else {
                return Err(node.trouble(Error::Unexpected).into());
            };
            let groups = &status.groups;
            let value = |group: &synod_client::api::GroupSummary| json!({ "name": group.name, "node": status.node, "delivered": group.delivered });
            let values: Vec<Value> = groups.iter().map(value).collect();
            output.answer(&values, || {
                if groups.is_empty() {
                    return "there is no group yet: synod group create NAME\n".to_owned();
                }
                let rows =
                    groups.iter().map(|group| vec![group.name.clone(), grouped(group.delivered)]);
                let delivered = format!("delivered at {}", status.node);
                output::table(&["group", &delivered], &[&delivered], rows.collect())
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
