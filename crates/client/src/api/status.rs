//! What a node says about itself.

use super::{Holder, Mode, PoolSpec, SessionId, Token};
use serde::{Deserialize, Serialize};

/// Everything about a node, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The name of the cluster.
    pub cluster: String,
    /// The name of the node.
    pub node: String,
    /// Which life of the node this is, from 1.
    pub incarnation: u32,
    /// Its version.
    pub version: String,
    /// How long it has been running, in milliseconds.
    pub uptime_ms: u64,
    /// Its view.
    pub view: String,
    /// Whether the cluster is whole.
    pub mode: Mode,
    /// All nodes of the cluster.
    pub members: Vec<MemberStatus>,
    /// The registry, as this node sees it.
    pub registry: RegistryStatus,
    /// The pools.
    pub pools: Vec<PoolStatus>,
    /// The groups.
    pub groups: Vec<GroupSummary>,
    /// The number of open sessions at this node.
    pub sessions: usize,
}

/// How a node is seen by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// The node that answers.
    Here,
    /// In the same view.
    Together,
    /// Out of reach.
    Unreachable,
    /// Certified dead.
    Forgotten,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its name.
    pub name: String,
    /// Where its peers reach it.
    pub address: String,
    /// Whether it votes in the registry.
    pub votes: bool,
    /// How the node that answers sees it.
    pub health: Health,
}

/// The registry, as one node sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryStatus {
    /// The leader, if the node knows one.
    pub leader: Option<String>,
    /// The term.
    pub term: u64,
    /// The last entry that the node has applied.
    pub applied: u64,
}

/// How many items a node owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owned {
    /// The node.
    pub node: String,
    /// How many items.
    pub items: u32,
}

/// A pool, as one node sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// Its name.
    pub name: String,
    /// Its definition.
    pub spec: PoolSpec,
    /// Whether all members of the view agree on the owners.
    pub settled: bool,
    /// The owners of items in this part of the cluster.
    pub owners: Vec<Owned>,
    /// The number of items that no node of this part owns.
    pub absent: u32,
    /// The number of items in use at this node.
    pub used: u32,
    /// The number of items that this node can hand out without asking.
    pub free: u32,
    /// The number of free items that this node has offered to the others.
    pub offered: u32,
    /// The number of released items that rest at this node.
    pub cooling: u32,
    /// Claims that were granted at this node since it started.
    pub claims: u64,
    /// Claims that were refused at this node since it started.
    pub refusals: u64,
}

impl PoolStatus {
    /// The number of items of this node that no user has, and that do not rest.
    pub fn unused(&self) -> u32 {
        self.free + self.offered
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Its name.
    pub name: String,
    /// The number of messages that were delivered at this node since it started.
    pub delivered: u64,
}

/// An item in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// The item.
    pub item: u64,
    /// The token of its claim.
    pub token: Token,
    /// Its user.
    pub holder: Holder,
    /// How long it has been in use, in milliseconds.
    pub for_ms: u64,
}

/// A session at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Its name.
    pub session: SessionId,
    /// Its label.
    pub label: String,
    /// How long the node waits for a sign of life.
    pub ttl_ms: u64,
    /// The time until the session ends, unless there is a sign of life.
    pub left_ms: u64,
    /// The number of items that it uses.
    pub items: usize,
}
