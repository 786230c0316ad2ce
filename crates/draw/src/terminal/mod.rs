//! A space-time diagram for the terminal: a lane for each process, time downwards.
//!
//! Messages cross and overtake each other, so each has a number. It is written where the message is
//! sent (`● #3 Request`), and once more on the arrow, which is drawn in the row where the message
//! arrives (`├─ #3 Request ─▶●`). If no other event comes between, both are one row.
//!
//! The styles are embedded as escape sequences: print the text through `anstream`, which removes
//! them where the terminal does not want them.

mod rows;

use crate::Scene;
use crate::canvas::Row;
use crate::lane::{Lane, Lanes, Life, Operation};
use crate::words::{
    Known, event_in_words, has_in_words, kinds, left_out, message_text, one_line, shortened,
    wrapped,
};
use anstyle::{AnsiColor, Color, Style};

use rows::{Group, grouped, numbers};
use std::collections::BTreeSet;
use synod_core::{ProcessId, Sight};
use synod_sim::trace::{Event, What};

/// The narrowest and the widest lane that is drawn, in columns.
const LANE_WIDTHS: (usize, usize) = (4, 28);
/// The number of messages named that are still under way at the end.
const NAMED_UNDER_WAY: usize = 6;

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const WAITING: Style = AnsiColor::Yellow.on_default();
const HOLDING: Style = AnsiColor::Green.on_default();
const TROUBLE: Style = AnsiColor::Red.on_default();
const NETWORK: Style = AnsiColor::Yellow.on_default().bold();
const VIOLATION: Style =
    AnsiColor::BrightWhite.on_default().bg_color(Some(Color::Ansi(AnsiColor::Red))).bold();
/// The colours of messages, by kind. Red, green and yellow have their own meaning.
const KINDS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::BrightCyan,
    AnsiColor::BrightMagenta,
    AnsiColor::BrightBlue,
];

/// Draws the events, in lines of at most `width` columns if the lanes can be made so narrow.
pub fn draw(scene: &Scene, events: &[Event], width: usize) -> String {
    let shown = scene.cut(events);
    let mut picture = Picture::new(scene, events, shown.events, width);
    picture.header(shown.before);
    picture.lanes = Lanes::after(scene, shown.earlier);
    for group in grouped(shown.events) {
        picture.group(group);
    }
    if let Some(note) = left_out(shown.after, "after") {
        picture.remark(&format!("⋮ {note}"));
    } else {
        picture.ending();
        picture.under_way(events);
    }
    if picture.repeated > 0 {
        picture.remark(&format!("violations found again and not repeated: {}", picture.repeated));
    }
    picture.legend(shown.events);
    picture.out
}

struct Picture<'a> {
    scene: &'a Scene,
    kinds: Vec<&'static str>,
    gutter: Gutter,
    /// The columns from one lane to the next.
    lane_width: usize,
    width: usize,
    lanes: Lanes,
    /// What each process has.
    has: Vec<String>,
    known: Known,
    /// The number of violations left out because they were known.
    repeated: usize,
    out: String,
}

impl<'a> Picture<'a> {
    fn new(scene: &'a Scene, events: &[Event], shown: &[Event], width: usize) -> Self {
        let gutter = Gutter::new(shown);
        let (narrow, wide) = LANE_WIDTHS;
        let room = width.saturating_sub(gutter.width + 2);
        let lane_width = (room / scene.n().max(1)).clamp(narrow, wide);
        let width = width.max(gutter.width + 2 + scene.n() * lane_width);
        let lanes = Lanes::after(scene, &[]);
        Picture {
            scene,
            kinds: kinds(events),
            gutter,
            lane_width,
            width,
            lanes,
            has: vec![String::new(); scene.n()],
            known: Known::default(),
            repeated: 0,
            out: String::new(),
        }
    }

    /// The column of a lane.
    fn x(&self, lane: usize) -> usize {
        self.gutter.width + 2 + lane * self.lane_width
    }

    fn kind_style(&self, event: &Event) -> Style {
        let index = self.kinds.iter().position(|kind| *kind == event.kind).unwrap_or(0);
        KINDS[index % KINDS.len()].on_default()
    }

    fn header(&mut self, before: u64) {
        if !self.scene.title().is_empty() {
            self.out.push_str(&format!("{BOLD}{}{BOLD:#}\n\n", one_line(self.scene.title())));
        }
        let mut row = Row::new(self.width);
        for process in ProcessId::all(self.scene.n()) {
            let label = shortened(&one_line(&self.scene.label(process)), self.lane_width - 1);
            let left = label.chars().count().saturating_sub(1) / 2;
            row.write(self.x(process.index()).saturating_sub(left), &label, BOLD);
        }
        row.render(&mut self.out);
        if let Some(note) = left_out(before, "before") {
            self.remark(&format!("⋮ {note}"));
        }
    }

