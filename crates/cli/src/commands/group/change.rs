//! `synod group create` and `synod group rm`.

use crate::cluster::reach::{Cluster, Reach};
use crate::cluster::sides::Survey;
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;
use synod_client::Request;
use synod_client::api::Status;
use tokio::time::{Instant, sleep};

/// The time for the nodes to learn of a change.
const LEARNING: Duration = Duration::from_secs(2);
/// The pause between two looks at the nodes.
const LOOK: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  synod group create chat
  synod group rm chat";

/// A group to create or to delete.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Change {
    /// Its name
    name: String,
    #[command(flatten)]
    reach: Reach,
}

impl Change {
    /// Creates the group.
    pub(super) fn create(self, output: &Output) -> Result<ExitCode> {
        self.perform(Request::CreateGroup, "created", output)
    }

    /// Deletes the group.
    pub(super) fn delete(self, output: &Output) -> Result<ExitCode> {
        self.perform(Request::DeleteGroup, "deleted", output)
    }

    fn perform(
        self,
        request: fn(String) -> Request,
        done: &str,
        output: &Output,
    ) -> Result<ExitCode> {
        let cluster = self.reach.clone().cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            node.ask(&request(self.name.clone())).await?;
            self.learnt(&cluster, done == "created").await;
            output.answer(&json!({ "group": self.name, done: true }), || {
                format!("{GOOD}✓{GOOD:#} group {} is {done}\n", self.name)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Waits a moment until the nodes have learnt of the change.
    async fn learnt(&self, cluster: &Cluster, is_there: bool) {
        let until = Instant::now() + LEARNING.min(cluster.patience);
        while Instant::now() < until {
            let survey = Survey::of(cluster).await;
            let knows = |status: &Status| status.groups.iter().any(|group| group.name == self.name);
            if survey.answers().all(|status| knows(status) == is_there) {
                return;
            }
            sleep(LOOK).await;
        }
    }
}
