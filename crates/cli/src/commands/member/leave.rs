//! `synod member leave`.

use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use synod_client::Request;

const EXAMPLES: &str = "\
Examples:
  synod member leave --node n5

The node hands its items over to the others and stops. Claims at it end. SIGTERM to its process does
the same.";

/// Let a node hand its items over, and stop
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Leave {
    #[command(flatten)]
    reach: Reach,
}

impl Leave {
    /// Lets the node leave.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        if !cluster.has_wanted() && cluster.targets.len() > 1 {
            bail!("which node is to leave? Say --node {}", cluster.names().join(" or --node "));
        }
        wait_for(async {
            let node = cluster.any().await?;
            let answer = node.ask(&Request::Leave).await?;
            output.answer(&json!({ "node": answer.node, "leaves": true }), || {
                format!("{GOOD}✓{GOOD:#} {} hands its items over, and leaves\n", answer.node)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
