//! `synod status`: nodes, sides, pools, groups.

use crate::cluster::picture;
use crate::cluster::reach::{Cluster, Reach};
use crate::cluster::sides::Survey;
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::Output;
use crate::parse;
use anyhow::Result;
use clap::Args;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

/// To the first line of the terminal, and clear all below.
const FROM_THE_TOP: &str = "\x1b[H\x1b[J";

const EXAMPLES: &str = "\
Examples:
  synod status                       which nodes are together, who owns how much of each pool
  synod status --watch               the same, drawn anew every second
  synod status --node n4             as one node sees it
  synod status -o json | jq .sides   for programs

Nodes that reach each other are one side. A pool has a bar for each node: █ items in use,
▒ items that rest before they are used again, ░ items that the node can hand out at once.

The exit code is 0 if all nodes are together, 3 if not, 69 if none answers.";

/// Show a cluster: nodes, sides of a cut, and who owns how much of each pool
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// Draw again and again
    #[arg(long)]
    watch: bool,
    /// The time between two pictures
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse::duration)]
    every: Duration,
    #[command(flatten)]
    reach: Reach,
}

impl Status {
    /// Shows the cluster.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            if !self.watch {
                return once(&cluster, output).await;
            }
            loop {
                let survey = Survey::of(&cluster).await;
                if output.is_json() {
                    output.line(&survey.json())?;
                } else {
                    let is_seen = std::io::stdout().is_terminal();
                    let top = if is_seen { FROM_THE_TOP } else { "" };
                    output.print(&format!("{top}{}\n", picture::cluster(&survey)))?;
                }
                sleep(self.every).await;
            }
        })
    }
}

async fn once(cluster: &Cluster, output: &Output) -> Result<ExitCode> {
    let mut survey = Survey::of(cluster).await;
    if survey.answers().next().is_none() {
        let names = cluster.names();
        let first = survey.nodes.drain(..).find_map(|seen| seen.status.err());
        let why = first.map(|why| why.to_string()).unwrap_or_default();
        return Err(Trouble::NoneAnswers { nodes: names, why }.into());
    }
    output.answer(&survey.json(), || picture::cluster(&survey))?;
    let code = if survey.is_ready() { 0 } else { 3 };
    Ok(ExitCode::from(code))
}
