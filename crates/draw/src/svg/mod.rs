//! A space-time diagram as SVG: a lane for each process, time to the right, as on a blackboard.
//!
//! One file, complete in itself; light or dark as the reader's page is. Each message is an arrow in
//! the colour of its kind; point at it to read the message, its Lamport and its vector times.
//! Messages that begin or end outside of the window are short dashed stubs.

mod arrows;
mod axis;
mod labels;

pub use axis::Spread;

use crate::Scene;
use crate::lane::{Lane, Lanes, Life, Operation};
use crate::paper::{self, escaped, line, stroke, text, text_width};
use crate::words::{Known, event_in_words, kinds, one_line, shortened, time_in_words};
use axis::Axis;
use labels::Labels;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use synod_core::ProcessId;
use synod_sim::trace::{Event, What};

/// The free margin around the picture, in pixels.
const MARGIN: f64 = 24.0;
/// The place of the first lane: below title, remark and the words about the network.
const FIRST_LANE: f64 = 98.0;
/// A line of text.
const LINE: f64 = 19.0;

/// Draws the events as an SVG file.
pub fn draw(scene: &Scene, events: &[Event], spread: Spread) -> String {
    let shown = scene.cut(events);
    let mut picture = Picture::new(scene, events, spread);
    picture.header(shown.before, shown.after);
    picture.network(shown.earlier, shown.events);
    picture.lanes(shown.earlier, shown.events);
    picture.arrows(shown.events);
    picture.points(shown.events);
    picture.names(shown.events);
    picture.violations(shown.events);
    picture.axis();
    picture.legend(shown.events);
    let description = format!(
        "Space-time diagram of {} processes with {} events.",
        scene.n(),
        shown.events.len()
    );
    let title = if scene.title().is_empty() { "A run" } else { scene.title() };
    paper::file(title, &description, (picture.width, picture.bottom + MARGIN), &picture.body)
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
    fn new(scene: &'a Scene, events: &[Event], spread: Spread) -> Self {
        let axis = Axis::new(scene.cut(events).events, spread);
        let names = ProcessId::all(scene.n()).map(|process| text_width(&scene.label(process)));
        let left = MARGIN + names.fold(0.0, f64::max) + 34.0;
        let right = left + axis.width + 34.0;
        let width = (right + MARGIN).max(text_width(scene.title()) * 1.35 + 2.0 * MARGIN);
        let lane_distance = match scene.n() {
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

    /// A dashed line where the network changes, and a band for as long as links are cut.
    fn network(&mut self, earlier: &[Event], events: &[Event]) {
        let mut cuts = Cuts::default();
        earlier.iter().for_each(|event| cuts.pass(event));
        let mut since = self.left - 12.0;
        let (top, bottom) = (FIRST_LANE - 32.0, self.last_y() + 24.0);
        for (position, event) in events.iter().enumerate() {
            if event.what != What::Network {
                continue;
            }
            let x = self.x(position);
            self.cut_band(&cuts, since, x);
            since = x;
            cuts.pass(event);
            self.add(&line("cut", (x, top), (x, bottom)));
            let words = shortened(&one_line(&event.text), 40);
            let half = text_width(&words) / 2.0;
            let places = [(x + half, top - 5.0), (x - half, top - 5.0), (x + half, top - 19.0)];
            self.labels.claim("small faint", &words, &places);
        }
        self.cut_band(&cuts, since, self.right);
    }

    fn cut_band(&mut self, cuts: &Cuts, from: f64, to: f64) {
        if !cuts.0.is_empty() {
            let (top, width) = (FIRST_LANE - 32.0, to - from);
            let height = self.last_y() + 24.0 - top;
            self.add(&format!(
                "<rect class=\"cut-band\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\"/>\n"
            ));
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
                let tips = escaped(&tips.collect::<Vec<_>>().join("\n"));
                self.add(&format!("<g><title>{tips}</title>{sign}</g>\n"));
            }
        }
    }

    /// The tooltip of an event: its words, with all its times.
    fn tip(&self, event: &Event) -> String {
        let place = event.process.map_or(String::new(), |process| self.scene.label(process));
        let words = event_in_words(self.scene, event);
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
            let words = shortened(&words, 18);
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

    /// A red ring where a property is violated, and the reason below the lanes, once.
    fn violations(&mut self, events: &[Event]) {
        let mut known = Known::default();
        for (position, event) in events.iter().enumerate() {
            let (What::Violation, Some(lane)) = (event.what, self.scene.lane_of(event)) else {
                continue;
            };
            if !known.is_new(event) {
                continue;
            }
            self.bottom += LINE;
            let (x, y) = (self.x(position), self.y(lane));
            let right_side = x < self.width / 2.0;
            let room = if right_side { self.width - MARGIN - x } else { x - MARGIN };
            let words = format!("{} violated: {}", event.kind, one_line(&event.text));
            let words = shortened(&words, (room / 7.2) as usize);
            self.add(&format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>\n"));
            self.add(&line("lead", (x, y + 9.0), (x, self.bottom - 12.0)));
            let class = if right_side { "wrong halo" } else { "wrong halo end" };
            let tip = escaped(&self.tip(event));
            let reason = text(class, x, self.bottom, &words);
            self.add(&format!("<g><title>{tip}</title>{reason}</g>\n"));
        }
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

/// The cut links, from the words of the trace: `partition …`, `cut …`, `mend …` and `heal`.
#[derive(Default)]
struct Cuts(BTreeSet<String>);

impl Cuts {
    fn pass(&mut self, event: &Event) {
        if event.what != What::Network {
            return;
        }
        match event.text.split_once(' ').unwrap_or((&event.text, "")) {
            ("heal", _) => self.0.clear(),
            ("mend", link) => {
                self.0.remove(link);
            }
            ("cut", link) => {
                self.0.insert(link.to_owned());
            }
            _ => {
                self.0.insert("partition".to_owned());
            }
        }
    }
}

fn swatch(class: &str, x: f64, y: f64) -> String {
    if class.starts_with("arrow") || class.starts_with("lane") {
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
