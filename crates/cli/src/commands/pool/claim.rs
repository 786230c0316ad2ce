//! `synod pool claim`.

use crate::cluster::reach::{Node, Reach};
use crate::cluster::sides::{missing, mode};
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::{BOLD, DIM, Output};
use crate::parse;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;
use synod_client::api::{Answer, Claimed, Holder};
use synod_client::{Error, Mode, Reply, Request};

/// The most items of one command.
const MOST: i64 = 100_000;

const EXAMPLES: &str = "\
Examples:
  synod pool claim ports                     any item, and its fencing token
  synod pool claim ports -n 4                four items, or none
  synod pool claim ports --item 20443        this one
  synod pool claim ports --node n4           at this node, on its side of a cut
  synod pool claim ports --wait 5s           wait until one is free
  synod pool claim ports --label web-3       who it is, for 'synod pool show --uses'

The item is yours until 'synod pool release' gives it back. The claim is on the disk of its node: if
the node is killed and started again, it stays outside until the item is released, and no other node
gets the item meanwhile. Hand the token to whatever you use the item for: a later claim of the item
has a greater one. For an item that is given back by itself: synod pool run.";

/// Claim an item, until it is released
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Claim {
    /// The pool
    name: String,
    /// The number of items
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST))]
    count: u32,
    /// This item, instead of any
    #[arg(long, value_name = "ITEM", conflicts_with = "count")]
    item: Option<u64>,
    /// The time to wait for a free item
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    wait: Option<Duration>,
    /// The user of the item, for operators
    #[arg(long, value_name = "TEXT", default_value = "by hand")]
    label: String,
    #[command(flatten)]
    reach: Reach,
}

impl Claim {
    /// Claims the items.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.clone().cluster()?;
        wait_for(async {
            let node = cluster.any().await?;
            let mut claims = Vec::new();
            let mut last = None;
            for _ in 0..self.count {
                match self.one(&node).await {
                    Ok((claimed, answer)) => {
                        claims.push(claimed);
                        last = Some(answer);
                    }
                    Err(why) => return Err(give_back(&node, claims, self.count, why).await.into()),
                }
            }
            if let Some((name, view, state)) = last {
                self.show(&claims, (&name, &view, &state), output)?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    async fn one(&self, node: &Node) -> Result<(Claimed, (String, String, Mode)), Trouble> {
        let wait = self.wait.unwrap_or(Duration::ZERO);
        let request = Request::Claim {
            pool: self.name.clone(),
            item: self.item,
            holder: Holder::Label(self.label.clone()),
            wait_ms: wait.as_millis() as u64,
        };
        let Answer { node: name, view, mode, result } = node.ask_within(&request, wait).await?;
        match result {
            Ok(Reply::Claimed(claimed)) => Ok((claimed, (name, view, mode))),
            _ => Err(node.trouble(Error::Unexpected)),
        }
    }

    fn show(
        &self,
        claims: &[Claimed],
        (node, view, state): (&str, &str, &Mode),
        output: &Output,
    ) -> Result<()> {
        let list: Vec<_> = claims
            .iter()
            .map(|claimed| json!({ "item": claimed.item, "token": claimed.token.to_string() }))
            .collect();
        let value = json!({
            "pool": self.name,
            "node": node,
            "view": view,
            "mode": mode(state),
            "missing": missing(state),
            "claims": list,
        });
        output.answer(&value, || {
            let line = |claimed: &Claimed| {
                let Claimed { item, token, .. } = claimed;
                format!("{BOLD}{item}{BOLD:#}  token {token}\n")
            };
            let mut text: String = claims.iter().map(line).collect();
            let without = match missing(state) {
                [] => String::new(),
                missing => format!(", without {}", missing.join(" ")),
            };
            text += &format!("{DIM}claimed at {node} in view {view}{without}");
            if let [Claimed { item, token, .. }] = claims {
                text += &format!("; back: synod pool release {} {item} --token {token}", self.name);
            }
            text + &format!("{DIM:#}\n")
        })
    }
}

/// Not all items could be claimed: the others are given back.
async fn give_back(node: &Node, claims: Vec<Claimed>, wanted: u32, why: Trouble) -> Trouble {
    if claims.is_empty() {
        return why;
    }
    let got = claims.len();
    for Claimed { pool, item, token } in claims {
        // A node that is gone has forgotten the claim.
        let _ = node.ask(&Request::Release { pool, item, token }).await;
    }
    Trouble::NotAll { got, wanted: wanted as usize, why: Box::new(why) }
}
