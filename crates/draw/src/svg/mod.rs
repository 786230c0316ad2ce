//! A space-time diagram as SVG: a lane for each process, time to the right, as on a blackboard.
//!
//! One file, complete in itself; light or dark as the reader's page is. Each message is an arrow in
//! the colour of its kind; point at it to read the message, its Lamport and its vector times.
//! Messages that begin or end outside of the window are short dashed stubs.

mod arrows;
mod axis;
mod ending;
mod labels;
mod network;
mod sights;

pub use axis::Spread;

use crate::Scene;
use crate::lane::{Lane, Lanes, Life, Operation};
use crate::paper::{self, escaped, line, stroke, text, text_width};
use crate::words::{
    event_in_full, event_in_words, kinds, one_line, shortened_at_a_word, time_in_words,
};
use axis::Axis;
use labels::Labels;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use synod_core::ProcessId;
use synod_sim::trace::{Event, What};

/// The free margin around the picture, in pixels.
const MARGIN: f64 = 24.0;
/// The place of the first lane: below title, remark and the words about the network.
const FIRST_LANE: f64 = 98.0;
/// The longest words beside a lane, in letters.
const LONGEST_WORDS: usize = 20;
/// A line of text.
const LINE: f64 = 19.0;

/// Draws the events as an SVG file.
pub fn draw(scene: &Scene, events: &[Event], spread: Spread) -> String {
    let shown = scene.cut(events);
    let picture = Picture::drawn(scene, events, spread, (shown.before, shown.after), true);
    let size = (picture.width, picture.bottom + MARGIN);
    paper::file(&title(scene), &description(scene, shown.events), size, &picture.body)
}

/// The same in rows of at most `steps` steps, one below the other, for pages. Messages from one row
/// to a later one are stubs in both.
pub fn draw_in_rows(scene: &Scene, events: &[Event], steps: usize) -> String {
    let shown = scene.cut(events);
    let rows = axis::rows(shown.events, steps);
    let (mut body, mut width, mut bottom) = (String::new(), 0.0_f64, 0.0);
    for (number, row) in rows.iter().enumerate() {
        let (is_first, is_last) = (number == 0, number + 1 == rows.len());
        let mut part = scene.clone().without_tips().with_window(row.clone());
        if !is_last {
            part = part.without_ending();
        }
        if !is_first {
            part = part.with_title("");
        }
        let before = if is_first { shown.before } else { 0 };
        let after = if is_last { shown.after } else { 0 };
        let picture = Picture::drawn(&part, events, Spread::Order, (before, after), is_last);
        // The place of a title is left out where there is none.
        let up = if is_first { 0.0 } else { FIRST_LANE - 56.0 };
        let y = bottom - up;
        let _ = writeln!(body, "<g transform=\"translate(0 {y:.1})\">\n{}</g>", picture.body);
        width = width.max(picture.width);
        bottom += picture.bottom - up;
    }
    let size = (width, bottom + MARGIN);
    paper::file(&title(scene), &description(scene, shown.events), size, &body)
}

fn title(scene: &Scene) -> String {
    if scene.title().is_empty() { "A run".to_owned() } else { scene.title().to_owned() }
}

fn description(scene: &Scene, shown: &[Event]) -> String {
    format!("Space-time diagram of {} processes with {} events.", scene.n(), shown.len())
}

struct Picture<'a> {
    scene: &'a Scene,
    kinds: Vec<&'static str>,
    axis: Axis,
    /// The ends of the lanes.
    left: f64,
    right: f64,
    width: f64,
    lane_distance: f64,
    labels: Labels,
    body: String,
    /// The lowest place drawn so far.
    bottom: f64,
}

impl<'a> Picture<'a> {
    /// Everything from the title to the legend. `left_out` are the numbers of events before and
    /// after that the header tells of.
    fn drawn(
        scene: &'a Scene,
        events: &[Event],
        spread: Spread,
        left_out: (u64, u64),
        with_legend: bool,
    ) -> Self {
        let shown = scene.cut(events);
        let mut picture = Picture::new(scene, events, spread);
        picture.header(left_out.0, left_out.1);
        picture.network(shown.earlier, shown.events);
        picture.lanes(shown.earlier, shown.events);
        picture.arrows(shown.events);
        picture.points(shown.events);
        picture.sights(shown.earlier, shown.events);
        picture.names(shown.events);
        picture.violations(shown.events);
        picture.ending(shown.earlier, shown.events);
        if with_legend {
            picture.axis();
            picture.legend(events);
        }
        picture
    }

