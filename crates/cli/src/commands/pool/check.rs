//! `synod pool check`: is an item in use twice?

use super::show::holder;
use crate::cluster::reach::Cluster;
use crate::cluster::reach::Reach;
use crate::cluster::sides::{PoolSeen, Survey};
use crate::cluster::trouble::Trouble;
use crate::cluster::wait_for;
use crate::output::{BAD, DIM, GOOD, Output};
use crate::words::{count, grouped};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use synod_client::api::Use;
use synod_client::{Failure, Reply, Request, Token};

const EXAMPLES: &str = "\
Examples:
  synod pool check ports
  synod pool check ports -o json | jq .twice

All nodes are asked which items are in use. The exit code is 0 if every item has one user at most, 1
if an item has two, and 3 if a node could not be asked and the others show nothing wrong.";

/// Ask all nodes whether an item is in use twice
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The pool
    name: String,
    #[command(flatten)]
    reach: Reach,
}

/// The users of one item: their nodes, tokens and names.
type Users = Vec<(String, Token, String)>;

/// The uses at all nodes, at one moment or nearly.
struct Round {
    users: BTreeMap<u64, Users>,
    /// The nodes that could not be asked, and why.
    silent: Vec<(String, Trouble)>,
}

impl Round {
    async fn of(cluster: &Cluster, pool: &str) -> Result<Self, Trouble> {
        let mut round = Round { users: BTreeMap::new(), silent: Vec::new() };
        for (target, answer) in cluster.ask_each(&Request::Uses(pool.to_owned())).await {
            match answer.map(|answer| answer.result) {
                Ok(Ok(Reply::Uses(uses))) => round.add(&target.name, uses),
                Ok(_) => {}
                Err(trouble) => round.silent.push((target.name, trouble)),
            }
        }
        // Where no node knows the pool, there is none.
        let all_refuse = round
            .silent
            .iter()
            .all(|(_, why)| matches!(why.failure(), Some(Failure::Unknown { .. })));
        if all_refuse && !round.silent.is_empty() && round.silent.len() == cluster.names().len() {
            return Err(round.silent.remove(0).1);
        }
        Ok(round)
    }

    fn add(&mut self, node: &str, uses: Vec<Use>) {
        for Use { item, token, holder: by, .. } in uses {
            self.users.entry(item).or_default().push((node.to_owned(), token, holder(&by)));
        }
    }

    /// The items with more than one user.
    fn twice(&self) -> BTreeMap<u64, Users> {
        let twice = self.users.iter().filter(|(_, users)| users.len() > 1);
        twice.map(|(item, users)| (*item, users.clone())).collect()
    }
}

/// The claims that are in both rounds. The second round began when the first one was over: at the
/// moment in between, each of these claims was in use.
fn at_one_moment(first: BTreeMap<u64, Users>, second: &Round) -> BTreeMap<u64, Users> {
    let still = |item: &u64, (node, token, _): &(String, Token, String)| {
        let now = second.users.get(item);
        now.is_some_and(|now| now.iter().any(|(at, is, _)| at == node && is == token))
    };
    let both = first.into_iter().map(|(item, mut users)| {
        users.retain(|user| still(&item, user));
        (item, users)
    });
    both.filter(|(_, users)| users.len() > 1).collect()
}

impl Check {
    /// Asks all nodes.
    pub(super) fn perform(self, output: &Output) -> Result<ExitCode> {
        let cluster = self.reach.cluster()?;
        wait_for(async {
            let round = Round::of(&cluster, &self.name).await?;
            // An item may have been released at one node and claimed at another in between.
            let twice = match round.twice() {
                twice if twice.is_empty() => twice,
                twice => at_one_moment(twice, &Round::of(&cluster, &self.name).await?),
            };
            let survey = Survey::of(&cluster).await;
            let mut silent = round.silent;
            silent.retain(|(node, _)| !survey.is_forgotten(node));
            if silent.len() == cluster.names().len() {
                let (_, why) = silent.remove(0);
                return Err(why.into());
            }
            let pools = survey.pools();
            let pool = pools.iter().find(|pool| pool.name == self.name);
            let found = Found { name: &self.name, pool, users: &round.users, twice, silent };
            output.answer(&found.json(), || found.in_words())?;
            Ok(ExitCode::from(match (found.twice.is_empty(), found.silent.is_empty()) {
                (false, _) => 1,
                (true, false) => 3,
                (true, true) => 0,
            }))
        })
    }
}

