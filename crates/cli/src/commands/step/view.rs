//! What is shown: offers, events, states, verdicts.

use crate::output::{self, BAD, BOLD, DIM, GOOD};
use std::fmt::Write;
use synod_core::{ProcessId, Rule, Verdict};
use synod_drivers::{Change, Snapshot, Tree};
use synod_sim::network::in_words;
use synod_sim::scenario::{Judgement, Offer, OnItsWay, event_in_words};
use synod_sim::trace::{Event, What};
use synod_sim::world::Status;

/// A value with parts is shown in one line if it fits.
const ONE_LINE: usize = 72;

pub(super) fn offers(offers: &[Offer]) -> String {
    let width = offers.len().to_string().len();
    let numbered = (1..).zip(offers);
    numbered.map(|(number, offer)| format!("{number:>width$}  {}\n", offer.line)).collect()
}

pub(super) fn events(events: &[Event]) -> String {
    events.iter().map(|event| format!("  {}\n", event_line(event))).collect()
}

pub(super) fn numbered_events(events: &[Event]) -> String {
    let line = |event: &Event| {
        let (number, time) = (event.index, in_words(event.time_us));
        format!("{number:>6}  {DIM}{time:>9}{DIM:#}  {}\n", event_line(event))
    };
    events.iter().map(line).collect()
}

/// Rules of a card, with their numbers there.
pub(super) fn rules(rules: &[(usize, &Rule)]) -> String {
    let paragraph = |(number, rule): &(usize, &Rule)| {
        let text = output::paragraph("  ", &format!("rule {number}: {}", rule.text));
        text.lines().map(|line| format!("{DIM}{line}{DIM:#}\n")).collect::<String>()
    };
    rules.iter().map(paragraph).collect()
}

fn event_line(event: &Event) -> String {
    let words = event_in_words(event);
    match event.what {
        What::Violation => format!("{BAD}{words}{BAD:#}"),
        _ => words,
    }
}

pub(super) fn messages(messages: &[OnItsWay]) -> String {
    if messages.is_empty() {
        return "nothing is on its way\n".to_owned();
    }
    let line = |message: &OnItsWay| {
        let OnItsWay { from, to, text, .. } = message;
        let held = if message.deliverable { "" } else { "  (must wait)" };
        format!("  {from} -> {to}: {text}{DIM}{held}{DIM:#}\n")
    };
    messages.iter().map(line).collect()
}

pub(super) fn timers(timers: &[(ProcessId, String)]) -> String {
    match timers.is_empty() {
        true => "no timer is set\n".to_owned(),
        false => timers.iter().map(|(at, name)| format!("  {at} {name}\n")).collect(),
    }
}

pub(super) fn verdicts(verdicts: &[Judgement]) -> String {
    let longest = verdicts.iter().map(|verdict| verdict.property.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Judgement { property, verdict, because, event } in verdicts {
        let verdict = match verdict {
            Verdict::Holds => format!("{GOOD}holds{GOOD:#}"),
            Verdict::Undecided => "open".to_owned(),
            Verdict::Violated => format!("{BAD}violated{BAD:#}"),
        };
        let _ = write!(text, "  {property:<longest$}  {verdict}");
        if !because.is_empty() {
            let _ = write!(text, ": {because}");
        }
        if let Some(event) = event {
            let _ = write!(text, " (event {event})");
        }
        text.push('\n');
    }
    text
}

/// The whole state of a process.
pub(super) fn whole(snapshot: &Snapshot) -> String {
    let mut text = title(snapshot);
    write_tree(&mut text, "  ", &snapshot.state, false);
    text += "  application:\n";
    write_tree(&mut text, "    ", &snapshot.application, false);
    if snapshot.records != (0, 0) {
        let (written, waiting) = snapshot.records;
        let _ = writeln!(text, "  on disk: {written} records, and {waiting} wait to be written");
    }
    text
}

/// What differs, at those processes that differ.
pub(super) fn changes(snapshots: &[Snapshot]) -> String {
    let mut text = String::new();
    for snapshot in snapshots.iter().filter(|snapshot| snapshot.state.has_changed()) {
        text += &title(snapshot);
        write_tree(&mut text, "  ", &snapshot.state, true);
    }
    match text.is_empty() {
        true => "no process changed its state\n".to_owned(),
        false => text,
    }
}

fn title(snapshot: &Snapshot) -> String {
    let status = match snapshot.status {
        Status::Up => "",
        Status::Paused => ", paused",
        Status::Crashed => ", crashed",
    };
    format!("{BOLD}{}{BOLD:#}{status}\n", snapshot.at)
}

/// The tree, one line for each value; or only what differs in it, with what it was.
fn write_tree(text: &mut String, indent: &str, tree: &Tree, changes_only: bool) {
    if changes_only && !tree.has_changed() {
        return;
    }
    let line = tree.in_a_line();
    let fits = line.chars().count() + indent.len() <= ONE_LINE.min(output::width());
    let _ = match (&tree.change, changes_only) {
        (Change::Was(before), true) => {
            writeln!(text, "{indent}{BOLD}{line}{BOLD:#}  {DIM}was {before}{DIM:#}")
        }
        (Change::New, true) => writeln!(text, "{indent}{GOOD}+ {line}{GOOD:#}"),
        (Change::Gone, true) => writeln!(text, "{indent}{BAD}- {line}{BAD:#}"),
        (_, false) if fits || tree.parts.is_empty() => writeln!(text, "{indent}{line}"),
        _ => {
            let name =
                if tree.name.is_empty() { String::new() } else { format!("{}: ", tree.name) };
            let _ = writeln!(text, "{indent}{name}{}", tree.value);
            let deeper = format!("{indent}  ");
            tree.parts.iter().for_each(|part| write_tree(text, &deeper, part, changes_only));
            Ok(())
        }
    };
}
