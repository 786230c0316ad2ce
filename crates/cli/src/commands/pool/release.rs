//! `synod pool release`.

use crate::cluster::reach::Reach;
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::{GOOD, Output};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use synod_client::api::Token;
use synod_client::{Failure, Request};

const EXAMPLES: &str = "\
Examples:
  synod pool release ports 20000 --token 1.1

The token is the one that the claim printed. With an older one nothing is released: the item may
have another user by now.";

/// Give an item back
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Release {
    /// The pool
    name: String,
    /// The item
    item: u64,
    /// The token of the claim
    #[arg(long, value_name = "TOKEN")]
    token: Token,
    #[command(flatten)]
    reach: Reach,
}

impl Release {
    /// Gives the item back.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let Release { name: pool, item, token, reach } = self;
        let cluster = reach.cluster()?;
        wait_for(async {
            let request = Request::Release { pool: pool.clone(), item, token };
            let mut trouble: Option<Trouble> = None;
            // Only the node where the item was claimed knows the claim.
            for (_, answer) in cluster.ask_each(&request).await {
                match answer {
                    Ok(answer) => {
                        let value = json!({ "pool": pool, "item": item, "node": answer.node });
                        output.answer(&value, || {
                            format!("{GOOD}✓{GOOD:#} {item} is given back at {}\n", answer.node)
                        })?;
                        return Ok(ExitCode::SUCCESS);
                    }
                    // The claim may be at a node that does not answer.
                    Err(why) if trouble.is_none() || !is_stale(&why) => trouble = Some(why),
                    Err(_) => {}
                }
            }
            let none = Trouble::NoneAnswers { nodes: cluster.names(), why: String::new() };
            Err(trouble.unwrap_or(none).into())
        })
    }
}

fn is_stale(trouble: &Trouble) -> bool {
    matches!(trouble.failure(), Some(Failure::Stale { .. }))
}