    fn new(scene: &'a Scene, events: &[Event], spread: Spread) -> Self {
        let axis = Axis::new(scene.cut(events).events, spread);
        let names = ProcessId::all(scene.n()).map(|process| text_width(&scene.label(process)));
        let left = MARGIN + names.fold(0.0, f64::max) + 34.0;
        let right = left + axis.width + 34.0;
        let width = (right + MARGIN).max(text_width(scene.title()) * 1.35 + 2.0 * MARGIN);
        let has = |event: &Event| event.sights.iter().any(|(_, sight)| !sight.has.is_empty());
        // What processes have is written below their lanes.
        let room = if events.iter().any(has) { 16.0 } else { 0.0 };
        let lane_distance = room
            + match scene.n() {
                0..=5 => 76.0,
                6..=10 => 60.0,
                _ => 44.0,
            };
        let bottom = FIRST_LANE + scene.n().saturating_sub(1) as f64 * lane_distance + 30.0;
        let labels = Labels::new(MARGIN, width - MARGIN);
        let (kinds, body) = (kinds(events), String::new());
        Picture { scene, kinds, axis, left, right, width, lane_distance, labels, body, bottom }
    }

    /// The place of the event with this position in the window.
    fn x(&self, position: usize) -> f64 {
        self.left + self.axis.x[position]
    }

    fn y(&self, lane: usize) -> f64 {
        FIRST_LANE + lane as f64 * self.lane_distance
    }

    fn last_y(&self) -> f64 {
        self.y(self.scene.n().saturating_sub(1))
    }

    fn kind_index(&self, event: &Event) -> usize {
        self.kinds.iter().position(|kind| *kind == event.kind).unwrap_or(0)
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
    }

    fn header(&mut self, before: u64, after: u64) {
        self.add(&text("title", MARGIN, MARGIN + 10.0, self.scene.title()));
        let remark = match (before, after) {
            (0, 0) => String::new(),
            (before, 0) => format!("{before} events before are left out"),
            (0, after) => format!("{after} events after are left out"),
            (before, after) => format!("{before} events before and {after} after are left out"),
        };
        if !remark.is_empty() {
            self.add(&text("small faint", MARGIN, MARGIN + 27.0, &remark));
        }
        for process in ProcessId::all(self.scene.n()) {
            let (x, y) = (self.left - 20.0, self.y(process.index()) + 4.0);
            self.add(&text("label end", x, y, &self.scene.label(process)));
        }
    }

    /// The lanes: the activity of each process, piece by piece.
    fn lanes(&mut self, earlier: &[Event], events: &[Event]) {
        for lane in 0..self.scene.n() {
            let mut state = Lanes::after(self.scene, earlier).now()[lane];
            let mut since = self.left - 12.0;
            for (position, event) in events.iter().enumerate() {
                if self.scene.lane_of(event) != Some(lane) || state.after(event) == state {
                    continue;
                }
                let x = self.x(position);
                self.piece(lane, state, since, x);
                (state, since) = (state.after(event), x);
            }
            self.piece(lane, state, since, self.right);
        }
    }

    fn piece(&mut self, lane: usize, state: Lane, from: f64, to: f64) {
        let (y, width) = (self.y(lane), (to - from).max(0.0));
        let band = match state.operation {
            Operation::Idle => None,
            Operation::Waiting => Some(("waiting", 5.0)),
            Operation::Holding => Some(("holding", 10.0)),
        };
        if let Some((class, half)) = band {
            self.add(&format!(
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
                 height=\"{:.1}\" rx=\"3\"/>\n",
                y - half,
                half * 2.0
            ));
        }
        let class = match state.life {
            Life::Up => "lane",
            Life::Paused => "lane paused",
            Life::Down => "lane down",
        };
        self.add(&line(class, (from, y), (to, y)));
    }

    /// The signs on the lanes: one for each step, the most telling of its events.
    fn points(&mut self, events: &[Event]) {
        let mut points: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (position, event) in events.iter().enumerate() {
            if let Some(lane) = self.scene.lane_of(event) {
                points.entry((self.axis.steps[position], lane)).or_default().push(position);
            }
        }
        for ((_, lane), positions) in points {
            let loud = positions.iter().max_by_key(|&&position| weight(events[position].what));
            let Some(&loud) = loud else { continue };
            let sign = sign(events[loud].what, self.x(loud), self.y(lane));
            if !sign.is_empty() {
                let tips = positions.iter().map(|&position| self.tip(&events[position]));
                let tips = tips.collect::<Vec<_>>().join("\n");
                let sign = self.with_tip("<g>", &tips, &format!("{sign}\n"));
                self.add(&sign);
            }
        }
    }

    /// The shape in a group with words that show where a reader points at it, if the picture has
    /// such words.
    fn with_tip(&self, group: &str, tip: &str, shape: &str) -> String {
        if !self.scene.has_tips() {
            return shape.to_owned();
        }
        format!("{group}<title>{}</title>{}</g>\n", escaped(tip), shape.trim_end())
    }

    /// The tooltip of an event: its words, with all its times.
    fn tip(&self, event: &Event) -> String {
        let place = event.process.map_or(String::new(), |process| self.scene.label(process));
        let words = event_in_full(self.scene, event);
        let time = time_in_words(event.time_us);
        format!(
            "{place} {words}\nevent {} at {time}, Lamport {}, vector {:?}",
            event.index, event.lamport, event.vector
        )
    }

