//! `synod pool rm`.

use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use synod_client::Request;

const EXAMPLES: &str = "\
Examples:
  synod pool rm ports

All claims in the pool are void. To delete a pool needs a majority of the nodes; a node that is cut
off learns of it when the network is whole again.";

/// Delete a pool
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rm {
    /// Its name
    name: String,
    #[command(flatten)]
    reach: Reach,
}

impl Rm {
    /// Deletes the pool.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            node.ask(&Request::DeletePool(self.name.clone())).await?;
            output.answer(&json!({ "pool": self.name, "deleted": true }), || {
                format!("{GOOD}✓{GOOD:#} pool {} is deleted\n", self.name)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
