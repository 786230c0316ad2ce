//! `synod check`: every schedule.

use crate::synod::{has_keys, json, scratch, synod, with_words};
use synod_protocols::entries;

#[test]
fn an_exploration_is_told_with_its_size_and_verdicts() {
    let told = json("check ricart-agrawala -n 2");
    has_keys(&told, &["algorithm", "n", "states", "unique_states", "depth", "exhausted"]);
    assert_eq!(told["exhausted"], true);
    assert!(told["states"].as_u64() > told["unique_states"].as_u64());
    for verdict in told["verdicts"].as_array().expect("it is an array") {
        has_keys(verdict, &["property", "holds", "history"]);
        assert!(verdict["history"].is_null(), "{verdict}");
    }
    assert_eq!(synod("check ricart-agrawala -n 2").code, Some(0));
}

#[test]
fn a_mutant_is_explored_where_its_card_says_that_it_fails() {
    let ran = synod("check ra-no-tie-break");
    assert_eq!(ran.code, Some(1));
    for words in ["2 processes", "where its card says", "violated in 6 steps", "VIOLATION of ME1"] {
        assert!(ran.out.contains(words), "'{words}' is missing in {}", ran.out);
    }
    let told = json("check ra-no-tie-break");
    let history = told["verdicts"][0]["history"].as_array().expect("it is an array");
    assert_eq!(history.len(), 6);
    assert_eq!(history[0], "p0 requests");
    assert!(history[2].as_str().is_some_and(|step| step.starts_with("deliver p0 -> p1 Request")));
}

#[test]
fn every_mutant_breaks_what_its_card_says() {
    let list = json("list --mutants");
    for row in list.as_array().expect("it is an array") {
        let (name, breaks) = (row["name"].as_str().expect("a word"), &row["breaks"]);
        let property = breaks.as_str().expect("a word");
        let ran = synod(&format!("check {name} --property {property} -o json"));
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.error);
        assert_eq!(ran.json()["verdicts"][0]["holds"], false, "{name}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads: u32| {
        let line = format!("check maekawa --threads {threads}");
        (synod(&line).out, synod(&format!("{line} -o json")).out)
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(3));
}

#[test]
fn an_endless_history_says_where_it_returns_to() {
    let ran = synod("check token-unfair");
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("again and again") && ran.out.contains("for ever"), "{}", ran.out);
    let told = json("check token-unfair");
    assert_eq!(
        told["scope"]["order"], "Fifo",
        "the order that was explored, not the one asked for"
    );
    let verdicts = told["verdicts"].as_array().expect("it is an array");
    let starved = verdicts.iter().find(|v| v["property"] == "ME2").expect("it is judged");
    let steps = starved["history"].as_array().expect("it is an array").len() as u64;
    assert!(starved["returns_to"].as_u64().is_some_and(|step| step < steps), "{starved}");
}

#[test]
fn a_limit_that_was_reached_is_said() {
    let ran = synod("check ricart-agrawala -n 3 --depth 5");
    assert_eq!(ran.code, Some(3));
    assert!(!ran.out.contains('✓'), "nothing was decided: {}", ran.out);
    let words = "not decided: no violation up to depth 5, but the limit of depth was reached";
    assert!(
        ran.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(words),
        "{}",
        ran.out
    );
    let told = json("check ricart-agrawala -n 3 --depth 5");
    assert_eq!((&told["exhausted"], &told["limit"]), (&false.into(), &"depth".into()));
    assert!(told["waiting"].as_u64() > Some(0));
    let verdicts = told["verdicts"].as_array().expect("it is an array");
    assert!(verdicts.len() > 1 && verdicts.iter().all(|verdict| verdict["holds"].is_null()));
    assert_eq!(json("check ricart-agrawala -n 3 --states 1000")["limit"], "states");
    assert_eq!(synod("check ricart-agrawala -n 3 --memory 1").code, Some(3));
}

#[test]
fn a_violation_outweighs_what_is_not_decided() {
    let line = "check central-server -n 3 --tells 1 --depth 6";
    let told = json(line);
    let of = |id: &str| {
        let mut verdicts = told["verdicts"].as_array().expect("it is an array").iter();
        verdicts.find(|verdict| verdict["property"] == id).map(|verdict| verdict["holds"].clone())
    };
    assert_eq!((of("ME3"), of("ME1")), (Some(false.into()), Some(serde_json::Value::Null)));
    assert_eq!(synod(line).code, Some(1));
}

#[test]
fn what_is_not_promised_is_judged_unless_asked_otherwise() {
    assert_eq!(synod("check central-server").code, Some(1));
    assert!(synod("check central-server").out.contains("not promised"));
    assert_eq!(synod("check central-server --promised").code, Some(0));
}

#[test]
fn what_may_go_wrong_does() {
    let lossy = json("check ricart-agrawala -n 2 --drops 1 --property ME2");
    assert_eq!(lossy["verdicts"][0]["holds"], false);
    let history = lossy["verdicts"][0]["history"].as_array().expect("it is an array");
    assert!(history.iter().any(|step| step.as_str().is_some_and(|s| s.starts_with("drop "))));
}

#[test]
fn a_counterexample_becomes_a_scenario_that_plays_and_shows_the_same() {
    let file = scratch("check-scenario").join("me1.txt");
    let path = file.to_str().expect("it is UTF-8");
    let ran = with_words(["check", "ra-no-tie-break", "--scenario", path]);
    assert_eq!(ran.code, Some(1), "{}", ran.error);
    let played = with_words(["play", path, "-o", "json"]);
    assert_eq!(played.code, Some(0), "{}", played.error);
    assert_eq!(played.json()["files"][0]["violated"], serde_json::json!(["ME1"]));
}

#[test]
fn a_counterexample_of_a_card_is_found_again_by_its_number() {
    let told = json("check central-server --counterexample 1");
    assert_eq!(told["verdicts"].as_array().map(Vec::len), Some(1));
    assert_eq!(told["verdicts"][0]["holds"], false);
    let none = synod("check central-server --counterexample 99");
    assert_eq!(none.code, Some(2));
    assert!(none.error.contains("has no counterexample 99"), "{}", none.error);
    let both = synod("check central-server --counterexample 1 -n 3");
    assert_eq!(both.code, Some(2), "its scope is on the card");
}

/// Far fewer states than 20 seconds and one GiB allow.
#[test]
fn what_check_explores_without_flags_is_exhausted_for_every_algorithm() {
    let mut wrong = Vec::new();
    for entry in entries().iter().filter(|entry| entry.card.mutant.is_none()) {
        let name = entry.card.name;
        let told = json(&format!("check {name} --states 2000000 --memory 1024"));
        let promised = told["verdicts"].as_array().expect("there are verdicts").iter();
        let fails = promised.filter(|v| v["promised"] == true && v["holds"] != true).count();
        if told["exhausted"] != true || fails > 0 {
            wrong.push(format!("{name}: {} states, {fails} promises fail", told["unique_states"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
