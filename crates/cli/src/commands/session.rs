//! `synod session`: users of items that are kept alive.

use crate::cluster::picture::age;
use crate::cluster::reach::Reach;
use crate::cluster::wait_for;
use crate::output::{self, Output};
use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;
use synod_client::api::SessionStatus;
use synod_client::{Reply, Request};

const EXAMPLES: &str = "\
Examples:
  synod session ls                      who is connected, and how many items they use
  synod session ls -o json | jq length";

/// List the sessions: users of items that are kept alive
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Session {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List the sessions at all nodes
    #[command(after_help = EXAMPLES)]
    Ls {
        #[command(flatten)]
        reach: Reach,
    },
}

impl Session {
    /// Performs the sub-command.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        let What::Ls { reach } = self.what;
        let cluster = reach.cluster()?;
        wait_for(async {
            let mut sessions: Vec<(String, SessionStatus)> = Vec::new();
            let mut last = None;
            let mut answers = 0;
            for (target, answer) in cluster.ask_each(&Request::Sessions).await {
                match answer.map(|answer| answer.result) {
                    Ok(Ok(Reply::Sessions(list))) => {
                        answers += 1;
                        sessions.extend(list.into_iter().map(|one| (target.name.clone(), one)));
                    }
                    Ok(_) => {}
                    Err(why) => {
                        output::note(&format!("not asked: {why}\n"));
                        last = Some(why);
                    }
                }
            }
            if let (0, Some(why)) = (answers, last) {
                return Err(why.into());
            }
            let values: Vec<Value> = sessions.iter().map(json_of).collect();
            output.answer(&values, || table(&sessions))?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn json_of((node, session): &(String, SessionStatus)) -> Value {
    json!({
        "node": node,
        "session": session.session.0,
        "label": session.label,
        "ttl_ms": session.ttl_ms,
        "left_ms": session.left_ms,
        "items": session.items,
    })
}

fn table(sessions: &[(String, SessionStatus)]) -> String {
    if sessions.is_empty() {
        return "there is no session: synod pool run opens one\n".to_owned();
    }
    let rows = sessions.iter().map(|(node, session)| {
        vec![
            node.clone(),
            session.session.0.to_string(),
            session.items.to_string(),
            age(session.ttl_ms),
            age(session.left_ms),
            session.label.clone(),
        ]
    });
    let header = ["node", "session", "items", "TTL", "left", "label"];
    output::table(&header, &["session", "items", "TTL", "left"], rows.collect())
}
