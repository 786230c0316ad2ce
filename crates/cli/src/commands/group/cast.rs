//! `synod group cast`.

use crate::cluster::reach::Reach;
use crate::cluster::sides::{missing, mode};
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use synod_client::Request;
use synod_client::api::Level;

const EXAMPLES: &str = "\
Examples:
  synod group cast chat 'hello all'
  synod group cast chat 'deploy 42' --safe   delivered when all nodes of the view have it
  synod group cast chat hello --node n4      from this node, to its side of a cut";

/// Send a message to all members of a group
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cast {
    /// The group
    name: String,
    /// The message
    message: String,
    /// No member delivers the message before all members of the view have it
    #[arg(long)]
    safe: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Cast {
    /// Sends the message.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            let level = if self.safe { Level::Safe } else { Level::Agreed };
            let body = self.message.into_bytes();
            let answer = node.ask(&Request::Cast { group: self.name.clone(), level, body }).await?;
            let value = json!({
                "group": self.name,
                "node": answer.node,
                "view": answer.view,
                "mode": mode(&answer.mode),
                "missing": missing(&answer.mode),
            });
            output.answer(&value, || {
                let without = match missing(&answer.mode) {
                    [] => String::new(),
                    missing => format!(", without {}", missing.join(" ")),
                };
                let view = &answer.view;
                format!("{GOOD}✓{GOOD:#} sent from {} in view {view}{without}\n", answer.node)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
