//! Traces and pictures.

use crate::synod::{scratch, with_words};
use std::path::Path;

/// Runs the command with these words and a flag for each kind of file. Returns the files.
fn exported(directory: &Path, words: &str) -> [String; 4] {
    let kinds = [("--trace", "x.jsonl"), ("--svg", "x.svg"), ("--shiviz", "x.log")];
    let kinds = kinds.into_iter().chain([("--mermaid", "x.mmd")]);
    let paths: Vec<_> = kinds.map(|(flag, name)| (flag, directory.join(name))).collect();
    let mut all: Vec<&str> = words.split_whitespace().collect();
    for (flag, path) in &paths {
        all.extend([*flag, path.to_str().expect("it is UTF-8")]);
    }
    let ran = with_words(all);
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.error);
    let read = |index: usize| std::fs::read_to_string(&paths[index].1).expect("it was written");
    [0, 1, 2, 3].map(read)
}

fn look_right([trace, svg, shiviz, mermaid]: &[String; 4]) {
    for line in trace.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("every line is JSON");
        assert!(event["index"].is_u64() && event["event"].is_string(), "{line}");
    }
    assert!(trace.lines().count() > 10);
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(shiviz.contains("(?<clock>") && shiviz.contains("\"p0\":"));
    assert!(mermaid.contains("sequenceDiagram") && mermaid.contains("->>"));
}

#[test]
fn a_run_is_written_and_drawn() {
    let directory = scratch("exports-run");
    let files = exported(&directory, "run ricart-agrawala -n 3 --requests 6");
    look_right(&files);
    assert_eq!(files, exported(&directory, "run ricart-agrawala -n 3 --requests 6"));
}

#[test]
fn a_counterexample_is_written_and_drawn() {
    let files = exported(&scratch("exports-check"), "check ra-no-tie-break");
    look_right(&files);
    assert!(files[0].contains("\"violation\"") && files[1].contains("ME1"));
}

#[test]
fn a_picture_of_a_long_run_shows_a_window() {
    let directory = scratch("exports-window");
    let words = "run ricart-agrawala -n 3 --requests 200";
    let [_, first, ..] = exported(&directory, words);
    assert!(first.contains("after are left out"));
    let [trace, later, ..] = exported(&directory, &format!("{words} --window 1000..1100"));
    assert!(later.contains("1000 events before"));
    assert!(trace.lines().count() > 1100, "the trace is always whole");
    assert!(later.len() < first.len());
}

#[test]
fn nothing_is_written_where_there_is_no_counterexample() {
    let path = scratch("exports-none").join("x.svg");
    let name = path.to_str().expect("it is UTF-8");
    let ran = with_words(["check", "ricart-agrawala", "-n", "2", "--svg", name]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.error.contains("no counterexample") && !path.exists());
}
