//! The facts that only a run on a real network has.

use crate::output;
use crate::words;
use serde::Serialize;
use synod_draw::words::time_in_words;
use synod_net::{Facts, Medium};

/// The facts that only a run on a real network has.
#[derive(Serialize)]
pub(super) struct Real {
    on: &'static str,
    network: NetworkJson,
}

#[derive(Serialize)]
struct NetworkJson {
    /// Whether IP multicast was used.
    ip_multicast: bool,
    /// The time from the first request to the last answer.
    busy_us: u64,
    operations_per_second: Option<f64>,
    messages_per_second: Option<f64>,
    latency_us: Option<LatencyJson>,
    bytes: u64,
    bytes_per_message: Option<f64>,
    strangers: u64,
    unreadable: u64,
    crashes: Vec<CrashJson>,
    restarts: Vec<CrashJson>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct LatencyJson {
    p50: u64,
    p99: u64,
}

#[derive(Serialize)]
struct CrashJson {
    process: String,
    time_us: u64,
}

impl Real {
    pub(super) fn new(facts: &Facts, operations: u64, messages: u64) -> Self {
        let seconds = facts.busy_us as f64 / 1e6;
        let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        let crash = |(who, time_us): &(synod_core::ProcessId, u64)| CrashJson {
            process: who.to_string(),
            time_us: *time_us,
        };
        Real {
            on: match facts.medium {
                Medium::Tcp => "tcp",
                Medium::Udp => "udp",
            },
            network: NetworkJson {
                ip_multicast: facts.shared,
                busy_us: facts.busy_us,
                operations_per_second: rate(operations),
                messages_per_second: rate(messages),
                latency_us: facts
                    .latency
                    .map(|latency| LatencyJson { p50: latency.p50_us, p99: latency.p99_us }),
                bytes: facts.bytes,
                bytes_per_message: (facts.parcels > 0)
                    .then(|| facts.bytes as f64 / facts.parcels as f64),
                strangers: facts.strangers,
                unreadable: facts.unreadable,
                crashes: facts.crashes.iter().map(crash).collect(),
                restarts: facts.restarts.iter().map(crash).collect(),
                notes: facts.notes.clone(),
            },
        }
    }

    /// For people.
    pub(super) fn in_words(&self) -> String {
        let network = &self.network;
        let rate = |rate: f64| words::grouped(rate.round() as u64);
        let mut rows = vec![vec!["on".to_owned(), self.medium()]];
        let mut row = |name: &str, value: Option<String>| {
            rows.extend(value.map(|value| vec![name.to_owned(), value]));
        };
        row("operations a second", network.operations_per_second.map(rate));
        row("messages a second", network.messages_per_second.map(rate));
        row("bytes a message", network.bytes_per_message.map(words::measured));
        let latency = network.latency_us.as_ref();
        row("latency, half within", latency.map(|latency| time_in_words(latency.p50)));
        row("latency, 99 % within", latency.map(|latency| time_in_words(latency.p99)));
        let some = |count: u64| (count > 0).then(|| words::grouped(count));
        row("strangers turned away", some(network.strangers));
        row("unreadable messages", some(network.unreadable));
        for CrashJson { process, time_us } in &network.crashes {
            row("crash", Some(format!("{process} at {}", time_in_words(*time_us))));
        }
        for CrashJson { process, time_us } in &network.restarts {
            row("restart", Some(format!("{process} at {}", time_in_words(*time_us))));
        }
        let mut text = output::heading("Network") + &output::table(&["", ""], &[], rows);
        for note in &network.notes {
            text += &output::paragraph("  ", &format!("note: {note}"));
        }
        text
    }

    fn medium(&self) -> String {
        match self.network.ip_multicast {
            true => format!("{}, with IP multicast", self.on),
            false => self.on.to_owned(),
        }
    }
}