    /// A line beside the lanes.
    fn remark(&mut self, text: &str) {
        let mut row = Row::new(self.width.max(self.x(0) + text.chars().count()));
        row.write(self.x(0), text, DIM);
        row.render(&mut self.out);
    }

    /// A row with its lanes and the time of the event.
    fn row(&mut self, event: &Event) -> Row {
        let mut row = Row::new(self.width);
        row.write(0, &self.gutter.time(event), DIM);
        for (lane, &state) in self.lanes.now().iter().enumerate() {
            let (glyph, style) = look(state);
            row.put(self.x(lane), glyph, style);
        }
        row
    }

    fn group(&mut self, group: Group<'_>) {
        match group {
            Group::Starts(events) => self.starts(events),
            Group::Sends(events) => self.sends(events),
            Group::Straight { send, end } => self.arrow(send, end),
            Group::One(event) => self.event(event),
        }
        group.events().for_each(|event| self.lanes.pass(self.scene, event));
        group.events().for_each(|event| self.sights(event));
    }

    /// What processes have, where that changes: a row for all.
    fn sights(&mut self, event: &Event) {
        let lane = |at: ProcessId| Some(at.index()).filter(|lane| *lane < self.scene.n());
        let new = |(at, sight): &(ProcessId, Sight)| Some((lane(*at)?, sight.has.clone()));
        let new: Vec<(usize, String)> = event.sights.iter().filter_map(new).collect();
        let new: Vec<(usize, String)> =
            new.into_iter().filter(|(lane, has)| self.has[*lane] != *has).collect();
        if new.is_empty() {
            return;
        }
        let mut row = self.row(event);
        for (lane, has) in new {
            row.put(self.x(lane), '▸', HOLDING);
            self.beside(&mut row, lane, &[has_in_words(&has).to_owned()], HOLDING);
            self.has[lane] = has;
        }
        row.render(&mut self.out);
    }

    fn starts(&mut self, events: &[Event]) {
        let mut row = self.row(&events[0]);
        for lane in events.iter().filter_map(|event| self.scene.lane_of(event)) {
            row.put(self.x(lane), '┬', DIM);
        }
        row.render(&mut self.out);
    }

    fn sends(&mut self, events: &[Event]) {
        let Some(lane) = self.scene.lane_of(&events[0]) else { return };
        let (numbers, style) = (numbers(events), self.kind_style(&events[0]));
        let text = message_text(&events[0]);
        let targets = self.targets(lane, events);
        let mut row = self.row(&events[0]);
        row.put(self.x(lane), '●', style);
        let ways = [
            format!("{numbers} {text} → {targets}"),
            format!("{numbers} {text}"),
            format!("{numbers} {} → {targets}", events[0].kind),
            format!("{numbers} {}", events[0].kind),
            format!("{numbers} {}", shortened(events[0].kind, 4)),
            numbers,
        ];
        self.beside(&mut row, lane, &ways, style);
        row.render(&mut self.out);
    }

    fn targets(&self, from: usize, events: &[Event]) -> String {
        let lanes: BTreeSet<usize> =
            events.iter().filter_map(|event| self.scene.peer_lane_of(event)).collect();
        if self.scene.n() > 2 && lanes.len() + 1 == self.scene.n() && !lanes.contains(&from) {
            return "all".to_owned();
        }
        let names = lanes.iter().map(|&lane| self.scene.label(ProcessId(lane as u32)));
        names.collect::<Vec<_>>().join(" ")
    }

    /// Writes the first of these wordings that fits beside the lane; else the last, cut.
    fn beside(&self, row: &mut Row, lane: usize, ways: &[String], style: Style) {
        let last = lane + 1 == self.scene.n();
        let room = if last { self.width - self.x(lane) - 2 } else { self.lane_width - 2 };
        // Where there is space, text keeps a gap to the next lane.
        let room = if last || room < 8 { room } else { room - 1 };
        let fits = ways.iter().find(|way| way.chars().count() <= room);
        let text = fits.or(ways.last()).map_or(String::new(), |way| shortened(way.trim(), room));
        row.write(self.x(lane) + 2, &text, style);
    }

    fn event(&mut self, event: &Event) {
        match event.what {
            What::Network => self.network(event),
            What::Violation => self.violation(event),
            What::Receive | What::Lose => self.arrow(event, event),
            _ => self.point(event),
        }
    }

    /// An event at one process.
    fn point(&mut self, event: &Event) {
        let Some(lane) = self.scene.lane_of(event) else { return };
        let (glyph, style) = glyph(event.what);
        let words = match (event.what, event.message) {
            (What::Duplicate, Some(number)) => format!("#{number} will come again"),
            (What::Timer, _) => one_line(&event.text),
            _ => event_in_words(self.scene, event),
        };
        let mut row = self.row(event);
        row.put(self.x(lane), glyph, style);
        self.beside(&mut row, lane, &[words], style);
        row.render(&mut self.out);
    }

