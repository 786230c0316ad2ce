//! `synod member forget`.

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
  synod member forget n4

Nobody can tell a dead node from one that is cut off, but you can. The certificate needs a majority
of the nodes. From then on others may have the items of n4, and n4 is never let in again. A node in
the view of the others is alive, and is not forgotten: stop it first, or let it leave.";

/// Certify that a node is dead for good, so that others may have its items
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Forget {
    /// Its name
    name: String,
    #[command(flatten)]
    reach: Reach,
}

impl Forget {
    /// Certifies the death.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            node.ask(&Request::Forget(self.name.clone())).await?;
            output.answer(&json!({ "node": self.name, "forgotten": true }), || {
                let name = &self.name;
                format!("{GOOD}✓{GOOD:#} {name} is certified dead; others may have its items\n")
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
