//! A log for ShiViz, which draws space-time diagrams from vector times in a browser.
//!
//! The file: a line with the expression that parses the rest, an empty line (there is one execution
//! only), then two lines for each event: its description, and its process with the vector time.
//!
//! ShiViz demands that the own component of a process grows by exactly one from event to event. So
//! only events that tick are written: changes of the network, losses, duplicates, pauses and
//! violations happen outside every process, and are left out.
//!
//! Source: Beschastnikh, Wang, Brun, Ernst, *Debugging Distributed Systems* (ACM Queue, 2016).

use crate::Scene;
use crate::words::event_in_words;
use std::fmt::Write as _;
use std::io::{self, Write};
use synod_sim::trace::{Event, Sink};

/// The expression in the first line, by which ShiViz parses the log.
pub const PARSER: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";

/// Writes the log event by event; it keeps only the last vector time of each process.
pub struct Shiviz<W: Write> {
    out: W,
    scene: Scene,
    ticks: Vec<u32>,
    begun: bool,
}

impl<W: Write> Shiviz<W> {
    /// Writes to `out`. Give it a buffered writer.
    pub fn new(out: W, scene: Scene) -> Self {
        let ticks = vec![0; scene.n()];
        Shiviz { out, scene, ticks, begun: false }
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            write!(self.out, "{PARSER}\n\n")?;
        }
        Ok(())
    }

    /// `alice {"alice":2,"p1":1}`: processes without a known event are left out.
    fn place_and_time(&self, lane: usize, vector: &[u32]) -> String {
        let mut line = format!("{} {{", self.host(lane));
        let known = vector.iter().enumerate().filter(|&(_, &known)| known > 0);
        for (index, (process, known)) in known.enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(line, "{comma}\"{}\":{known}", self.host(process));
        }
        line + "}"
    }

    /// The name of a process as one word that needs no escapes.
    fn host(&self, lane: usize) -> String {
        let label = self.scene.label(synod_core::ProcessId(lane as u32));
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        label.chars().map(plain).collect()
    }
}

impl<W: Write> Sink for Shiviz<W> {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.begin()?;
        let Some(lane) = self.scene.lane_of(event) else { return Ok(()) };
        let own = event.vector.get(lane).copied().unwrap_or(0);
        if own == self.ticks[lane] {
            return Ok(());
        }
        if own != self.ticks[lane] + 1 {
            return Err(gap(event, self.ticks[lane], own));
        }
        self.ticks[lane] = own;
        let words = event_in_words(&self.scene, event);
        writeln!(self.out, "{words}\n{}", self.place_and_time(lane, &event.vector))
    }

    fn draws(&self, _index: u64) -> bool {
        true
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        self.out.flush()
    }
}

fn gap(event: &Event, last: u32, own: u32) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!(
            "event {} has vector time {own} at its own process, after {last}: ShiViz needs every \
             event of the run; write the whole trace, not a window of it",
            event.index
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::collections::BTreeMap;

    type Clock = BTreeMap<String, u32>;

    fn written(scene: &Scene, events: &[Event]) -> io::Result<String> {
        let mut shiviz = Shiviz::new(Vec::new(), scene.clone());
        events.iter().try_for_each(|event| shiviz.take(event))?;
        shiviz.finish()?;
        Ok(String::from_utf8(shiviz.into_inner()).expect("the log is text"))
    }

    /// Reads a log by ShiViz's rules, and checks them.
    fn parsed(log: &str) -> Vec<(String, String, Clock)> {
        let mut lines = log.lines();
        assert_eq!(lines.next(), Some(PARSER));
        assert_eq!(lines.next(), Some(""));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len() % 2, 0, "each event has two lines");
        let mut events = Vec::new();
        let mut latest: BTreeMap<String, Clock> = BTreeMap::new();
        for pair in lines.chunks(2) {
            let (host, clock) = pair[1].split_once(' ').expect("a host and a clock");
            let clock: Clock = serde_json::from_str(clock).expect("the clock is JSON");
            let before = latest.get(host).cloned().unwrap_or_default();
            let own = |clock: &Clock| clock.get(host).copied().unwrap_or(0);
            assert_eq!(own(&clock), own(&before) + 1, "{host} ticks by one: {clock:?}");
            for (other, known) in &before {
                assert!(clock[other] >= *known, "{host} forgets nothing: {clock:?}");
            }
            for (other, known) in clock.iter().filter(|(other, _)| *other != host) {
                let reached = latest.get(other).map_or(0, |clock| clock[other]);
                assert!(*known <= reached, "{host} knows {known} of {other}, who is at {reached}");
            }
            latest.insert(host.to_owned(), clock.clone());
            events.push((pair[0].to_owned(), host.to_owned(), clock));
        }
        events
    }

    #[test]
    fn the_log_obeys_the_rules_of_shiviz() {
        for (n, events) in [(3, sample::two_requests()), (4, sample::troubles())] {
            let log = written(&Scene::new("", n), &events).expect("the run is whole");
            assert!(parsed(&log).len() > 15);
        }
    }

    #[test]
    fn every_event_that_ticks_is_written_and_no_other() {
        let events = sample::troubles();
        let log = written(&Scene::new("", 4), &events).expect("the run is whole");
        let ticks: u32 = (0..4)
            .map(|lane| events.iter().filter_map(|e| e.vector.get(lane)).max().unwrap_or(&0))
            .sum();
        assert_eq!(parsed(&log).len(), ticks as usize);
        assert!(!log.contains("violates") && !log.contains("heal"));
    }

    #[test]
    fn an_event_is_two_lines() {
        let log = written(&Scene::new("", 3), &sample::two_requests()).expect("the run is whole");
        let end: Vec<&str> = log.lines().skip(2).skip(6).take(4).collect();
        assert_eq!(
            end,
            ["requests", r#"p0 {"p0":2}"#, "sends Request(1@p0) to p1", r#"p0 {"p0":3}"#,]
        );
    }

    #[test]
    fn labels_with_blanks_become_one_word() {
        let scene = Scene::new("", 3).with_labels(vec!["the \"first\"".to_owned()]);
        let log = written(&scene, &sample::two_requests()).expect("the run is whole");
        assert!(parsed(&log).iter().any(|(_, host, _)| host == "the__first_"));
    }

    #[test]
    fn a_window_of_a_run_is_refused_with_what_to_do() {
        let events = sample::two_requests();
        let error = written(&Scene::new("", 3), &events[8..]).expect_err("the start is missing");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("write the whole trace"), "{error}");
    }
}
