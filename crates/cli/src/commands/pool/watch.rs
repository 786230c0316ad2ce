//! `synod pool watch`.

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
  synod pool watch ports                       claims, releases and views, at all nodes
  synod pool watch ports --node n4 --for 10s   at one of them, for ten seconds
  synod pool watch ports -o json               one JSON value a line";

/// Print what happens to a pool, as it happens
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Watch {
    /// The pool
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
        let topic = Topic::Pool(self.name);
        wait_for(async {
            events::print(&cluster, &topic, self.long, output).await?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
