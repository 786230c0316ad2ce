//! The state of the registry: which nodes and objects there are. All changes go through its log.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use synod_client::api::PoolSpec;
use synod_core::replication::{Parts, StateMachine};
use synod_core::{Never, ProcessId, ProcessSet};

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    /// Its name.
    pub(crate) name: String,
    /// Where its peers reach it.
    pub(crate) address: String,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A pool, with the node that founds it, in this life.
    Pool { spec: PoolSpec, founder: (ProcessId, u32) },
    /// A group.
    Group,
}

/// A pool or a group. Its tag is its name in multicasts, and is never given out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Object {
    pub(crate) tag: u32,
    pub(crate) kind: Kind,
}

/// The state of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Registry {
    /// The nodes, by number. A number is never given out again.
    pub(crate) nodes: BTreeMap<ProcessId, NodeRecord>,
    /// The nodes that are certified dead, each with the nodes that there were at that moment.
    pub(crate) forgotten: BTreeMap<ProcessId, ProcessSet>,
    /// The longest TTL that a node may promise, in milliseconds, if it is longer than usual.
    pub(crate) promises: BTreeMap<ProcessId, u64>,
    pub(crate) pools: BTreeMap<String, Object>,
    pub(crate) groups: BTreeMap<String, Object>,
    /// The tags of objects that are deleted.
    pub(crate) deleted: BTreeSet<u32>,
    next_tag: u32,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Operation {
    /// The cluster begins with these nodes. Without effect in a cluster that has begun.
    Begin(Vec<NodeRecord>),
    CreatePool {
        name: String,
        spec: PoolSpec,
        founder: (ProcessId, u32),
    },
    DeletePool(String),
    CreateGroup(String),
    DeleteGroup(String),
    /// This node is dead for good.
    Forget(String),
    /// This node may promise its sessions a TTL as long as this, in milliseconds.
    Promise(ProcessId, u64),
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Done,
    /// The name is taken, perhaps by an object with other settings.
    Exists {
        differs: bool,
    },
    /// No object, or node, of this name.
    Unknown,
}

impl Registry {
    /// The nodes that are not certified dead.
    pub(crate) fn living(&self) -> impl Iterator<Item = (ProcessId, &NodeRecord)> {
        let alive = |(node, _): &(&ProcessId, _)| !self.forgotten.contains_key(node);
        self.nodes.iter().filter(alive).map(|(node, record)| (*node, record))
    }

    /// The number of a node.
    pub(crate) fn node(&self, name: &str) -> Option<ProcessId> {
        let named = self.nodes.iter().find(|(_, record)| record.name == name);
        named.map(|(node, _)| *node)
    }

    /// Creates a pool or a group.
    fn create(&mut self, name: &str, kind: Kind) -> Outcome {
        let objects = match kind {
            Kind::Pool { .. } => &mut self.pools,
            Kind::Group => &mut self.groups,
        };
        if let Some(object) = objects.get(name) {
            let differs = match (object.kind, kind) {
                (Kind::Pool { spec: old, .. }, Kind::Pool { spec: new, .. }) => old != new,
                _ => false,
            };
            return Outcome::Exists { differs };
        }
        objects.insert(name.to_owned(), Object { tag: self.next_tag, kind });
        self.next_tag += 1;
        Outcome::Done
    }

    fn delete(&mut self, object: Option<Object>) -> Outcome {
        let Some(object) = object else { return Outcome::Unknown };
        self.deleted.insert(object.tag);
        Outcome::Done
    }

    fn forget(&mut self, name: &str) -> Outcome {
        let Some(node) = self.node(name) else { return Outcome::Unknown };
        let nodes = self.nodes.keys().copied().collect();
        self.forgotten.entry(node).or_insert(nodes);
        Outcome::Done
    }
}

impl StateMachine for Registry {
    type Operation = Operation;
    type Answer = Outcome;

    fn apply(&mut self, operation: &Operation) -> Outcome {
        match operation {
            Operation::Begin(nodes) => {
                if self.nodes.is_empty() {
                    self.nodes = (0..).map(ProcessId).zip(nodes.iter().cloned()).collect();
                }
                Outcome::Done
            }
            Operation::CreatePool { name, spec, founder } => {
                self.create(name, Kind::Pool { spec: *spec, founder: *founder })
            }
            Operation::CreateGroup(name) => self.create(name, Kind::Group),
            Operation::DeletePool(name) => {
                let object = self.pools.remove(name);
                self.delete(object)
            }
            Operation::DeleteGroup(name) => {
                let object = self.groups.remove(name);
                self.delete(object)
            }
            Operation::Forget(name) => self.forget(name),
            Operation::Promise(node, ttl_ms) => {
                let promised = self.promises.entry(*node).or_default();
                *promised = (*promised).max(*ttl_ms);
                Outcome::Done
            }
        }
    }

    fn is_read(_operation: &Operation) -> bool {
        false
    }

    fn read(&self, _operation: &Operation) -> Option<Outcome> {
        None
    }
}

/// The registry is small: it travels as a whole.
impl Parts for Registry {
    type Mark = Never;

    fn part(&self, _after: Option<&Never>, _bytes: usize) -> (Self, Option<Never>) {
        (self.clone(), None)
    }

    fn join(&mut self, next: Self) {
        *self = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUNDER: (ProcessId, u32) = (ProcessId(0), 1);

    fn begun() -> Registry {
        let node = |name: &str| NodeRecord { name: name.into(), address: "127.0.0.1:1".into() };
        let mut registry = Registry::default();
        registry.apply(&Operation::Begin(vec![node("n1"), node("n2")]));
        registry
    }

    fn create(name: &str, size: u32) -> Operation {
        let spec = PoolSpec::range(0, size);
        Operation::CreatePool { name: name.into(), spec, founder: FOUNDER }
    }

    #[test]
    fn a_tag_is_given_out_once() {
        let mut registry = begun();
        assert_eq!(registry.apply(&create("a", 8)), Outcome::Done);
        assert_eq!(registry.apply(&create("a", 8)), Outcome::Exists { differs: false });
        assert_eq!(registry.apply(&create("a", 9)), Outcome::Exists { differs: true });
        assert_eq!(registry.apply(&Operation::DeletePool("a".into())), Outcome::Done);
        assert_eq!(registry.apply(&Operation::DeletePool("a".into())), Outcome::Unknown);
        assert_eq!(registry.apply(&create("a", 8)), Outcome::Done);
        assert_eq!((registry.pools["a"].tag, registry.deleted), (1, BTreeSet::from([0])));
    }

    #[test]
    fn a_cluster_begins_once_and_a_certificate_names_the_nodes_of_its_moment() {
        let mut registry = begun();
        registry.apply(&Operation::Begin(Vec::new()));
        assert_eq!(registry.nodes.len(), 2);
        assert_eq!(registry.apply(&Operation::Forget("n3".into())), Outcome::Unknown);
        assert_eq!(registry.apply(&Operation::Forget("n2".into())), Outcome::Done);
        assert_eq!(registry.forgotten[&ProcessId(1)], ProcessSet::all(2));
        assert_eq!(registry.living().count(), 1);
    }
}
