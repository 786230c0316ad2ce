//! Real runs of every algorithm in the catalogue, drawn in every way.

use roxmltree::Document;
use std::collections::{BTreeMap, BTreeSet};
use synod_core::card::Rounds;
use synod_draw::shiviz::Shiviz;
use synod_draw::svg::Spread;
use synod_draw::{Scene, mermaid, svg, terminal};
use synod_protocols::{entries, which};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::world::TELL;
use synod_sim::{Options, Plan};

/// The first events of a run, and its log for ShiViz.
struct Run {
    n: usize,
    events: Vec<Event>,
    log: String,
}

/// A run, with or without faults.
#[derive(Clone, Copy)]
struct Record {
    n: usize,
    seed: u64,
    faulty: bool,
}

impl Record {
    fn options(self) -> Options {
        let mut options = Options::new(Plan::new(self.n, Rounds::Times(2)), self.seed);
        options.steps_at_most = 3_000;
        if self.faulty {
            options.network.loss = 0.05;
            options.network.duplication = 0.05;
            options.faults = RandomFaults {
                crashes: 1,
                restart: Restart::WithDisk,
                deaths: 0,
                pauses: 1,
                partitions: 1,
                one_way_cuts: 1,
                within_us: 60_000,
            };
        }
        options
    }
}

impl Record {
    /// The run of an algorithm. None, if a group of this size cannot be set up.
    fn of(self, name: &str) -> Option<Run> {
        let mut window = Window::new(0, 400);
        let mut shiviz = Shiviz::new(Vec::new(), Scene::new("", self.n));
        let tracer = Tracer::new(self.n, vec![&mut window, &mut shiviz]);
        let run =
            synod_drivers::simulate(which, name, self.options(), Some(tracer), &mut |_, _| ());
        let report = run.expect("it is in the catalogue").ok()?;
        report.expect("the trace is whole, so that ShiViz takes it");
        let log = String::from_utf8(shiviz.into_inner()).expect("the log is text");
        Some(Run { n: self.n, events: window.events, log })
    }
}

/// Runs of every algorithm, with its name.
fn runs() -> impl Iterator<Item = (&'static str, Run)> {
    entries().into_iter().flat_map(|entry| {
        let name = entry.card.name;
        let records = [(3, 1, false), (5, 2, false), (4, 3, true)];
        records.into_iter().filter_map(move |(n, seed, faulty)| {
            Record { n, seed, faulty }.of(name).map(|run| (name, run))
        })
    })
}

/// The longest label of a message, in letters: there is room for it on an arrow.
const LONGEST_LABEL: usize = 40;

#[test]
fn every_message_of_every_algorithm_has_a_short_label() {
    for (name, run) in runs() {
        let sent = run.events.iter().filter(|event| event.what == What::Send);
        for event in sent.filter(|event| event.kind != TELL) {
            let length = event.label.chars().count();
            assert!(
                (1..=LONGEST_LABEL).contains(&length),
                "{name}: {} of {}",
                event.label,
                event.text
            );
        }
    }
}

fn count(run: &Run, what: What) -> usize {
    run.events.iter().filter(|event| event.what == what).count()
}

#[test]
fn every_run_can_be_drawn_as_svg() {
    for (name, run) in runs() {
        let drawn = svg::draw(&Scene::new(name, run.n), &run.events, Spread::Automatic);
        let document = Document::parse(&drawn).unwrap_or_else(|error| panic!("{name}: {error}"));
        let heads = document.descendants().filter(|node| {
            node.attribute("class").is_some_and(|classes| classes.starts_with("head"))
        });
        let to_others = |event: &&Event| event.what == What::Receive && event.peer != event.process;
        assert_eq!(heads.count(), run.events.iter().filter(to_others).count(), "{name}");
    }
}

#[test]
fn every_run_can_be_drawn_in_the_terminal() {
    for (name, run) in runs() {
        let drawn = terminal::draw(&Scene::new(name, run.n), &run.events, 100);
        assert!(drawn.lines().count() > 5, "{name}");
        let violations = run.events.iter().filter(|event| event.what == What::Violation);
        let different: BTreeSet<_> = violations.map(|event| (event.kind, &event.text)).collect();
        assert_eq!(drawn.matches("VIOLATION").count(), different.len(), "{name}");
    }
}

#[test]
fn every_run_can_be_drawn_for_mermaid() {
    for (name, run) in runs() {
        let drawn = mermaid::draw(&Scene::new(name, run.n), &run.events);
        assert_eq!(drawn.matches("->>").count(), count(&run, What::Receive), "{name}");
        assert_eq!(drawn.matches("--x").count(), count(&run, What::Lose), "{name}");
    }
}

#[test]
fn in_every_log_for_shiviz_the_own_clock_grows_by_one() {
    for (name, run) in runs() {
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        let lines: Vec<&str> = run.log.lines().skip(2).collect();
        assert!(lines.len() > 2 && lines.len().is_multiple_of(2), "{name}");
        for pair in lines.chunks(2) {
            let (host, clock) = pair[1].split_once(' ').expect("a host and a clock");
            let clock: BTreeMap<&str, u64> = serde_json::from_str(clock).expect("JSON");
            let last = own.insert(host, clock[host]).unwrap_or(0);
            assert_eq!(clock[host], last + 1, "{name}: {}", pair[0]);
        }
    }
}
