//! `synod play`: scenarios.

use crate::synod::{has_keys, scratch, synod, with_words};
use std::path::{Path, PathBuf};

const SCENARIO: &str = "\
# One asks, and gets in.
algorithm: ricart-agrawala
processes: 2
---
p0 requests
deliver all
expect p0 enters
";

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path
}

#[test]
fn a_blessed_scenario_passes_and_a_changed_one_differs() {
    let directory = scratch("play-bless");
    let path = file(&directory, "one.txt", SCENARIO);
    let blessed = with_words(["play".as_ref(), path.as_os_str(), "--bless".as_ref()]);
    assert_eq!(blessed.code, Some(0), "{}", blessed.error);
    let text = std::fs::read_to_string(&path).expect("it is there");
    assert!(text.starts_with(SCENARIO) && text.contains("----\n"), "{text}");

    let played = with_words(["play".as_ref(), path.as_os_str(), "-ojson".as_ref()]);
    assert_eq!(played.code, Some(0));
    let told = played.json();
    has_keys(&told, &["passed", "differences"]);
    assert_eq!((&told["passed"], &told["differences"]), (&true.into(), &serde_json::json!([])));

    let changed = file(&directory, "two.txt", &text.replace("  p0 enters\nmessages", "messages"));
    let played = with_words(["play".as_ref(), changed.as_os_str(), "-ojson".as_ref()]);
    assert_eq!(played.code, Some(1));
    let told = played.json();
    assert_eq!(told["passed"], false);
    assert_eq!(told["differences"].as_array().map(Vec::len), Some(1), "{told}");

    let both = with_words(["play".as_ref(), path.as_os_str(), changed.as_os_str()]);
    assert_eq!(both.code, Some(1));
    assert!(both.out.contains("1 of 2 passed"), "{}", both.out);
}

#[test]
fn a_scenario_that_expects_nothing_decides_nothing() {
    let text = SCENARIO.replace("expect p0 enters\n", "");
    let path = file(&scratch("play-nothing"), "one.txt", &text);
    let played = with_words(["play".as_ref(), path.as_os_str()]);
    assert_eq!(played.code, Some(3), "{}", played.error);
    assert!(played.out.starts_with("? ") && played.out.contains("0 of 1 passed"), "{}", played.out);
    let played = with_words(["play".as_ref(), path.as_os_str(), "-ojson".as_ref()]);
    assert!(played.json()["passed"].is_null());
}

#[test]
fn an_expectation_that_is_not_true_is_never_blessed() {
    let text = SCENARIO.replace("expect p0 enters", "expect p1 enters");
    let path = file(&scratch("play-unmet"), "one.txt", &text);
    let played = with_words(["play".as_ref(), path.as_os_str(), "--bless".as_ref()]);
    assert_eq!(played.code, Some(1), "{}", played.error);
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
}

#[test]
fn a_scenario_is_drawn() {
    let directory = scratch("play-draw");
    let path = file(&directory, "one.txt", SCENARIO);
    let svg = directory.join("one.svg");
    let words = ["play".as_ref(), path.as_os_str(), "--svg".as_ref(), svg.as_os_str()];
    assert_eq!(with_words(words).code, Some(0));
    assert!(std::fs::read_to_string(svg).expect("it was written").contains("Request"));
    let words = ["play".as_ref(), path.as_os_str(), "--mermaid".as_ref()];
    assert!(with_words(words).out.contains("sequenceDiagram"));
}

#[test]
fn a_picture_never_overwrites_a_scenario() {
    let directory = scratch("play-spare");
    let (one, two) = (file(&directory, "1.txt", SCENARIO), file(&directory, "2.txt", SCENARIO));
    let words = ["play".as_ref(), "--mermaid".as_ref(), one.as_os_str(), two.as_os_str()];
    let ran = with_words(words);
    assert_eq!(ran.code, Some(2));
    assert!(ran.error.contains("would be overwritten"), "{}", ran.error);
    assert_eq!(std::fs::read_to_string(one).expect("it is there"), SCENARIO);
}

#[test]
fn mistakes_are_answered_with_file_line_and_hint() {
    let directory = scratch("play-mistakes");
    let wrong = [
        (
            SCENARIO.replace("ricart-agrawala", "ricart-agrawla"),
            "wrong.txt:2:12:",
            "ricart-agrawala",
        ),
        (SCENARIO.replace("deliver all", "delivr all"), "wrong.txt:6:1:", "deliver"),
        (SCENARIO.replace("processes: 2", "processes: 0"), "wrong.txt:3:12:", "between 1 and"),
    ];
    for (text, place, hint) in wrong {
        let path = file(&directory, "wrong.txt", &text);
        let ran = with_words(["play".as_ref(), path.as_os_str()]);
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(ran.error.contains(place) && ran.error.contains(hint), "{}", ran.error);
    }
    assert_eq!(synod("play does-not-exist.txt").code, Some(2));
}