    /// The words beside inputs, outputs and troubles, and the names on the arrows.
    fn names(&mut self, events: &[Event]) {
        for (position, event) in events.iter().enumerate() {
            let Some(lane) = self.scene.lane_of(event) else { continue };
            let words = match event.what {
                What::Input | What::Output | What::Timer => one_line(&event.text),
                What::Crash | What::Pause | What::Resume => event_in_words(self.scene, event),
                What::Restart => "restarts".to_owned(),
                What::Accuse => format!("accuses {}", event.peer.unwrap_or(ProcessId(0))),
                _ => continue,
            };
            let (x, y) = (self.x(position), self.y(lane));
            let words = shortened_at_a_word(&words, LONGEST_WORDS);
            let half = text_width(&words) / 2.0;
            let beside = [0.0, half - 4.0, 4.0 - half];
            let places: Vec<(f64, f64)> = [-15.0, 23.0, -28.0]
                .iter()
                .flat_map(|up| beside.iter().map(move |aside| (x + aside, y + up)))
                .collect();
            let class = if event.what == What::Crash { "small wrong" } else { "small" };
            self.labels.claim(class, &words, &places);
        }
        let lanes: Vec<f64> = (0..self.scene.n()).map(|lane| self.y(lane)).collect();
        self.labels.name_arrows(&lanes);
        let texts = self.labels.elements();
        self.add(&texts);
    }

    fn axis(&mut self) {
        self.bottom += 18.0;
        let y = self.bottom;
        self.add(&line("axis", (self.left - 12.0, y), (self.right, y)));
        for (x, words) in self.axis.ticks() {
            let x = self.left + x;
            self.add(&line("axis", (x, y), (x, y + 5.0)));
            self.add(&text("small faint middle", x, y + 18.0, &words));
        }
        if !self.axis.is_by_time() {
            let words = "in the order of events; distances mean nothing";
            self.add(&text("small faint", self.left - 12.0, y + 18.0, words));
        }
        self.bottom += 24.0;
    }

    /// The meaning of the colours and shadings that this picture uses.
    fn legend(&mut self, events: &[Event]) {
        let uses = |class: &str| self.body.contains(&format!("class=\"{class}\""));
        let mut items: Vec<(String, &str)> = self
            .kinds
            .iter()
            .enumerate()
            .filter(|(_, kind)| events.iter().any(|event| event.kind == **kind))
            .map(|(index, kind)| (format!("arrow {}", stroke(index)), *kind))
            .collect();
        let meanings = [
            ("waiting", "waits"),
            ("holding", "holds"),
            ("arrow lost", "lost"),
            ("lane down", "crashed"),
            ("lane paused", "paused"),
            ("cut-band", "network cut"),
            ("side0", "one side of a partition"),
            ("side1", "another side"),
            ("stuck", "waits for ever"),
            ("small has halo middle", "what the process has"),
        ];
        let used = meanings.iter().filter(|(class, _)| uses(class));
        items.extend(used.map(|(class, word)| ((*class).to_owned(), *word)));
        let (mut x, mut y) = (self.left - 12.0, self.bottom + LINE);
        for (class, word) in items {
            let width = 26.0 + text_width(word) + 20.0;
            if x + width > self.width - MARGIN && x > self.left {
                (x, y) = (self.left - 12.0, y + LINE);
            }
            self.add(&swatch(&class, x, y - 4.0));
            self.add(&text("small", x + 27.0, y, word));
            x += width;
        }
        self.bottom = y;
    }
}

fn swatch(class: &str, x: f64, y: f64) -> String {
    if class.starts_with("arrow") || class.starts_with("lane") || class == "stuck" {
        return line(class, (x, y), (x + 20.0, y));
    }
    let mut swatch = String::new();
    let top = y - 5.0;
    let _ = writeln!(
        swatch,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"20\" height=\"10\" rx=\"2\"/>"
    );
    swatch
}

/// Which of several events at one point determines its sign.
fn weight(what: What) -> u8 {
    match what {
        What::Lose | What::Duplicate | What::Network | What::Violation => 0,
        What::Send | What::Receive | What::Sync | What::Accuse => 1,
        What::Start | What::Timer => 2,
        What::Input => 3,
        What::Output => 4,
        What::Crash | What::Restart | What::Pause | What::Resume => 5,
    }
}

/// The sign on the lane.
fn sign(what: What, x: f64, y: f64) -> String {
    let circle = |class: &str, r: f64| {
        format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>")
    };
    let upright = |class: &str, half: f64| line(class, (x, y - half), (x, y + half));
    match what {
        What::Input => circle("hollow", 4.0),
        What::Output => format!(
            "<path class=\"told\" style=\"fill-opacity:1\" \
             d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>",
            y - 5.5
        ),
        What::Send | What::Receive | What::Sync | What::Accuse => circle("dot", 3.0),
        What::Timer => circle("hollow", 3.0),
        What::Start | What::Restart => upright("axis", 6.0),
        What::Pause | What::Resume => upright("axis", 4.0),
        What::Crash => arrows::cross("arrow lost", x, y, 6.0),
        What::Lose | What::Duplicate | What::Network | What::Violation => String::new(),
    }
}

#[cfg(test)]
mod tests;
