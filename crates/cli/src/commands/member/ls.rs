//! `synod member ls`.

use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::{self, Output};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use synod_client::api::{Health, MemberStatus};
use synod_client::{Error, Reply, Request};

const EXAMPLES: &str = "\
Examples:
  synod member ls
  synod member ls --node n4   as n4 sees them";

/// List the nodes, as one of them sees them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Ls {
    #[command(flatten)]
    reach: Reach,
}

fn in_words(health: Health) -> &'static str {
    match health {
        Health::Here => "answers",
        Health::Together => "in the same view",
        Health::Unreachable => "out of reach",
        Health::Forgotten => "certified dead",
    }
}

impl Ls {
    /// Lists the nodes.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            let answer = node.ask(&Request::Status).await?;
            let Ok(Reply::Status(status)) = answer.result else {
                return Err(node.trouble(Error::Unexpected).into());
            };
            let leader = status.registry.leader.as_deref();
            let leads = |member: &MemberStatus| leader == Some(member.name.as_str());
            let value = |member: &MemberStatus| {
                json!({
                    "name": member.name,
                    "address": member.address,
                    "votes": member.votes,
                    "leads": leads(member),
                    "health": member.health,
                })
            };
            let values: Vec<Value> = status.members.iter().map(value).collect();
            output.answer(&values, || {
                let rows = status.members.iter().map(|member| {
                    let role = match (leads(member), member.votes) {
                        (true, _) => "leads the registry",
                        (false, true) => "votes",
                        (false, false) => "",
                    };
                    vec![
                        member.name.clone(),
                        member.address.clone(),
                        role.to_owned(),
                        in_words(member.health).to_owned(),
                    ]
                });
                let seen = format!("seen by {}", status.node);
                output::table(&["node", "address", "registry", &seen], &[], rows.collect())
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
