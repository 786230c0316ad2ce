//! Histories as lines of JSON, and texts that are refused.

use crate::brute::{Dice, Size, random_history};
use crate::{Kv, history};
use synod_core::linear::{Finding, History, KeyValue, Word};

const HISTORY: &str = r#"{"time_us":0,"client":1,"invoke":{"key":"x","action":{"put":1}}}
{"time_us":5,"client":2,"invoke":{"key":"x","action":"get"}}
{"time_us":7,"client":2,"answer":{"value":null}}
{"time_us":9,"client":1,"abandon":true}
{"client":2,"invoke":{"key":"x","action":{"compare-and-swap":{"expect":1,"new":"y"}}}}
{"client":2,"answer":{"swapped":true}}
{"client":2,"invoke":{"key":"x","action":"delete"}}
{"client":2,"answer":{"deleted":true}}
"#;

type Words = KeyValue<Word, Word>;

fn parse(text: &str) -> Result<History<Words>, String> {
    History::parse(text, serde_json::from_str).map_err(|error| error.to_string())
}

#[test]
fn a_history_is_printed_as_it_was_read() {
    let read = parse(HISTORY).expect("it is a history");
    assert_eq!(read.operations(), 4);
    assert_eq!(read.print(serde_json::to_string).expect("it can be written"), HISTORY);
    assert_eq!(read.check(1_000, &mut |_| {}), Finding::Linearizable);
    let random = random_history(
        Size { operations: 50, clients: 5, keys: 3, values: 3, lies: 9, abandons: 9 },
        &mut Dice(1),
    );
    let random = history(random);
    let text = random.print(serde_json::to_string).expect("it can be written");
    assert_eq!(History::<Kv>::parse(&text, serde_json::from_str), Ok(random));
}

/// The error for a text that is no history.
fn complaint(lines: &[&str]) -> String {
    parse(&lines.join("\n")).expect_err("it is no history")
}

const CALL: &str = r#"{"client":1,"invoke":{"key":"x","action":"get"}}"#;
const ANSWER: &str = r#"{"client":1,"answer":{"value":3}}"#;

#[test]
fn a_client_has_one_operation_at_a_time() {
    let twice = complaint(&[CALL, "", CALL]);
    let wanted = "line 3: client 1 calls 'get x' before its last operation is over";
    assert!(twice.starts_with(wanted), "{twice}");
    assert!(parse(&[CALL, r#"{"client":1,"abandon":true}"#, CALL].join("\n")).is_ok());
}

#[test]
fn only_who_has_called_is_answered() {
    let unasked = complaint(&[CALL, ANSWER, ANSWER]);
    let wanted = "line 3: client 1 is answered '3' and has called nothing";
    assert!(unasked.starts_with(wanted), "{unasked}");
    let idle = complaint(&[r#"{"client":1,"abandon":true}"#]);
    assert!(idle.starts_with("line 1: client 1 abandons nothing"), "{idle}");
}

#[test]
fn time_does_not_go_back() {
    let back = complaint(&[
        r#"{"time_us":9,"client":1,"invoke":{"key":1,"action":"get"}}"#,
        r#"{"time_us":8,"client":1,"answer":{"value":1}}"#,
    ]);
    assert_eq!(back, "line 2: time goes back from 9 to 8; sort the lines by time");
}

#[test]
fn a_line_that_is_no_event_is_refused_with_its_number() {
    for line in [
        "get x",
        r#"{"client":1}"#,
        r#"{"client":1,"invoke":{"key":"x","action":"get"},"abandon":true}"#,
        r#"{"client":1,"invoke":{"key":"x","action":"increase"}}"#,
        r#"{"client":1,"invoke":{"key":"x","action":"get"},"remark":"hello"}"#,
        r#"{"client":-1,"abandon":true}"#,
    ] {
        let complaint = complaint(&[CALL, line]);
        assert!(complaint.starts_with("line 2: this is no event: "), "{complaint}");
    }
}
