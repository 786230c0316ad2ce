//! The events of several nodes as one stream.

use super::picture::time;
use super::reach::Cluster;
use crate::output::{self, DIM, Output};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use synod_client::api::{Event, Topic};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Events that wait to be printed.
const MOST_WAITING: usize = 1_024;
/// A year: for streams without an end.
const ENDLESS: Duration = Duration::from_secs(365 * 86_400);

/// Prints the events of all nodes, or the one that the user named, for this time or for ever; ends
/// when no node is left.
pub(crate) async fn print(
    cluster: &Cluster,
    topic: &Topic,
    long: Option<Duration>,
    output: &Output,
) -> Result<()> {
    let (sender, mut events) = mpsc::channel(MOST_WAITING);
    let mut nodes = Vec::new();
    let mut trouble = None;
    for (target, watched) in cluster.watch_each(topic).await {
        match watched {
            Err(why) => {
                output::note(&format!("not watched: {why}\n"));
                trouble = Some(why);
            }
            Ok(mut watched) => {
                let (sender, name) = (sender.clone(), target.name.clone());
                nodes.push(target.name);
                tokio::spawn(async move {
                    while let Some(event) = watched.next().await {
                        if sender.send((name.clone(), event)).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    }
    drop(sender);
    if let (true, Some(trouble)) = (nodes.is_empty(), trouble) {
        return Err(trouble.into());
    }
    let until = long.map(|long| format!(" for {}", time(long))).unwrap_or_default();
    output::note(&format!("{DIM}watching {}{until}; Ctrl-C ends it{DIM:#}\n", nodes.join(" ")));
    let end = Instant::now() + long.unwrap_or(ENDLESS);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some((node, event)) => show(&node, &event, output)?,
                None => return Ok(()),
            },
            () = sleep_until(end) => return Ok(()),
        }
    }
}

fn show(node: &str, event: &Event, output: &Output) -> Result<()> {
    match output.is_json() {
        true => output.line(&json_of(node, event)),
        false => output.print(&format!("{node:<8} {}\n", in_words(event))),
    }
}

fn in_words(event: &Event) -> String {
    match event {
        Event::View { view, members } => format!("view {view}: {}", members.join(" ")),
        Event::Claimed(claimed) => format!("claimed {} token {}", claimed.item, claimed.token),
        Event::Released { item, .. } => format!("released {item}"),
        Event::Settled { owned, absent, .. } => {
            format!("settled: owns {owned}, absent {absent}")
        }
        Event::Alarm { item, .. } => {
            format!("ALARM: two parts of the cluster claim item {item}; it is frozen")
        }
        Event::Message { from, body, .. } => {
            format!("{from} says {}", String::from_utf8_lossy(body))
        }
        Event::Missed(events) => format!("{events} events were missed: this reader is too slow"),
    }
}

fn json_of(node: &str, event: &Event) -> Value {
    match event {
        Event::View { view, members } => {
            json!({ "node": node, "event": "view", "view": view, "members": members })
        }
        Event::Claimed(claimed) => json!({
            "node": node,
            "event": "claimed",
            "pool": claimed.pool,
            "item": claimed.item,
            "token": claimed.token.to_string(),
        }),
        Event::Released { pool, item } => {
            json!({ "node": node, "event": "released", "pool": pool, "item": item })
        }
        Event::Settled { pool, owned, absent } => json!({
            "node": node,
            "event": "settled",
            "pool": pool,
            "owned": owned,
            "absent": absent,
        }),
        Event::Alarm { pool, item } => {
            json!({ "node": node, "event": "alarm", "pool": pool, "item": item })
        }
        Event::Message { group, from, body } => json!({
            "node": node,
            "event": "message",
            "group": group,
            "from": from,
            "text": String::from_utf8_lossy(body),
        }),
        Event::Missed(events) => json!({ "node": node, "event": "missed", "events": events }),
    }
}
