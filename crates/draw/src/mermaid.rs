//! A Mermaid sequence diagram, for Markdown pages that draw them.
//!
//! Such a diagram has no messages under way: each message is drawn at the row where it is received
//! or lost. Messages still under way at the end, or received after the window, are left out.

use crate::Scene;
use crate::lane::{Lanes, Operation};
use crate::words::{Known, event_in_words, has_in_words, left_out, message_text};
use std::fmt::Write as _;
use synod_core::ProcessId;
use synod_sim::trace::{Event, What};

/// Draws the events as a Mermaid sequence diagram.
pub fn draw(scene: &Scene, events: &[Event]) -> String {
    let shown = scene.cut(events);
    let mut diagram = Diagram {
        scene,
        text: String::new(),
        active: vec![false; scene.n()],
        has: vec![String::new(); scene.n()],
        known: Known::default(),
    };
    diagram.header();
    diagram.note_all(left_out(shown.before, "before"));
    let mut lanes = Lanes::after(scene, shown.earlier);
    diagram.activate(&lanes);
    for event in shown.events {
        diagram.event(event);
        lanes.pass(scene, event);
        diagram.activate(&lanes);
        diagram.sights(event);
    }
    diagram.note_all(left_out(shown.after, "after"));
    diagram.note_all(scene.ending().map(str::to_owned));
    diagram.text
}

struct Diagram<'a> {
    scene: &'a Scene,
    text: String,
    /// The processes that are drawn as active. Mermaid refuses to deactivate one that is not
    /// active.
    active: Vec<bool>,
    /// What each process has.
    has: Vec<String>,
    known: Known,
}

impl Diagram<'_> {
    fn header(&mut self) {
        if !self.scene.title().is_empty() {
            let _ = write!(self.text, "---\ntitle: {}\n---\n", quoted(self.scene.title()));
        }
        self.text.push_str("sequenceDiagram\n");
        for process in ProcessId::all(self.scene.n()) {
            let label = escaped(&self.scene.label(process));
            self.line(&format!("participant {process} as {label}"));
        }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn note_all(&mut self, note: Option<String>) {
        let last = ProcessId(self.scene.n().saturating_sub(1) as u32);
        if let Some(note) = note {
            self.line(&format!("Note over p0,{last}: {}", escaped(&note)));
        }
    }

    fn event(&mut self, event: &Event) {
        let words = event_in_words(self.scene, event);
        if event.what == What::Network {
            return self.note_all(Some(words));
        }
        let Some(at) = event.process.filter(|at| at.index() < self.scene.n()) else { return };
        let message = |arrow: &str| {
            let from = event.peer.unwrap_or(at);
            format!("{from}{arrow}{at}: {}", escaped(&message_text(event)))
        };
        match event.what {
            What::Receive => self.line(&message("->>")),
            What::Lose => self.line(&message("--x")),
            What::Start | What::Send | What::Duplicate => {}
            What::Violation if !self.known.is_new(event) => {}
            What::Violation => self.line(&format!("Note over {at}: ⚠ {}", escaped(&words))),
            _ => self.line(&format!("Note over {at}: {}", escaped(&words))),
        }
    }

    /// What processes have, where that changes.
    fn sights(&mut self, event: &Event) {
        for (at, sight) in &event.sights {
            let Some(before) = self.has.get_mut(at.index()) else { continue };
            if *before != sight.has {
                before.clone_from(&sight.has);
                self.line(&format!("Note right of {at}: {}", escaped(has_in_words(&sight.has))));
            }
        }
    }

    fn activate(&mut self, lanes: &Lanes) {
        for (process, lane) in ProcessId::all(self.scene.n()).zip(lanes.now()) {
            let holds = lane.operation == Operation::Holding;
            if self.active[process.index()] != holds {
                self.active[process.index()] = holds;
                let verb = if holds { "activate" } else { "deactivate" };
                self.line(&format!("{verb} {process}"));
            }
        }
    }
}

/// Mermaid reads `;` as the end of a line, `#` as the beginning of a character code, `<` as markup,
/// and the word `end` as the end of a block.
fn escaped(text: &str) -> String {
    let pieces = text.split_inclusive(|c: char| !c.is_alphanumeric());
    let harmless = pieces.map(|piece| match piece.strip_prefix("end") {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("#101;nd{}", coded(rest)),
        _ => coded(piece),
    });
    harmless.collect()
}

fn coded(text: &str) -> String {
    let mut coded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ';' | '#' | '<' | '>' | '"' | '%' | '{' | '}' => {
                let _ = write!(coded, "#{};", u32::from(c));
            }
            _ if c.is_control() => coded.push(' '),
            _ => coded.push(c),
        }
    }
    coded
}

/// As a string of YAML, for the title.
fn quoted(text: &str) -> String {
    format!("'{}'", crate::words::one_line(text).replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Script};

    #[test]
    fn a_run_is_drawn_line_by_line() {
        let mut script = Script::new(2);
        script.starts().asks(0, "requests").send(1, 0, 1, "Request", "Request(1@p0)").receive(1);
        script.send(2, 1, 0, "Reply", "Reply{3;4}").receive(2).begins(0, "enters");
        script.ends(0, "leaves").send(3, 0, 1, "Request", "").lose(3, "link").crash(1);
        let drawn = draw(&Scene::new("Two", 2), &script.events());
        assert_eq!(
            drawn,
            "\
---
title: 'Two'
---
sequenceDiagram
    participant p0 as p0
    participant p1 as p1
    Note over p0: requests
    p0->>p1: Request(1@p0)
    p1->>p0: Reply#123;3#59;4#125;
    Note over p0: enters
    activate p0
    Note over p0: leaves
    deactivate p0
    p0--xp1: : link
    Note over p1: crashes
"
        );
    }

    #[test]
    fn every_receipt_and_every_loss_is_one_arrow() {
        let events = sample::troubles();
        let drawn = draw(&Scene::new("", 4), &events);
        let count = |what| events.iter().filter(|event| event.what == what).count();
        assert_eq!(drawn.matches("->>").count(), count(What::Receive));
        assert_eq!(drawn.matches("--x").count(), count(What::Lose));
    }

    #[test]
    fn no_process_is_deactivated_that_was_not_activated() {
        let events = sample::troubles();
        for from in 0..events.len() as u64 {
            let scene = Scene::new("", 4).with_window(from..from + 12);
            let mut active = [false; 4];
            for line in draw(&scene, &events).lines() {
                for (process, active) in active.iter_mut().enumerate() {
                    if line.trim() == format!("activate p{process}") {
                        assert!(!std::mem::replace(active, true), "{line}");
                    } else if line.trim() == format!("deactivate p{process}") {
                        assert!(std::mem::replace(active, false), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_window_leaves_out_is_said() {
        let scene = Scene::new("", 3).with_window(5..9);
        let drawn = draw(&scene, &sample::two_requests());
        assert!(drawn.contains("5 events before are left out"), "{drawn}");
        assert!(drawn.contains("events after are left out"), "{drawn}");
    }

    #[test]
    fn words_that_mermaid_would_obey_are_escaped() {
        assert_eq!(escaped("the end; #1 <b>"), "the #101;nd#59; #35;1 #60;b#62;");
        assert_eq!(escaped("end"), "#101;nd");
    }
}
