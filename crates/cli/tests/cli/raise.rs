//! `synod check --raise`: a growing fault budget.

use crate::synod::{Ran, has_keys, json, scratch, synod, with_words};
use serde_json::{Value, json as value};

/// A store whose acceptors forget on a restart which ballots they promised and accepted.
const FORGETFUL: &str = "check multi-paxos -n 3 --rounds 2 --order fifo --property same-log \
    --param acceptors=forgetful --param ballots=1 --param beats=0 --param ask=no --param spread=1 \
    --param batch=no --param tries=0 --param standing=p0 --param askers=p0 --param operations=put";

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// The answer in one line, independent of the width.
fn flat(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_budget_is_raised_alone_and_then_all_of_them_together() {
    let told = json("check reliable -n 2 --raise=1");
    has_keys(&told, &["algorithm", "scopes", "refuted"]);
    assert_eq!(told["refuted"], value!([]));
    let scope = &told["scopes"][0];
    has_keys(scope, &["scope", "steps", "reached"]);
    let raised: Vec<&Value> = array(&scope["steps"]).iter().map(|step| &step["raised"]).collect();
    let crash = value!({"budget": "crashes", "from": 0, "to": 1});
    let copy = value!({"budget": "duplicates", "from": 0, "to": 1});
    assert_eq!(raised, [&value!([]), &value!([crash]), &value!([copy]), &value!([crash, copy])]);
    let states: Vec<_> = array(&scope["steps"]).iter().map(|s| s["states"].as_u64()).collect();
    assert!(states.is_sorted() && states[0] < states[3], "{states:?}");
    for step in array(&scope["steps"]) {
        has_keys(step, &["unique_states", "depth", "limit", "waiting"]);
        assert_eq!((&step["exhausted"], &step["refuted"]), (&value!(true), &value!([])));
        let command = step["command"].as_str().expect("a line");
        let again = json(command.strip_prefix("synod ").expect("our own command"));
        assert_eq!(again["states"], step["states"], "{command}");
    }
}

#[test]
fn what_the_card_does_not_tolerate_is_not_raised_and_that_is_said() {
    let ran = synod("check reliable -n 2 --raise=2");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    for words in [
        "1 crashes 0→1",
        "1 2 processes, 1 round each",
        "all together by 2",
        "✓ holds",
        "crashes 1 its card lets no more than 1 of 2 crash for good",
        "drops 0 its card does not tolerate lost messages",
        "duplicates 2 no more than 2 was asked for",
    ] {
        assert!(flat(&ran).contains(words), "'{words}' is missing in {}", ran.out);
    }
}

#[test]
fn the_worlds_on_the_card_are_raised_if_no_flag_gives_another() {
    let card = json("show eventually-perfect");
    let told = json("check eventually-perfect --raise=1 --states 2000");
    let scopes: Vec<&Value> = array(&told["scopes"]).iter().map(|s| &s["scope"]).collect();
    assert_eq!(scopes, array(&card["proved"]).iter().collect::<Vec<_>>());
}

#[test]
fn a_budget_that_leads_nowhere_new_is_raised_no_further() {
    let told = json("check group -n 3 --param engine=abstract --raise=2 --states 3000");
    let reached = array(&told["scopes"][0]["reached"]);
    let restarts = reached.iter().find(|r| r["budget"] == "restarts").expect("it is raised");
    let raised_in_vain = |step: &Value| step["limit"] == "states" && step["holds"].is_null();
    assert!(array(&told["scopes"][0]["steps"]).iter().any(raised_in_vain), "{told}");
    assert_eq!((&restarts["by"], &restarts["why"]), (&value!(1), &value!("nothing-new")));
}

#[test]
fn limits_end_it_and_the_world_at_the_beginning_may_stay_undecided() {
    let line = "check ricart-agrawala -n 3 --duplicates 1 --property ME1 --raise --states 500";
    assert_eq!(synod(line).code, Some(3));
    let told = json(line);
    let scope = &told["scopes"][0];
    assert_eq!(scope["steps"][0]["limit"], "states");
    assert!(scope["steps"][0]["holds"].is_null());
    for reached in array(&scope["reached"]) {
        assert_eq!((&reached["by"], &reached["why"]), (&value!(0), &value!("limit")));
    }
    assert_eq!(json("check ricart-agrawala -n 4 --time 1ms")["limit"], "time");
}

#[test]
fn what_breaks_is_shown_as_a_single_exploration_shows_it() {
    let file = scratch("raise-scenario").join("forgetful.txt");
    let path = file.to_str().expect("it is UTF-8");
    let words = FORGETFUL.split_whitespace().chain(["--raise=1", "--scenario", path]);
    let ran = with_words(words);
    assert_eq!(ran.code, Some(1), "{}", ran.error);
    for words in ["crashes 0→1, restarts 0→1", "✗ violates same-log", "How same-log fails"] {
        assert!(ran.out.contains(words), "'{words}' is missing in {}", ran.out);
    }
    let told = json(&format!("{FORGETFUL} --raise=1"));
    let alone = json(&format!("{FORGETFUL} --crashes 1 --restarts 1"));
    assert_eq!(told["refuted"][0]["verdicts"], alone["verdicts"]);
    let played = with_words(["play", path, "-o", "json"]);
    let violated = &played.json()["files"][0]["violated"];
    assert!(array(violated).contains(&value!("same-log")), "{violated}, {}", played.error);
}

#[test]
fn raising_and_a_counterexample_of_the_card_do_not_go_together() {
    let ran = synod("check central-server --counterexample 1 --raise");
    assert_eq!(ran.code, Some(2));
    assert!(ran.error.contains("cannot be used with"), "{}", ran.error);
    assert!(synod("check central-server --raise --time soon").error.contains("90s, 10m or 2h"));
}
