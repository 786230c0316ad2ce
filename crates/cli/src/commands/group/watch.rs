//! `synod group watch`.

use crate::cluster::events;
use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::Output;
use crate::parse;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use synod_client::api::Topic;

const EXAMPLES: &str = "\
Examples:
  synod group watch chat             messages and views, at all nodes
  synod group watch chat --node n4   at one of them
  synod group watch chat -o json     one JSON value a line";

/// Print the messages of a group, and the views of the nodes
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Watch {
    /// The group
    name: String,
    /// End after this time
    #[arg(long = "for", value_name = "TIME", value_parser = parse::duration)]
    long: Option<Duration>,
    #[command(flatten)]
    reach: Reach,
}

impl Watch {
    /// Prints events.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        let topic = Topic::Group(self.name);
        wait_for(async {
            events::print(&cluster, &topic, self.long, output).await?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
