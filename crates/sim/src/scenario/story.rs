//! The trace of a scenario: events as readable lines.
//!
//! The event that begins a step stands at the margin; its consequences are indented. A send is
//! written `p0 -> p1: Request`, its arrival `p1 <- p0: Request`.

use super::header::Header;
use crate::network::in_words;
use crate::trace::{Event, What};
use std::fmt::Write;

/// Writes the lines of the trace, event by event.
pub(super) struct Story {
    lamport: bool,
    vector: bool,
    lines: Vec<String>,
    time_us: u64,
    /// The line of a start, held back until an event follows from it: a start without one is not
    /// shown.
    start: Option<String>,
    violations: Vec<(&'static str, String)>,
}

impl Story {
    pub(super) fn new(header: &Header) -> Self {
        Story {
            lamport: header.show_lamport,
            vector: header.show_vector,
            lines: Vec::new(),
            time_us: 0,
            start: None,
            violations: Vec::new(),
        }
    }

    /// Adds one event; `begins` if it is the first of its step.
    pub(super) fn add(&mut self, event: &Event, begins: bool) {
        if event.what == What::Violation {
            // A broken invariant stays broken, so its line stands once.
            let violation = (event.kind, event.text.clone());
            if self.violations.contains(&violation) {
                return;
            }
            self.violations.push(violation);
        }
        if event.time_us != self.time_us {
            self.time_us = event.time_us;
            self.lines.push(format!("at {}", in_words(event.time_us)));
        }
        let at_margin = begins || event.what == What::Violation;
        let mut line = String::from(if at_margin { "" } else { "  " });
        line.push_str(&event_in_words(event));
        self.add_times(event, &mut line);
        if event.what == What::Start {
            self.start = Some(line);
            return;
        }
        if let (Some(start), false) = (self.start.take(), at_margin) {
            self.lines.push(start);
        }
        self.lines.push(line);
    }

    fn add_times(&self, event: &Event, line: &mut String) {
        if event.process.is_none() {
            return;
        }
        if self.lamport {
            let _ = write!(line, "  lamport {}", event.lamport);
        }
        if self.vector {
            let numbers: Vec<String> = event.vector.iter().map(u32::to_string).collect();
            let _ = write!(line, "  vector [{}]", numbers.join(","));
        }
    }

    /// A line of the summary at the end.
    pub(super) fn sum_up(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The lines, without spaces at their ends: a file would not keep them.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// An event in the words of a scenario's trace.
pub fn event_in_words(event: &Event) -> String {
    let at = event.process.map(|at| at.to_string()).unwrap_or_default();
    let peer = event.peer.map(|peer| peer.to_string()).unwrap_or_default();
    let text = &event.text;
    match event.what {
        What::Start => format!("{at} starts"),
        What::Input | What::Output => format!("{at} {text}"),
        What::Send => format!("{at} -> {peer}: {text}"),
        What::Receive => format!("{at} <- {peer}: {text}"),
        What::Lose => match text.rsplit_once(": ") {
            Some((message, "lost")) => format!("lost {peer} -> {at}: {message}"),
            Some((message, why)) => format!("lost {peer} -> {at}: {message} ({why})"),
            None => format!("lost {peer} -> {at}: {text}"),
        },
        What::Duplicate => format!("duplicated {peer} -> {at}: {text}"),
        What::Timer => format!("{at} timer {text}"),
        What::Sync => format!("{at} has written {text}"),
        What::Crash => format!("{at} crashes"),
        What::Restart => format!("{at} restarts {text}"),
        What::Pause => format!("{at} pauses"),
        What::Resume => format!("{at} resumes"),
        What::Accuse => format!("{at} accuses {peer}: {text}"),
        What::Network => text.clone(),
        What::Violation => format!("violated {}: {text}", event.kind),
    }
}
