//! Expectations and verdicts: while the script runs, and at its end.

use super::Scenario;
use super::command::{Expectation, list};
use super::diff::differences;
use super::error::ParseError;
use super::parse::{Word, error_at};
use super::play::{Played, Player, in_flight, message_name, shorten};
use super::story::Story;
use crate::trace::What;
use crate::world::{Driver, Happening, Judged, Process};
use synod_core::family::{AnyFamily, Pace};
use synod_core::{Application, Boxed, Family, Monitor, ProcessId, Verdict};

/// The reason for a violated liveness property in a world without a further step.
pub(super) const STUCK: &str = "nothing can happen any more";

impl Player {
    /// Checks an `expect` line, and records it if it is not true.
    pub(super) fn expect(
        &mut self,
        expectation: &Expectation,
        text: &str,
        words: &[Word],
    ) -> Result<(), ParseError> {
        let actual = match expectation {
            Expectation::Said(at, wanted) => self.said_otherwise(*at, wanted),
            Expectation::Waits(at) if self.world().waiting().contains(*at) => None,
            Expectation::Waits(at) => Some(format!("{at} does not wait")),
            Expectation::NobodyWaits => {
                let waiting = self.waiting();
                (!waiting.is_empty()).then(|| format!("waiting: {waiting}"))
            }
            Expectation::NothingInFlight if self.world().flight().is_empty() => None,
            Expectation::NothingInFlight => Some(self.on_their_way()),
            Expectation::Messages(count) if self.run.engine.witness.meter.messages == *count => {
                None
            }
            Expectation::Messages(_) => {
                Some(format!("{} messages were sent", self.run.engine.witness.meter.messages))
            }
            Expectation::Violated(ids) => self.judged_otherwise(text, ids, Verdict::Violated)?,
            Expectation::Holds(ids) => self.judged_otherwise(text, ids, Verdict::Holds)?,
        };
        if let Some(actual) = actual {
            let message = format!("this is expected, but {actual}");
            self.unmet.push(error_at(text, &words[0], message));
        }
        Ok(())
    }

    fn said_otherwise(&self, at: ProcessId, wanted: &str) -> Option<String> {
        let mut said = self.events.iter().rev().filter(|event| {
            event.process == Some(at) && matches!(event.what, What::Input | What::Output)
        });
        match said.next() {
            Some(event) if event.text == wanted => None,
            Some(event) => Some(format!("the last that {at} said or heard is: {}", event.text)),
            None => Some(format!("{at} has neither asked nor been told anything")),
        }
    }

    fn judged_otherwise(
        &self,
        text: &str,
        ids: &[Word],
        wanted: Verdict,
    ) -> Result<Option<String>, ParseError> {
        let known = Judged::All.ids::<Boxed>(self.world().setup());
        for word in ids {
            let Some(id) = known.iter().find(|id| **id == word.text) else {
                let known = list(known.iter().copied());
                let message = format!("there is no property {}; there are: {known}", word.text);
                return Err(error_at(text, word, message));
            };
            let actual = self.verdict_on(id);
            if actual != wanted {
                return Ok(Some(match actual {
                    Verdict::Holds => format!("{id} holds"),
                    Verdict::Violated => format!("{id} is violated"),
                    Verdict::Undecided => format!("{id} is open: waiting: {}", self.waiting()),
                }));
            }
        }
        Ok(None)
    }

    /// The verdict on a property so far. It is not decided while a process waits that may yet be
    /// answered.
    pub(super) fn verdict_on(&self, id: &str) -> Verdict {
        if self.violated().contains(&id) {
            return Verdict::Violated;
        }
        let waits = self.world().family().liveness.contains(&id)
            && !self.world().monitor().waiting(id).is_empty();
        match (waits, self.is_stuck()) {
            (false, _) => Verdict::Holds,
            (true, false) => Verdict::Undecided,
            (true, true) => Verdict::Violated,
        }
    }

    /// Whether no step is enabled, apart from new requests.
    fn is_stuck(&self) -> bool {
        let may_end = |process: &Process<Boxed>| {
            let mut may_end = false;
            let look = &mut |input| may_end |= AnyFamily::pace(&input) == Pace::Hold;
            process.application.offers(look);
            may_end
        };
        self.world().flight().is_empty()
            && self.world().processes().iter().all(|process| {
                !may_end(process) && process.timers().is_empty() && !process.is_writing()
            })
    }

    fn waiting(&self) -> String {
        let waiting: Vec<String> = self.world().waiting().iter().map(|at| at.to_string()).collect();
        waiting.join(" ")
    }

    /// The script is over: judges liveness, and compares the trace.
    pub(super) fn finish(mut self, scenario: &Scenario) -> Result<Played, ParseError> {
        self.judge_liveness();
        let mut story = Story::new(&scenario.header);
        self.collect();
        let violated = self.violated();
        let events = std::mem::take(&mut self.events);
        let mut begins = self.begins.iter().peekable();
        for (number, event) in (0..).zip(&events) {
            while begins.next_if(|begin| **begin < number).is_some() {}
            let first = begins.peek().is_some_and(|begin| **begin == number);
            story.add(event, first || event.what == What::Start);
        }
        self.summary().into_iter().for_each(|line| story.sum_up(line));
        let trace = story.into_lines();
        let differences = match scenario.rule {
            Some(rule) => differences(rule + 1, &scenario.expected(), &trace),
            None => Vec::new(),
        };
        Ok(Played {
            passed: differences.is_empty() && self.unmet.is_empty(),
            differences,
            unmet: self.unmet,
            events,
            violated,
            blessed: scenario.with_trace(&trace),
            trace,
        })
    }

    fn judge_liveness(&mut self) {
        if self.is_stuck() {
            for violation in self.world().unfulfilled(STUCK) {
                let now_us = self.world().now_us;
                self.run.engine.see(now_us, Happening::Violated(&violation));
            }
        }
    }

    /// The properties that were violated, in the order of their first violation.
    fn violated(&self) -> Vec<&'static str> {
        let violations = &self.run.engine.witness.violations;
        violations.iter().map(|(violation, _)| violation.property).collect()
    }

    fn summary(&self) -> Vec<String> {
        let kinds: Vec<String> = self
            .run
            .engine
            .witness
            .meter
            .by_kind()
            .into_iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let mut lines = vec![match kinds.is_empty() {
            true => "messages: none".to_owned(),
            false => format!(
                "messages: {} ({})",
                self.run.engine.witness.meter.messages,
                kinds.join(", ")
            ),
        }];
        let on_their_way: Vec<String> =
            in_flight(self.world()).iter().map(|(_, envelope)| message_name(envelope)).collect();
        if !on_their_way.is_empty() {
            lines.push(format!("in flight: {}", shorten(&on_their_way)));
        }
        if !self.world().waiting().is_empty() {
            lines.push(format!("waiting: {}", self.waiting()));
        }
        let ids = Judged::All.ids::<Boxed>(self.world().setup());
        for (verdict, name) in [
            (Verdict::Holds, "holds"),
            (Verdict::Undecided, "open"),
            (Verdict::Violated, "violated"),
        ] {
            let such: Vec<&str> =
                ids.iter().copied().filter(|id| self.verdict_on(id) == verdict).collect();
            if !such.is_empty() {
                lines.push(format!("{name}: {}", such.join(" ")));
            }
        }
        lines
    }
}
