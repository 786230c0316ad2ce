//! What the registry says, passed on to the group and the links.

use crate::board::{GroupDesk, PoolDesk};
use crate::inner::Inner;
use crate::links::{Channel, Receiver};
use crate::registry::{Kind, Object, Registry};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use synod_client::api::{Failure, Faults, PoolSpec, Reply};
use synod_core::family::services::{Definition, Input, PoolSettings, Tag};
use synod_core::group::Member;
use synod_core::{ProcessId, ProcessSet};
use synod_groups::group::GroupEngine;

/// What has been passed on.
#[derive(Debug, Default)]
pub(crate) struct Fed {
    nodes: ProcessSet,
    /// The nodes that are certified dead, with the time from which their items may go to others;
    /// none once that is so.
    forgotten: BTreeMap<ProcessId, Option<u64>>,
    objects: BTreeSet<u32>,
    deleted: BTreeSet<u32>,
}

impl Inner {
    /// Passes the news of the registry on.
    pub(crate) fn feed(&self, fed: &mut Fed) {
        let (registry, _) = self.registry.state();
        if registry.nodes.is_empty() {
            return;
        }
        self.feed_nodes(&registry, fed);
        self.registry.let_vote(registry.living().map(|(node, _)| node).collect());
        for (name, object) in &registry.pools {
            if let Kind::Pool { spec, founder } = object.kind
                && fed.objects.insert(object.tag)
            {
                self.open_pool(name, *object, spec, founder);
            }
        }
        for (name, object) in &registry.groups {
            if fed.objects.insert(object.tag) {
                self.open_group(name, *object);
            }
        }
        for tag in registry.deleted.iter().filter(|tag| fed.deleted.insert(**tag)) {
            self.close(Tag(*tag));
        }
    }

    fn feed_nodes(&self, registry: &Registry, fed: &mut Fed) {
        let nodes: ProcessSet = registry.nodes.keys().copied().collect();
        for (node, record) in &registry.nodes {
            let alive = !registry.forgotten.contains_key(node);
            let address = record.address.parse().ok().filter(|_| alive);
            self.links.set_address(*node, address.map(|address| (record.name.as_str(), address)));
        }
        let now_ms = self.clock.now_ms();
        self.group.step(|stepping| {
            let living = registry.living().map(|(node, record)| (node, record.name.clone()));
            stepping.state.above.names = living.collect();
            if nodes != fed.nodes {
                stepping.input(Input::Nodes(nodes.clone()));
            }
            for (node, known) in &registry.forgotten {
                let promise_ms = registry.promises.get(node).copied().unwrap_or(0);
                let wait_ms = promise_ms.max(self.promise_ms);
                let due = fed.forgotten.entry(*node).or_insert(Some(now_ms + wait_ms));
                if due.is_some_and(|due_ms| due_ms <= now_ms) {
                    *due = None;
                    stepping.input(Input::Forget(*node, known.clone()));
                }
            }
        });
        fed.nodes = nodes;
    }

    fn open_pool(&self, name: &str, object: Object, spec: PoolSpec, founder: (ProcessId, u32)) {
        let settings = PoolSettings {
            cooldown_ms: spec.cooldown_ms,
            cap: spec.cap.unwrap_or(u32::MAX),
            founder: Some(Member { node: founder.0, incarnation: founder.1 }),
            ..PoolSettings::of(spec.size)
        };
        let (tag, definition) = (Tag(object.tag), Definition::Pool(settings));
        self.group.step(|stepping| {
            let board = &mut stepping.state.above;
            board.pools.insert(tag, PoolDesk::new(name.to_owned(), spec));
            board.pool_tags.insert(name.to_owned(), tag);
            stepping.input(Input::Open(tag, definition));
        });
    }

    fn open_group(&self, name: &str, object: Object) {
        let tag = Tag(object.tag);
        self.group.step(|stepping| {
            let board = &mut stepping.state.above;
            board.groups.insert(tag, GroupDesk { name: name.to_owned(), delivered: 0 });
            board.group_tags.insert(name.to_owned(), tag);
            stepping.input(Input::Open(tag, Definition::Group));
        });
    }

    fn close(&self, tag: Tag) {
        self.group.step(|stepping| {
            stepping.input(Input::Close(tag));
            let board = &mut stepping.state.above;
            board.pools.remove(&tag);
            board.groups.remove(&tag);
            board.pool_tags.retain(|_, named| *named != tag);
            board.group_tags.retain(|_, named| *named != tag);
        });
    }

    /// Makes faults on the links, in place of those before.
    pub(crate) fn make_faults(&self, faults: &Faults) -> Result<Reply, Failure> {
        if !self.allow_faults {
            return Err(Failure::Forbidden(
                "this node makes no faults on purpose; start it with --allow-faults, or use a \
                 cluster of 'synod up'"
                    .into(),
            ));
        }
        let registry = self.registry_now();
        let unknown = |name: &&String| registry.node(name).is_none();
        if let Some(name) = faults.deaf.iter().chain(&faults.mute).find(unknown) {
            let known = registry.nodes.values().map(|record| record.name.clone()).collect();
            return Err(Failure::Unknown { kind: "node".into(), name: name.clone(), known });
        }
        for (node, record) in &registry.nodes {
            let fault = crate::links::Fault {
                deaf: faults.deaf.contains(&record.name),
                mute: faults.mute.contains(&record.name),
                delay_us: faults.delay_ms.min(60_000) * 1_000,
                loss_permille: faults.loss_permille.min(1_000),
            };
            self.links.set_fault(*node, fault);
        }
        Ok(Reply::Done)
    }
}

/// Hands the messages of other nodes to the two processes.
pub(crate) struct Intake {
    pub(crate) inner: Arc<Inner>,
    /// Whether the group has started: before, its messages are dropped.
    pub(crate) group_runs: Arc<AtomicBool>,
}

impl Receiver for Intake {
    fn receive(&self, from: ProcessId, channel: Channel, bytes: &[u8]) -> bool {
        match channel {
            Channel::Registry => self.inner.registry.receive(from, bytes),
            Channel::Group if self.group_runs.load(Ordering::Acquire) => {
                self.inner.group.receive(from, bytes)
            }
            Channel::Group => true,
        }
    }

    fn on_reset(&self, from: ProcessId) {
        if let GroupEngine::Embedded(engine) = &mut self.inner.group.lock().engine_mut() {
            engine.doubt(from);
        }
    }
}
