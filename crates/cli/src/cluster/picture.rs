//! Nodes, sides and pools, drawn for people.

use super::sides::{PoolSeen, Survey, last, missing};
use crate::output::{BAD, BOLD, DIM, GOOD};
use crate::words::{count, grouped};
use anstyle::Style;
use std::fmt::Write;
use std::time::Duration;
use synod_client::Mode;
use synod_client::api::{Health, PoolStatus, Status};

/// The length of a bar that stands for a whole pool.
const BAR: usize = 40;

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `3.2s`, `4m 10s`, `2h 5m`.
pub(crate) fn age(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => format!("{seconds}.{}s", ms % 1_000 / 100),
        60..3_600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// `5s`, `250ms`, `2m`: as flags are written.
pub(crate) fn time(time: Duration) -> String {
    let ms = time.as_millis();
    match ms {
        _ if !ms.is_multiple_of(1_000) => format!("{ms}ms"),
        _ if !ms.is_multiple_of(60_000) || ms == 0 => format!("{}s", ms / 1_000),
        _ => format!("{}m", ms / 60_000),
    }
}

/// The whole cluster.
pub(crate) fn cluster(survey: &Survey) -> String {
    let sides = survey.sides();
    let mut text = headline(survey, &sides);
    for side in &sides {
        text += &one_side(side, sides.len() > 1);
    }
    text += &silent(survey);
    for pool in survey.pools() {
        text += &format!("\n{}", whole_pool(&pool, &sides));
    }
    text + &groups(survey)
}

fn headline(survey: &Survey, sides: &[Vec<&Status>]) -> String {
    let name = survey.answers().next().map_or("?", |status| status.cluster.as_str());
    let nodes = count(survey.nodes.len() as u64, "node", "nodes");
    let in_view = sides.iter().filter(|side| side[0].mode != Mode::Outside).count();
    let (style, state) = match in_view {
        0 => (BAD, "none in a view".to_owned()),
        1 if survey.is_ready() => (GOOD, "all in one view".to_owned()),
        1 => (BAD, "not whole".to_owned()),
        sides => (BAD, format!("{sides} sides that do not reach each other")),
    };
    format!("{} {name}: {nodes}, {}\n", styled(BOLD, "cluster"), styled(style, &state))
}

fn one_side(side: &[&Status], of_several: bool) -> String {
    let first = side[0];
    let mut text = String::new();
    let title = match (&first.mode, of_several) {
        (Mode::Outside, _) => format!("{} in no view yet", first.node),
        (_, true) => format!("side of {}", first.node),
        (_, false) => "one view".to_owned(),
    };
    let gone = missing(&first.mode);
    let view = match (&first.mode, gone) {
        (Mode::Outside, _) => "its log says why".to_owned(),
        (_, []) => format!("view {}", first.view),
        (_, gone) => format!("view {}, without {}", first.view, gone.join(" ")),
    };
    let _ = writeln!(text, "\n  {}  {}", styled(BOLD, &title), styled(DIM, &view));
    for status in side {
        text += &node_line(status);
    }
    text
}

fn node_line(status: &Status) -> String {
    let leads = status.registry.leader.as_deref() == Some(status.node.as_str());
    let facts = [
        format!("up {}", age(status.uptime_ms)),
        if leads { "leads the registry".to_owned() } else { String::new() },
        if status.incarnation > 1 { format!("life {}", status.incarnation) } else { String::new() },
        match status.sessions {
            0 => String::new(),
            sessions => count(sessions as u64, "session", "sessions"),
        },
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let own = status.members.iter().find(|member| member.health == Health::Here);
    let address = own.map_or("", |member| member.address.as_str());
    format!("    {} {:<8} {address:<22} {}\n", styled(GOOD, "●"), status.node, facts.join(", "))
}

/// The nodes that do not answer.
fn silent(survey: &Survey) -> String {
    let mut text = String::new();
    let silent = survey.nodes.iter().filter_map(|seen| Some((seen, seen.status.as_ref().err()?)));
    for (seen, _) in silent {
        if text.is_empty() {
            let _ = writeln!(text, "\n  {}", styled(BOLD, "no answer"));
        }
        let state = if survey.is_forgotten(&seen.name) { "certified dead" } else { "" };
        let _ = writeln!(text, "    {} {:<8} {state}", styled(BAD, "○"), seen.name);
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A pool: a bar for each node, its sides apart.
pub(crate) fn whole_pool(pool: &PoolSeen<'_>, sides: &[Vec<&Status>]) -> String {
    let spec = &pool.spec;
    let mut text = format!(
        "{} {}  {}\n",
        styled(BOLD, "pool"),
        pool.name,
        styled(
            DIM,
            &format!(
                "{} to {}, {}{}{}",
                spec.first,
                last(spec),
                count(u64::from(spec.size), "item", "items"),
                match spec.cooldown_ms {
                    0 => String::new(),
                    ms => format!(", rest for {}", time(Duration::from_millis(ms))),
                },
                spec.cap.map(|cap| format!(", {cap} a node at most")).unwrap_or_default(),
            )
        ),
    );
    let part = |name: &str| pool.parts.iter().find(|(node, _)| *node == name);
    for side in sides {
        for status in side {
            if let Some((node, part)) = part(&status.node) {
                text += &bar_line(node, part, spec.size);
            }
        }
        if sides.len() > 1
            && let Some((_, part)) = part(&side[0].node)
        {
            let elsewhere =
                format!("beyond the cut: {} of the items", grouped(u64::from(part.absent)));
            let _ = writeln!(text, "    {:<8} {}", "", styled(DIM, &elsewhere));
        }
    }
    let sum = format!(
        "used {}, free {}, resting {}, absent {}",
        grouped(pool.sum(|_, status| status.used)),
        grouped(pool.sum(|_, status| status.unused())),
        grouped(pool.sum(|_, status| status.cooling)),
        grouped(pool.absent()),
    );
    let _ = writeln!(text, "    {:<8} {sum}", "all");
    text
}

/// The items of one node: full blocks are in use, light ones rest, shaded ones are free.
fn bar_line(node: &str, part: &PoolStatus, size: u32) -> String {
    let owned = PoolSeen::owned(node, part);
    let cells = |items: u32| match items {
        0 => 0,
        items => (items as usize * BAR / size.max(1) as usize).max(1),
    };
    let used = cells(part.used);
    let resting = cells(part.cooling);
    let free = cells(owned).saturating_sub(used + resting);
    let bar = format!(
        "{}{}{}",
        styled(GOOD, &"█".repeat(used)),
        "▒".repeat(resting),
        styled(DIM, &"░".repeat(free)),
    );
    let room = BAR.saturating_sub(used + resting + free);
    let settled = if part.settled { "" } else { "  not settled yet" };
    let numbers = format!(
        "{} owned, {} used, {} free",
        grouped(u64::from(owned)),
        grouped(u64::from(part.used)),
        grouped(u64::from(part.unused())),
    );
    format!("    {node:<8} {bar}{} {numbers}{settled}\n", " ".repeat(room))
}

fn groups(survey: &Survey) -> String {
    let mut text = String::new();
    let Some(first) = survey.answers().next() else { return text };
    for group in &first.groups {
        let delivered = survey.answers().filter_map(|status| {
            let own = status.groups.iter().find(|own| own.name == group.name)?;
            Some(format!("{} {}", status.node, grouped(own.delivered)))
        });
        let delivered: Vec<String> = delivered.collect();
        let _ = writeln!(
            text,
            "\n{} {}  {}",
            styled(BOLD, "group"),
            group.name,
            styled(DIM, &format!("messages delivered: {}", delivered.join(", ")))
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_times_are_written_as_people_do() {
        assert_eq!(age(3_250), "3.2s");
        assert_eq!(age(250_000), "4m 10s");
        assert_eq!(age(2 * 3_600_000 + 5 * 60_000), "2h 5m");
        assert_eq!(age(50 * 3_600_000), "2d 2h");
        assert_eq!(time(Duration::from_millis(250)), "250ms");
        assert_eq!(time(Duration::from_secs(5)), "5s");
        assert_eq!(time(Duration::from_secs(120)), "2m");
    }
}