    /// A message arrives, or is lost on its way. If it left in this row, `send` is its sending.
    fn arrow(&mut self, send: &Event, end: &Event) {
        let (Some(from), Some(to)) = (self.scene.peer_lane_of(end), self.scene.lane_of(end)) else {
            return;
        };
        let lost = end.what == What::Lose;
        let style = if lost { TROUBLE } else { self.kind_style(end) };
        let mut row = self.row(end);
        if from == to {
            self.beside(&mut row, to, &self.labels(end), style);
        } else {
            self.line(&mut row, from, to, lost, style);
            self.label(&mut row, from, to, end, style);
        }
        if send.what == What::Send {
            row.put(self.x(from), '●', style);
        }
        if !lost {
            row.put(self.x(to), '●', style);
        }
        row.render(&mut self.out);
    }

    fn line(&self, row: &mut Row, from: usize, to: usize, lost: bool, style: Style) {
        let (left, right) = (self.x(from.min(to)), self.x(from.max(to)));
        (left + 1..right).for_each(|x| row.put(x, '─', style));
        for lane in from.min(to) + 1..from.max(to) {
            let (glyph, lane_style) = crossed(self.lanes.now()[lane]);
            row.put(self.x(lane), glyph, lane_style.unwrap_or(style));
        }
        let rightwards = from < to;
        let tail = if rightwards { '├' } else { '┤' };
        if let (_, Some(lane_style)) = crossed(self.lanes.now()[from]) {
            let holding = self.lanes.now()[from].operation == Operation::Holding;
            row.put(self.x(from), if holding { '█' } else { tail }, lane_style);
        }
        let head = match (lost, rightwards) {
            (true, _) => '✗',
            (false, true) => '▶',
            (false, false) => '◀',
        };
        row.put(if rightwards { right - 1 } else { left + 1 }, head, style);
    }

    /// The label stands between the sender's lane and the next, with a piece of line on both sides.
    fn label(&self, row: &mut Row, from: usize, to: usize, end: &Event, style: Style) {
        let room = self.lane_width - 1;
        let ways = self.labels(end).map(|way| format!(" {way} "));
        let spare = |way: &String| room.checked_sub(way.chars().count() + 2);
        let Some((way, spare)) = ways.iter().find_map(|way| Some((way, spare(way)?))) else {
            // Too narrow for more than the bare number, or even for that one.
            let [.., number] = self.labels(end);
            if number.chars().count() < room {
                let left = if from < to { self.x(from) + 1 } else { self.x(from - 1) + 2 };
                row.write(left, &number, style);
            }
            return;
        };
        let left = if from < to { self.x(from) } else { self.x(from - 1) };
        row.write(left + 2 + spare / 2, way, style);
    }

    /// The ways to name a message, the longest first.
    fn labels(&self, event: &Event) -> [String; 3] {
        let number = event.message.map_or(String::new(), |number| format!("#{number}"));
        let text = message_text(event);
        [format!("{number} {text}"), format!("{number} {}", event.kind), number]
            .map(|way| way.trim().to_owned())
    }

    fn network(&mut self, event: &Event) {
        let text = format!(" {} ", event_in_words(self.scene, event));
        let mut row = self.row(event);
        let right =
            self.x(self.scene.n().saturating_sub(1)).max(self.x(0) + text.chars().count() + 4);
        (self.x(0)..=right).for_each(|x| row.put(x, '╌', NETWORK));
        row.write(self.x(0) + 3, &text, NETWORK);
        row.render(&mut self.out);
    }

    fn violation(&mut self, event: &Event) {
        if !self.known.is_new(event) {
            self.repeated += 1;
            return;
        }
        let place = event.process.map_or(String::new(), |p| format!(" at {}", self.scene.label(p)));
        let text = format!("VIOLATION of {}{place}: {}", event.kind, one_line(&event.text));
        let room = self.width.saturating_sub(self.x(0) + 3).max(20);
        for line in wrapped(&text, room) {
            let mut row = self.row(event);
            row.write(self.x(0), &format!("▌ {line} "), VIOLATION);
            row.render(&mut self.out);
        }
    }

    /// A sign on every lane that waits, if no further step is possible.
    fn ending(&mut self) {
        if self.scene.ending().is_none() {
            return;
        }
        let stuck = |lane: &Lane| lane.operation == Operation::Waiting && lane.life == Life::Up;
        let mut row = Row::new(self.width);
        for (lane, state) in self.lanes.now().iter().enumerate() {
            let (glyph, style) = if stuck(state) { ('╳', TROUBLE.bold()) } else { look(*state) };
            row.put(self.x(lane), glyph, style);
        }
        row.render(&mut self.out);
    }

