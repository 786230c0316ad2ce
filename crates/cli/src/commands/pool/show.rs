//! `synod pool show`.

use crate::cluster::picture::{age, whole_pool};
use crate::cluster::reach::Reach;
use crate::cluster::sides::Survey;
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::{self, Output};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use synod_client::api::{Holder, Use};
use synod_client::{Reply, Request};

const EXAMPLES: &str = "\
Examples:
  synod pool show ports             a bar for each node
  synod pool show ports --uses      and who uses what, since when
  synod pool show ports --node n2   as one node sees it";

/// Show one pool: who owns how much, and who uses what
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// Its name
    name: String,
    /// Also the items that are in use
    #[arg(long)]
    uses: bool,
    #[command(flatten)]
    reach: Reach,
}

/// The user of an item, for people and programs.
pub(super) fn holder(holder: &Holder) -> String {
    match holder {
        Holder::Session(session) => format!("session {}", session.0),
        Holder::Label(label) => label.clone(),
    }
}

impl Show {
    /// Shows the pool.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.clone().cluster()?;
        wait_for(async {
            let mut survey = Survey::of(&cluster).await;
            let mut uses: Vec<(String, Vec<Use>)> = Vec::new();
            if self.uses {
                for (target, answer) in cluster.ask_each(&Request::Uses(self.name.clone())).await {
                    if let Ok(Reply::Uses(list)) = answer.map_or(Ok(Reply::Done), |a| a.result) {
                        uses.push((target.name, list));
                    }
                }
            }
            let value = survey.pools().iter().find(|pool| pool.name == self.name).map(|pool| {
                let mut value = pool.json();
                if self.uses {
                    value["uses"] = uses.iter().flat_map(uses_json).collect();
                }
                value
            });
            let Some(value) = value else {
                return Err(self.unknown(&mut survey, cluster.names()).await.into());
            };
            output.answer(&value, || {
                let pools = survey.pools();
                let sides = survey.sides();
                let pool = pools.iter().find(|pool| pool.name == self.name);
                pool.map(|pool| whole_pool(pool, &sides)).unwrap_or_default() + &table(&uses)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// No node has such a pool.
    async fn unknown(&self, survey: &mut Survey, names: Vec<String>) -> Trouble {
        let known = survey.pools().iter().map(|pool| pool.name.to_owned()).collect();
        let answers = survey.nodes.iter().find(|seen| seen.status.is_ok());
        let Some(node) = answers.map(|seen| seen.name.clone()) else {
            let why = survey.nodes.drain(..).find_map(|seen| seen.status.err());
            let why = why.map(|why| why.to_string()).unwrap_or_default();
            return Trouble::NoneAnswers { nodes: names, why };
        };
        Trouble::NoObject { node, kind: "pool", name: self.name.clone(), known }
    }
}

fn uses_json((node, uses): &(String, Vec<Use>)) -> Vec<Value> {
    let one = |used: &Use| {
        json!({
            "item": used.item,
            "token": used.token.to_string(),
            "node": node,
            "holder": holder(&used.holder),
            "for_ms": used.for_ms,
        })
    };
    uses.iter().map(one).collect()
}

fn table(uses: &[(String, Vec<Use>)]) -> String {
    let rows = uses.iter().flat_map(|(node, uses)| {
        uses.iter().map(move |used| {
            vec![
                used.item.to_string(),
                used.token.to_string(),
                node.clone(),
                holder(&used.holder),
                age(used.for_ms),
            ]
        })
    });
    let rows: Vec<Vec<String>> = rows.collect();
    match rows.is_empty() {
        true => String::new(),
        false => {
            let header = ["item", "token", "node", "user", "for"];
            format!("\n{}", output::table(&header, &["item", "for"], rows))
        }
    }
}
