//! All nodes asked, and which of them are together.

use super::reach::Cluster;
use super::trouble::Trouble;
use serde_json::{Value, json};
use synod_client::api::{Health, PoolSpec, PoolStatus, Status};
use synod_client::{Mode, Reply, Request};

/// A node, and what it says about itself.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its name.
    pub(crate) name: String,
    /// What it says, or why it says nothing.
    pub(crate) status: Result<Box<Status>, Trouble>,
}

/// What all nodes say.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The nodes, in order.
    pub(crate) nodes: Vec<Seen>,
}

/// A pool, as all nodes that answer see it.
#[derive(Debug)]
pub(crate) struct PoolSeen<'s> {
    /// Its name.
    pub(crate) name: &'s str,
    /// Its definition.
    pub(crate) spec: PoolSpec,
    /// What each node says about its own part.
    pub(crate) parts: Vec<(&'s str, &'s PoolStatus)>,
}

impl Survey {
    /// Asks all nodes.
    pub(crate) async fn of(cluster: &Cluster) -> Self {
        let answers = cluster.ask_each(&Request::Status).await;
        let nodes = answers.into_iter().map(|(target, answer)| {
            let status = answer.and_then(|answer| match answer.result {
                Ok(Reply::Status(status)) => Ok(status),
                _ => Err(Trouble::Node { node: answer.node, why: synod_client::Error::Unexpected }),
            });
            let name = status.as_ref().map_or(target.name, |status| status.node.clone());
            Seen { name, status }
        });
        Survey { nodes: nodes.collect() }
    }

    /// What the nodes that answer say.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Status> {
        self.nodes.iter().filter_map(|seen| seen.status.as_deref().ok())
    }

    /// The nodes of each view, by the first of them. A node in no view is alone.
    pub(crate) fn sides(&self) -> Vec<Vec<&Status>> {
        let mut sides: Vec<Vec<&Status>> = Vec::new();
        for status in self.answers() {
            let in_view = status.mode != Mode::Outside;
            let side = sides.iter_mut().find(|side| {
                in_view && side[0].mode != Mode::Outside && side[0].view == status.view
            });
            match side {
                Some(side) => side.push(status),
                None => sides.push(vec![status]),
            }
        }
        sides
    }

    /// Whether all nodes answer, are in one view, and know who leads the registry.
    pub(crate) fn is_ready(&self) -> bool {
        let is_there = |seen: &Seen| seen.status.is_ok() || self.is_forgotten(&seen.name);
        let all_answer = self.nodes.iter().all(is_there);
        let is_whole = |status: &Status| {
            status.mode == Mode::Whole
                && status.registry.leader.is_some()
                && !status.members.is_empty()
        };
        all_answer && self.sides().len() == 1 && self.answers().all(is_whole)
    }

    /// The nodes that a node which answers knows to be certified dead.
    pub(crate) fn is_forgotten(&self, name: &str) -> bool {
        let mut members = self.answers().flat_map(|status| &status.members);
        members.any(|member| member.name == name && member.health == Health::Forgotten)
    }

    /// The pools, by name.
    pub(crate) fn pools(&self) -> Vec<PoolSeen<'_>> {
        let mut pools: Vec<PoolSeen<'_>> = Vec::new();
        for status in self.answers() {
            for pool in &status.pools {
                let part = (status.node.as_str(), pool);
                match pools.iter_mut().find(|seen| seen.name == pool.name) {
                    Some(seen) => seen.parts.push(part),
                    None => pools.push(PoolSeen {
                        name: &pool.name,
                        spec: pool.spec,
                        parts: vec![part],
                    }),
                }
            }
        }
        pools.sort_by_key(|pool| pool.name);
        pools
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        let cluster = self.answers().next().map(|status| status.cluster.clone());
        let nodes: Vec<Value> = self.nodes.iter().map(node_json).collect();
        let names = |side: &Vec<&Status>| -> Vec<String> {
            side.iter().map(|status| status.node.clone()).collect()
        };
        let in_view = |side: &&Vec<&Status>| side[0].mode != Mode::Outside;
        let sides: Vec<Vec<String>> = self.sides().iter().filter(in_view).map(names).collect();
        let pools: Vec<Value> = self.pools().iter().map(PoolSeen::json).collect();
        json!({ "cluster": cluster, "nodes": nodes, "sides": sides, "pools": pools })
    }
}

fn node_json(seen: &Seen) -> Value {
    match &seen.status {
        Err(why) => json!({ "node": seen.name, "answers": false, "why": why.to_string() }),
        Ok(status) => {
            let missing = missing(&status.mode);
            let members: Vec<Value> = status
                .members
                .iter()
                .map(|member| {
                    json!({
                        "name": member.name,
                        "address": member.address,
                        "votes": member.votes,
                        "health": member.health,
                    })
                })
                .collect();
            let groups: Vec<Value> = status
                .groups
                .iter()
                .map(|group| {
                    json!({
                        "name": group.name,
                        "delivered": group.delivered,
                    })
                })
                .collect();
            json!({
                "node": status.node,
                "answers": true,
                "life": status.incarnation,
                "version": status.version,
                "uptime_ms": status.uptime_ms,
                "view": status.view,
                "mode": mode(&status.mode),
                "missing": missing,
                "leader": status.registry.leader,
                "term": status.registry.term,
                "applied": status.registry.applied,
                "members": members,
                "groups": groups,
                "sessions": status.sessions,
            })
        }
    }
}

/// One word for a mode.
pub(crate) fn mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Whole => "whole",
        Mode::Partitioned(_) => "partitioned",
        Mode::Outside => "outside",
    }
}

/// The nodes that are out of reach.
pub(crate) fn missing(mode: &Mode) -> &[String] {
    match mode {
        Mode::Partitioned(missing) => missing,
        Mode::Whole | Mode::Outside => &[],
    }
}

impl PoolSeen<'_> {
    /// The number of items that a node owns, by its own word.
    pub(crate) fn owned(node: &str, status: &PoolStatus) -> u32 {
        status.owners.iter().filter(|owned| owned.node == node).map(|owned| owned.items).sum()
    }

    /// A sum over the nodes.
    pub(crate) fn sum(&self, of: impl Fn(&str, &PoolStatus) -> u32) -> u64 {
        self.parts.iter().map(|(node, status)| u64::from(of(node, status))).sum()
    }

    /// The number of items that no node owns which answers.
    pub(crate) fn absent(&self) -> u64 {
        u64::from(self.spec.size).saturating_sub(self.sum(Self::owned))
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        let part = |(node, status): &(&str, &PoolStatus)| {
            json!({
                "node": node,
                "owned": Self::owned(node, status),
                "used": status.used,
                "free": status.unused(),
                "resting": status.cooling,
                "absent": status.absent,
                "settled": status.settled,
                "claims": status.claims,
                "refusals": status.refusals,
            })
        };
        json!({
            "name": self.name,
            "first": self.spec.first,
            "last": last(&self.spec),
            "size": self.spec.size,
            "cooldown_ms": self.spec.cooldown_ms,
            "cap": self.spec.cap,
            "owned": self.sum(Self::owned),
            "used": self.sum(|_, status| status.used),
            "free": self.sum(|_, status| status.unused()),
            "resting": self.sum(|_, status| status.cooling),
            "absent": self.absent(),
            "nodes": self.parts.iter().map(part).collect::<Vec<Value>>(),
        })
    }
}

/// The last item of a pool.
pub(crate) fn last(spec: &PoolSpec) -> u64 {
    spec.first + u64::from(spec.size.max(1)) - 1
}