/// The answer.
struct Found<'f> {
    name: &'f str,
    pool: Option<&'f PoolSeen<'f>>,
    users: &'f BTreeMap<u64, Users>,
    twice: BTreeMap<u64, Users>,
    silent: Vec<(String, Trouble)>,
}

impl Found<'_> {
    fn json(&self) -> Value {
        let user = |(node, token, by): &(String, Token, String)| json!({ "node": node, "token": token.to_string(), "holder": by });
        let item = |(item, users): (&u64, &Users)| json!({ "item": item, "users": users.iter().map(user).collect::<Vec<Value>>() });
        let silent =
            |(node, why): &(String, Trouble)| json!({ "node": node, "why": why.to_string() });
        json!({
            "pool": self.name,
            "used": self.users.len(),
            "free": self.pool.map(|pool| pool.sum(|_, status| status.unused())),
            "resting": self.pool.map(|pool| pool.sum(|_, status| status.cooling)),
            "absent": self.pool.map(PoolSeen::absent),
            "twice": self.twice.iter().map(item).collect::<Vec<Value>>(),
            "not_asked": self.silent.iter().map(silent).collect::<Vec<Value>>(),
        })
    }

    fn in_words(&self) -> String {
        let mut text = String::new();
        for (item, users) in &self.twice {
            let _ = writeln!(text, "{BAD}✗ {item} is in use twice{BAD:#}");
            for (node, token, by) in users {
                let _ = writeln!(text, "    at {node}, token {token}, by {by}");
            }
        }
        for (node, why) in &self.silent {
            let _ = writeln!(text, "? {node} could not be asked: {why}");
        }
        let used = count(self.users.len() as u64, "item", "items");
        let _ = match (self.twice.is_empty(), self.silent.is_empty()) {
            (true, true) => writeln!(text, "{GOOD}✓{GOOD:#} {used} in use, none of them twice"),
            (true, false) => {
                writeln!(text, "? {used} in use, none of them twice among those asked")
            }
            (false, _) => Ok(()),
        };
        if let Some(pool) = self.pool {
            let _ = writeln!(
                text,
                "{DIM}of {}: free {}, resting {}, absent {}{DIM:#}",
                grouped(u64::from(pool.spec.size)),
                grouped(pool.sum(|_, status| status.unused())),
                grouped(pool.sum(|_, status| status.cooling)),
                grouped(pool.absent()),
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_client::api::Holder;

    fn used(item: u64, count: u64) -> Use {
        let token = Token { epoch: 1, count };
        Use { item, token, holder: Holder::Label("x".into()), for_ms: 0 }
    }

    fn round(uses: &[(&str, Use)]) -> Round {
        let mut round = Round { users: BTreeMap::new(), silent: Vec::new() };
        for (node, used) in uses {
            round.add(node, vec![used.clone()]);
        }
        round
    }

    #[test]
    fn an_item_that_moved_between_two_questions_is_not_in_use_twice() {
        let first = round(&[("n1", used(7, 1)), ("n2", used(7, 2)), ("n3", used(8, 1))]);
        assert_eq!(first.twice().keys().copied().collect::<Vec<_>>(), [7]);
        let second = round(&[("n2", used(7, 2)), ("n3", used(8, 1))]);
        assert!(at_one_moment(first.twice(), &second).is_empty());
    }

    #[test]
    fn two_claims_that_both_last_are_one_too_many() {
        let first = round(&[("n1", used(7, 1)), ("n2", used(7, 2))]);
        let second = round(&[("n1", used(7, 1)), ("n2", used(7, 2))]);
        assert_eq!(at_one_moment(first.twice(), &second)[&7].len(), 2);
    }
}
