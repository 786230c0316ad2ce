//! Recorded histories: the calls and answers of all clients, in the order in which they happened.
//!
//! As text, a history is one event a line, usually a JSON object, but that is the caller's choice.
//! The order of the lines is the order of the events; where two happened at the same time, the call
//! must come before the answer.

use super::Model;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// An event at a client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Line<M>", into = "Line<M>")]
pub struct Event<M: Model> {
    /// The client. It does one operation at a time.
    pub client: u64,
    /// The time of the event, in microseconds since some moment; for people, and to notice a wrong
    /// order.
    pub time_us: Option<u64>,
    /// The kind of event.
    pub what: What<M>,
}

/// The kinds of events at a client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What<M: Model> {
    /// It calls an operation.
    Invoke(M::Operation),
    /// It is answered.
    Answer(M::Answer),
    /// It gives up waiting for the answer. The operation may take effect at any time later, or
    /// never.
    Abandon,
}

/// An event as a line of JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Line<M: Model> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_us: Option<u64>,
    client: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invoke: Option<M::Operation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<M::Answer>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    abandon: bool,
}

impl<M: Model> From<Event<M>> for Line<M> {
    fn from(Event { client, time_us, what }: Event<M>) -> Self {
        let (invoke, answer, abandon) = match what {
            What::Invoke(operation) => (Some(operation), None, false),
            What::Answer(answer) => (None, Some(answer), false),
            What::Abandon => (None, None, true),
        };
        Line { time_us, client, invoke, answer, abandon }
    }
}

impl<M: Model> TryFrom<Line<M>> for Event<M> {
    type Error = &'static str;

    fn try_from(line: Line<M>) -> Result<Self, Self::Error> {
        let what = match (line.invoke, line.answer, line.abandon) {
            (Some(operation), None, false) => What::Invoke(operation),
            (None, Some(answer), false) => What::Answer(answer),
            (None, None, true) => What::Abandon,
            _ => return Err("a line has one of 'invoke', 'answer' and 'abandon'"),
        };
        Ok(Event { client: line.client, time_us: line.time_us, what })
    }
}

/// A history in which every client does one operation after the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct History<M: Model> {
    events: Vec<Event<M>>,
}

/// The text is not a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct HistoryError {
    /// The line, counted from one. Where there is no text, the event.
    pub line: usize,
    /// The mistake, and how to correct it.
    pub what: String,
}

impl<M: Model> History<M> {
    /// These events, if they make sense.
    pub fn new(events: Vec<Event<M>>) -> Result<Self, HistoryError> {
        let lines = 1..=events.len();
        History::of_lines(events, lines)
    }

    /// From one event a line: `History::parse(text, serde_json::from_str)`. Empty lines are
    /// skipped.
    pub fn parse<'t, E: fmt::Display>(
        text: &'t str,
        mut event_of: impl FnMut(&'t str) -> Result<Event<M>, E>,
    ) -> Result<Self, HistoryError> {
        let (mut events, mut lines) = (Vec::new(), Vec::new());
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let wrong = |error| HistoryError { line, what: format!("this is no event: {error}") };
            events.push(event_of(text).map_err(wrong)?);
            lines.push(line);
        }
        History::of_lines(events, lines)
    }

    fn of_lines(
        events: Vec<Event<M>>,
        lines: impl IntoIterator<Item = usize>,
    ) -> Result<Self, HistoryError> {
        let mut open = BTreeSet::new();
        let mut latest_us = 0;
        for (line, event) in lines.into_iter().zip(&events) {
            next(event, &mut open, &mut latest_us).map_err(|what| HistoryError { line, what })?;
        }
        Ok(History { events })
    }

    /// The events, in order.
    pub fn events(&self) -> &[Event<M>] {
        &self.events
    }

    /// One event a line: `history.print(serde_json::to_string)`.
    pub fn print<E>(
        &self,
        mut line_of: impl FnMut(&Event<M>) -> Result<String, E>,
    ) -> Result<String, E> {
        self.events.iter().map(|event| Ok(line_of(event)? + "\n")).collect()
    }

    /// The number of operations called.
    pub fn operations(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.what, What::Invoke(_))).count()
    }
}

/// Whether an event may come next.
fn next<M: Model>(
    event: &Event<M>,
    open: &mut BTreeSet<u64>,
    latest_us: &mut u64,
) -> Result<(), String> {
    let client = event.client;
    let time_us = event.time_us.unwrap_or(*latest_us);
    if time_us < *latest_us {
        let before = *latest_us;
        return Err(format!("time goes back from {before} to {time_us}; sort the lines by time"));
    }
    *latest_us = time_us;
    match (&event.what, open.contains(&client)) {
        (What::Invoke(operation), true) => Err(format!(
            "client {client} calls '{operation}' before its last operation is over; give each \
             thread a number of its own, and write 'abandon' where it stopped waiting"
        )),
        (What::Invoke(_), false) => {
            open.insert(client);
            Ok(())
        }
        (What::Answer(_) | What::Abandon, true) => {
            open.remove(&client);
            Ok(())
        }
        (What::Answer(answer), false) => Err(format!(
            "client {client} is answered '{answer}' and has called nothing; its call must stand \
             in a line before"
        )),
        (What::Abandon, false) => {
            Err(format!("client {client} abandons nothing; it waits for none"))
        }
    }
}
