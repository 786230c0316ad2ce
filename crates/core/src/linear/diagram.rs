//! A history as a picture in text: time goes to the right, one line for each client.

use super::{Event, Model, What};
use std::collections::BTreeMap;

/// An operation, from its call to its answer; without an answer it has no end.
struct Interval {
    client: u64,
    from: usize,
    to: Option<usize>,
    label: String,
}

/// A line of the picture. A client whose operation has no end continues on another line.
struct Row {
    client: u64,
    is_endless: bool,
    text: String,
}

/// Draws the events. Lines longer than `width` continue in another band below.
pub(super) fn draw<M: Model>(events: &[Event<M>], width: usize) -> String {
    let intervals = intervals(events);
    let columns = columns(events.len(), &intervals);
    let mut rows: Vec<Row> = Vec::new();
    for interval in &intervals {
        let is_free = |row: &Row| row.client == interval.client && !row.is_endless;
        let free = rows.iter().position(is_free).unwrap_or_else(|| {
            rows.push(Row { client: interval.client, is_endless: false, text: String::new() });
            rows.len() - 1
        });
        rows[free].write(interval, &columns);
    }
    rows.sort_by_key(|row| row.client);
    in_bands(&rows, columns.last().copied().unwrap_or(0) + 1, width)
}

fn intervals<M: Model>(events: &[Event<M>]) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = Vec::new();
    let mut open = BTreeMap::new();
    for (at, Event { client, what, .. }) in events.iter().enumerate() {
        match what {
            What::Invoke(operation) => {
                open.insert(*client, intervals.len());
                let label = operation.to_string();
                intervals.push(Interval { client: *client, from: at, to: None, label });
            }
            What::Abandon => drop(open.remove(client)),
            What::Answer(answer) => {
                if let Some(index) = open.remove(client) {
                    let wrong = if at + 1 == events.len() { " ✗" } else { "" };
                    intervals[index].to = Some(at);
                    intervals[index].label += &format!(": {answer}{wrong}");
                }
            }
        }
    }
    intervals
}

/// The column of each event: every event has one of its own, and every label fits.
fn columns(events: usize, intervals: &[Interval]) -> Vec<usize> {
    let mut columns: Vec<usize> = Vec::with_capacity(events);
    for at in 0..events {
        let next = columns.last().map_or(0, |last| last + 1);
        let ends = intervals.iter().find(|interval| interval.to == Some(at));
        let room = ends.map_or(0, |ends| columns[ends.from] + ends.label.chars().count() + 3);
        // A gap keeps a client's next operation apart from the one before.
        let begins = at > 0 && ends.is_none();
        columns.push(next.max(room) + usize::from(begins));
    }
    columns
}

impl Row {
    /// `├ put x 1: done ──┤`, or `├ put x 1 ┄┄┄` if it has no end.
    fn write(&mut self, interval: &Interval, columns: &[usize]) {
        let from = columns[interval.from];
        let to = interval.to.map_or(columns.last().copied().unwrap_or(0) + 1, |to| columns[to]);
        let (line, end) = if interval.to.is_some() { ("─", "┤") } else { ("┄", "┄") };
        self.is_endless = interval.to.is_none();
        self.text += &" ".repeat(from.saturating_sub(self.text.chars().count()));
        let label = format!("├ {} ", interval.label);
        let left = to.saturating_sub(from + label.chars().count());
        self.text += &format!("{label}{}{end}", line.repeat(left));
    }
}

/// Cuts the rows into bands, each with the names of all clients.
fn in_bands(rows: &[Row], length: usize, width: usize) -> String {
    let names: Vec<String> = rows.iter().map(|row| format!("client {}  ", row.client)).collect();
    let margin = names.iter().map(String::len).max().unwrap_or(0);
    let room = width.saturating_sub(margin).max(20);
    let mut text = String::new();
    for band in 0..length.div_ceil(room) {
        if band > 0 {
            text.push('\n');
        }
        for (name, row) in names.iter().zip(rows) {
            let part: String = row.text.chars().skip(band * room).take(room).collect();
            text += format!("{name:margin$}{part}").trim_end();
            text.push('\n');
        }
    }
    text
}
