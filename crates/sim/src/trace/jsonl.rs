//! The trace as JSON Lines, one event a line, written as it happens.

use super::{Event, Sink};
use std::io::{self, Write};
use synod_core::family::Mark;

/// Writes each event as one line. Give it a buffered writer.
pub struct Jsonl<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Jsonl<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Jsonl { out, line: Vec::with_capacity(256) }
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Sink for Jsonl<W> {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        write_event(event, &mut self.line);
        self.out.write_all(&self.line)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Appends the event as one line of JSON. Fields without a value are left out.
///
/// Written by hand because every traced event passes through here: a general serializer costs
/// about three times as much.
pub fn write_event(event: &Event, line: &mut Vec<u8>) {
    line.extend_from_slice(b"{\"index\":");
    number(line, event.index);
    line.extend_from_slice(b",\"time_us\":");
    number(line, event.time_us);
    if let Some(process) = event.process {
        line.extend_from_slice(b",\"process\":");
        number(line, process.0.into());
    }
    line.extend_from_slice(b",\"event\":\"");
    line.extend_from_slice(event.what.name().as_bytes());
    line.push(b'"');
    if let Some(peer) = event.peer {
        line.extend_from_slice(b",\"peer\":");
        number(line, peer.0.into());
    }
    if let Some(message) = event.message {
        line.extend_from_slice(b",\"message\":");
        number(line, message);
    }
    if !event.kind.is_empty() {
        line.extend_from_slice(b",\"kind\":");
        text(line, event.kind);
    }
    if !event.text.is_empty() {
        line.extend_from_slice(b",\"text\":");
        text(line, &event.text);
    }
    if let Some(mark) = mark(event.mark) {
        line.extend_from_slice(b",\"mark\":\"");
        line.extend_from_slice(mark.as_bytes());
        line.push(b'"');
    }
    line.extend_from_slice(b",\"lamport\":");
    number(line, event.lamport);
    line.extend_from_slice(b",\"vector\":[");
    for (index, &known) in event.vector.iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        number(line, known.into());
    }
    line.extend_from_slice(b"]}\n");
}

fn mark(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Ask => Some("ask"),
        Mark::Begin => Some("begin"),
        Mark::End | Mark::Refused => Some("end"),
        Mark::Done => Some("done"),
        Mark::Whole => Some("whole"),
        Mark::Reached => Some("reached"),
        Mark::None => None,
    }
}

fn number(line: &mut Vec<u8>, value: u64) {
    line.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn text(line: &mut Vec<u8>, value: &str) {
    let plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    // Nearly all texts need no escapes.
    if value.as_bytes().iter().all(plain) {
        line.push(b'"');
        line.extend_from_slice(value.as_bytes());
        line.push(b'"');
    } else {
        serde_json::to_writer(line, value).expect("text is always JSON, and a Vec never fails");
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;
    use synod_core::ProcessId;

    #[test]
    fn every_line_is_json_with_the_fields_of_the_event() {
        let event = Event {
            index: 7,
            time_us: 1_500,
            process: Some(ProcessId(1)),
            lamport: 4,
            vector: vec![2, 3],
            what: What::Receive,
            message: Some(5),
            peer: Some(ProcessId(0)),
            kind: "Request",
            input: "",
            text: "Request(\"1@p0\")".to_owned(),
            mark: Mark::None,
            label: "Request 1".to_owned(),
            sights: Vec::new(),
        };
        let mut line = Vec::new();
        write_event(&event, &mut line);
        let read: serde_json::Value = serde_json::from_slice(&line).expect("the line is JSON");
        assert_eq!(read["index"], 7);
        assert_eq!(read["event"], "receive");
        assert_eq!(read["text"], "Request(\"1@p0\")");
        assert_eq!(read["vector"], serde_json::json!([2, 3]));
        assert_eq!(read.get("mark"), None);
        assert!(line.ends_with(b"}\n"));
    }
}
