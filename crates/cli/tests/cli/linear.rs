//! `synod linear`: recorded histories.

use crate::synod::{Ran, has_keys, scratch, with_words};

/// Each key is written once, then read; the last key is read wrongly if `lie` is set.
fn history(keys: u64, lie: bool) -> String {
    let mut text = String::new();
    for key in 0..keys {
        let seen = if lie && key + 1 == keys { "null" } else { "\"a\"" };
        text += &format!(
            "{{\"client\":1,\"invoke\":{{\"key\":{key},\"action\":{{\"put\":\"a\"}}}}}}\n"
        );
        text += "{\"client\":1,\"answer\":\"done\"}\n";
        text += &format!("{{\"client\":2,\"invoke\":{{\"key\":{key},\"action\":\"get\"}}}}\n");
        text += &format!("{{\"client\":2,\"answer\":{{\"value\":{seen}}}}}\n");
    }
    text
}

fn judged(name: &str, text: &str, flags: &[&str]) -> Ran {
    let path = scratch(&format!("linear-{name}")).join("history.jsonl");
    std::fs::write(&path, text).expect("a file can be written");
    let path = path.to_str().expect("the path is text");
    with_words([&["linear", path], flags].concat())
}

#[test]
fn a_wrong_answer_is_found_among_many_keys() {
    let fine = judged("fine", &history(50, false), &["-o", "json"]);
    assert_eq!(fine.code, Some(0), "{}", fine.error);
    assert_eq!(fine.json()["linearizable"], true);
    let wrong = judged("wrong", &history(50, true), &["-o", "json"]);
    assert_eq!(wrong.code, Some(1), "{}", wrong.error);
    let found = &wrong.json()["counterexample"];
    has_keys(found, &["start", "left_out", "because"]);
    assert_eq!((&found["key"], &found["client"]), (&49.into(), &2.into()));
    assert_eq!((&found["operation"], &found["answer"]), (&"get 49".into(), &"nothing".into()));
    assert_eq!(found["possible"], serde_json::json!(["a"]));
    assert_eq!(found["events"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_history_with_too_many_possibilities_is_not_decided() {
    let told = judged("limit-json", &history(1, false), &["--limit", "1", "-o", "json"]);
    assert_eq!(told.code, Some(3), "{}", told.error);
    assert!(told.json()["linearizable"].is_null());
    let told = judged("limit", &history(1, false), &["--limit", "1"]);
    assert_eq!(told.code, Some(3), "{}", told.error);
    assert!(told.out.starts_with("? ") && told.out.contains("larger --limit"), "{}", told.out);
}

#[test]
fn what_is_no_history_is_refused() {
    let answers = history(1, false).lines().skip(1).collect::<Vec<_>>().join("\n");
    for (name, text, flags, hint) in [
        ("unasked", answers.as_str(), &[][..], "line 1: client 1 is answered 'done'"),
        ("words", "put x 1", &[], "synod linear --help"),
        (
            "key",
            r#"{"client":1,"invoke":{"key":[1],"action":"get"}}"#,
            &[],
            "keys and values are whole numbers or texts",
        ),
        ("zero", history(1, false).as_str(), &["--limit", "0"], "at least 1"),
    ] {
        let ran = judged(name, text, flags);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.out);
        assert!(ran.error.contains(hint) && ran.out.is_empty(), "{name}: {}", ran.error);
    }
}
