//! Numbers for Prometheus, in its text format.

use crate::inner::Inner;
use std::fmt::Write;
use synod_client::api::{Health, Mode};

/// The numbers of this node.
pub(super) fn text(inner: &Inner) -> String {
    let status = inner.status();
    let mut page = Page::default();
    page.family("synod_up_seconds", "gauge", "How long the node has been running");
    page.value("synod_up_seconds", &[], status.uptime_ms as f64 / 1_000.0);
    page.family("synod_partitioned", "gauge", "1 if nodes of the cluster are out of reach");
    page.value("synod_partitioned", &[], f64::from(u8::from(status.mode != Mode::Whole)));
    page.family("synod_members", "gauge", "Nodes of the cluster, by how this node sees them");
    for (health, name) in [
        (Health::Here, "here"),
        (Health::Together, "together"),
        (Health::Unreachable, "unreachable"),
        (Health::Forgotten, "forgotten"),
    ] {
        let count = status.members.iter().filter(|member| member.health == health).count();
        page.value("synod_members", &[("health", name)], count as f64);
    }
    page.family("synod_view_changes_total", "counter", "Views since the node started");
    page.value("synod_view_changes_total", &[], inner.group.lock().above.views as f64);
    page.family("synod_has_leader", "gauge", "1 if this node knows the leader of the registry");
    page.value("synod_has_leader", &[], f64::from(u8::from(status.registry.leader.is_some())));
    page.family("synod_registry_term", "gauge", "The term of the registry");
    page.value("synod_registry_term", &[], status.registry.term as f64);
    page.family("synod_registry_applied", "counter", "Changes of the registry applied here");
    page.value("synod_registry_applied", &[], status.registry.applied as f64);
    page.family("synod_sessions", "gauge", "Open sessions at this node");
    page.value("synod_sessions", &[], status.sessions as f64);
    page.family("synod_pool_slots", "gauge", "Items of a pool at this node, by state");
    for pool in &status.pools {
        let states = [
            ("used", pool.used),
            ("free", pool.free),
            ("offered", pool.offered),
            ("cooling", pool.cooling),
            ("absent", pool.absent),
        ];
        for (state, items) in states {
            let labels = [("pool", pool.name.as_str()), ("state", state)];
            page.value("synod_pool_slots", &labels, f64::from(items));
        }
    }
    page.family("synod_pool_owned", "gauge", "Items of a pool that a node owns");
    for pool in &status.pools {
        for owned in &pool.owners {
            let labels = [("pool", pool.name.as_str()), ("node", owned.node.as_str())];
            page.value("synod_pool_owned", &labels, f64::from(owned.items));
        }
    }
    page.family("synod_pool_claims_total", "counter", "Claims at this node, by what came of them");
    for pool in &status.pools {
        for (result, count) in [("granted", pool.claims), ("refused", pool.refusals)] {
            let labels = [("pool", pool.name.as_str()), ("result", result)];
            page.value("synod_pool_claims_total", &labels, count as f64);
        }
    }
    page.family("synod_group_delivered_total", "counter", "Messages of a group delivered here");
    for group in &status.groups {
        let labels = [("group", group.name.as_str())];
        page.value("synod_group_delivered_total", &labels, group.delivered as f64);
    }
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Names have letters, digits and a few signs only, so no label needs an escape.
    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}