    /// Names the messages that have not arrived when the trace ends.
    fn under_way(&mut self, events: &[Event]) {
        let done: BTreeSet<u64> = events
            .iter()
            .filter(|event| matches!(event.what, What::Receive | What::Lose))
            .filter_map(|event| event.message)
            .collect();
        let open: Vec<String> = events
            .iter()
            .filter(|event| event.what == What::Send)
            .filter(|event| event.message.is_some_and(|number| !done.contains(&number)))
            .map(|event| {
                let [_, label, _] = self.labels(event);
                let [from, to] = [event.process, event.peer]
                    .map(|end| end.map_or_else(|| "?".to_owned(), |p| self.scene.label(p)));
                format!("{label} {from} → {to}")
            })
            .collect();
        if let Some(more) = open.len().checked_sub(NAMED_UNDER_WAY).filter(|&more| more > 0) {
            let named = open[..NAMED_UNDER_WAY].join(", ");
            self.remark(&format!("still under way: {named} and {more} more"));
        } else if !open.is_empty() {
            self.remark(&format!("still under way: {}", open.join(", ")));
        }
    }

    /// The meaning of the signs that this picture uses.
    fn legend(&mut self, events: &[Event]) {
        let meanings = [
            ('┆', "waits"),
            ('█', "holds"),
            ('○', "asks"),
            ('◆', "is told"),
            ('●', "sends, receives"),
            ('✗', "lost"),
            ('◷', "timer"),
            ('▸', "has"),
            ('†', "crash"),
            ('╳', "waits for ever"),
            ('╎', "paused"),
        ];
        let used = meanings.iter().filter(|(sign, _)| self.out.contains(*sign));
        let signs: Vec<String> = used.map(|(sign, word)| format!("{sign} {word}")).collect();
        self.out.push('\n');
        if !signs.is_empty() {
            self.remark(&signs.join("   "));
        }
        if events.iter().any(|event| event.message.is_some()) {
            self.remark("#1 names a message; its arrow is drawn where it arrives");
        }
    }
}

/// The look of a lane between events.
fn look(lane: Lane) -> (char, Style) {
    match (lane.life, lane.operation) {
        (Life::Down, _) => (' ', PLAIN),
        (Life::Paused, _) => ('╎', DIM),
        (Life::Up, Operation::Idle) => ('│', DIM),
        (Life::Up, Operation::Waiting) => ('┆', WAITING),
        (Life::Up, Operation::Holding) => ('█', HOLDING),
    }
}

/// The look of a lane that an arrow crosses; without a style of its own where it is empty.
fn crossed(lane: Lane) -> (char, Option<Style>) {
    match look(lane) {
        (' ', _) => ('─', None),
        ('█', style) => ('█', Some(style)),
        (_, style) => ('┼', Some(style)),
    }
}

/// The sign of an event at one process.
fn glyph(what: What) -> (char, Style) {
    match what {
        What::Input => ('○', BOLD),
        What::Output => ('◆', HOLDING.bold()),
        What::Timer => ('◷', PLAIN),
        What::Sync => ('▪', PLAIN),
        What::Crash => ('†', TROUBLE.bold()),
        What::Restart => ('┬', BOLD),
        What::Pause => ('╷', DIM),
        What::Resume => ('╵', DIM),
        What::Accuse => ('⚑', TROUBLE),
        What::Duplicate => ('+', DIM),
        What::Start | What::Send | What::Receive | What::Lose | What::Network | What::Violation => {
            ('●', PLAIN)
        }
    }
}

/// The column of times: each is written once. Where time stands still, events are numbered instead.
struct Gutter {
    width: usize,
    counts: bool,
    last: Option<String>,
}

impl Gutter {
    fn new(events: &[Event]) -> Self {
        let time = |event: Option<&Event>| event.map_or(0, |event| event.time_us);
        let counts = time(events.first()) == time(events.last());
        let mut gutter = Gutter { width: 0, counts, last: None };
        gutter.width = events.last().map_or(0, |event| gutter.words(event).chars().count());
        gutter
    }

    fn words(&self, event: &Event) -> String {
        if self.counts {
            event.index.to_string()
        } else {
            format!("{}.{:03} ms", event.time_us / 1_000, event.time_us % 1_000)
        }
    }

    /// The text beside this event: empty, if it is the same as before.
    fn time(&mut self, event: &Event) -> String {
        let words = self.words(event);
        if self.last.as_ref() == Some(&words) {
            return String::new();
        }
        self.last = Some(words.clone());
        format!("{words:>width$}", width = self.width)
    }
}

#[cfg(test)]
mod tests;
