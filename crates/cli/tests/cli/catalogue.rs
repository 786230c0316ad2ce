//! `synod list`, `synod show`, `synod completions`, and help.

use crate::synod::{command, has_keys, json, synod};
use serde_json::json as value;
use std::io::Read;
use std::process::Stdio;
use synod_protocols::entries;

#[test]
fn every_algorithm_is_listed_with_its_family_and_what_it_breaks() {
    let list = json("list");
    let rows = list.as_array().expect("it is an array");
    assert!(rows.len() >= 20, "{}", rows.len());
    for row in rows {
        has_keys(row, &["name", "family", "mutant", "breaks"]);
        assert!(entries().iter().any(|entry| row["family"] == entry.family), "{row}");
        assert_eq!(row["mutant"].as_bool(), Some(row["breaks"].is_string()), "{row}");
    }
    let named = |name: &str| rows.iter().find(|row| row["name"] == name).expect("it is listed");
    assert_eq!(named("ra-no-tie-break")["breaks"], "ME1");
    assert_eq!(named("ricart-agrawala")["mutant"], false);
}

#[test]
fn mutants_and_the_others_make_up_the_whole_list() {
    let count = |line: &str| json(line).as_array().map(Vec::len);
    let both = count("list --mutants").zip(count("list --no-mutants")).map(|(a, b)| a + b);
    assert_eq!(both, count("list"));
    let mutex = json("list --family mutex");
    let rows = mutex.as_array().expect("it is an array");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["family"] == "mutual exclusion"));
}

#[test]
fn a_card_tells_rules_promises_costs_and_how_to_see_what_fails() {
    let card = json("show central-server");
    has_keys(&card, &["title", "source", "idea", "rules", "assumes", "promises", "parameters"]);
    assert_eq!(card["promises"][0]["property"], "ME1");
    assert_eq!(card["costs"][0]["values"][1]["n"], 5);
    assert_eq!(card["costs"][0]["values"][1]["min"], 3.0);
    let known = &card["counterexamples"][0];
    let command = known["command"].as_str().expect("it is a command line");
    let refuted = json(command.strip_prefix("synod ").expect("it begins with the command"));
    let history = refuted["verdicts"][0]["history"].as_array().expect("there is a history");
    assert_eq!(history.len() as u64, known["steps"].as_u64().expect("it is a number"));
}

#[test]
fn a_card_has_words_and_triggers_for_every_rule() {
    let card = json("show bully");
    let rules = card["rules"].as_array().expect("it is an array");
    assert!(rules.iter().all(serde_json::Value::is_string), "{rules:?}");
    let triggers = card["rule_triggers"].as_array().expect("it is an array");
    assert_eq!(triggers.len(), rules.len());
    let asked = value!([{"on": "start"}, {"on": "input", "name": "Start"}]);
    assert_eq!(triggers[0], asked);
    assert_eq!(triggers[1], value!([{"on": "message", "name": "Election"}]));
    assert_eq!(triggers[3], value!([{"on": "timer", "name": "Answer"}]));
    let about_the_value = json("show fast-paxos");
    assert_eq!(about_the_value["rule_triggers"][3], value!([]));
}

#[test]
fn every_card_can_be_shown_to_people_and_to_programs() {
    for row in json("list").as_array().expect("it is an array") {
        let name = row["name"].as_str().expect("it is a word");
        let shown = synod(&format!("show {name}"));
        assert_eq!(shown.code, Some(0), "{name}: {}", shown.error);
        assert!(shown.out.contains("Idea"), "{name}");
        assert_eq!(json(&format!("show {name}"))["name"], name);
    }
}

#[test]
fn the_words_of_a_card_name_its_mutants() {
    let shown = synod("show ra").out;
    for words in ["Ricart", "1.  enter", "2(N - 1)", "ME3 order", "ra-no-tie-break"] {
        assert!(shown.contains(words), "'{words}' is missing in {shown}");
    }
}

#[test]
fn every_command_teaches_by_example() {
    for name in ["list", "show", "run", "check", "sweep", "play", "new", "completions"] {
        let help = synod(&format!("{name} --help"));
        assert_eq!(help.code, Some(0));
        assert!(help.out.contains("Examples:"), "{name}");
        assert!(help.out.contains(&format!("synod {name}")), "{name}");
    }
}

#[test]
fn completions_are_written_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let script = synod(&format!("completions {shell}"));
        assert_eq!(script.code, Some(0));
        assert!(script.out.contains("synod") && script.out.contains("sweep"), "{shell}");
    }
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    for line in [vec!["list"], vec!["list", "-o", "json"], vec!["completions", "bash"]] {
        let mut child = command()
            .args(&line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command can be run");
        drop(child.stdout.take());
        let mut complaints = String::new();
        let mut stderr = child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut complaints).expect("it complains in UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{line:?}");
        assert_eq!(complaints, "", "{line:?}");
    }
}

#[test]
fn every_family_has_one_section_of_algorithms_and_one_of_mutants_at_most() {
    let listed = synod("list").out;
    let mut titles: Vec<&str> =
        listed.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    let before = titles.len();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), before, "{titles:?}");
}

#[test]
fn a_property_is_named_once() {
    let out = synod("show reliable-multicast").out;
    for twice in ["agreement agreement", "once once", "validity validity"] {
        assert!(!out.contains(twice), "{out}");
    }
    let ran = synod("run paxos -n 3 --max-steps 50").out;
    assert!(ran.contains(" agreement ") && !ran.contains("agreement agreement"), "{ran}");
}

#[test]
fn completions_know_the_names_of_all_algorithms() {
    for shell in ["bash", "zsh"] {
        let script = synod(&format!("completions {shell}")).out;
        for entry in entries() {
            assert!(script.contains(entry.card.name), "{shell}: {}", entry.card.name);
        }
    }
}

#[test]
fn a_code_is_explained_where_it_is_printed() {
    let safety = "ME1 safety: at most one process is in the critical section";
    let liveness = "ME2 liveness: everybody who asks gets in in the end";
    let order = "ME3 order: if one request happened before another, it is granted first";
    for (line, sentences) in [
        ("check central-server -n 2", &[safety, liveness, order][..]),
        ("check ra-no-tie-break", &[safety]),
        ("run ra-no-tie-break --seeds 3", &[safety, liveness]),
        ("show central-server", &[safety, liveness, order]),
        ("show ra-no-tie-break", &[safety]),
        ("show maekawa", &[safety, liveness]),
    ] {
        let flat = synod(line).out.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in sentences {
            let times = flat.matches(sentence).count();
            assert_eq!(times, 1, "'{sentence}' must be there once: {line}\n{flat}");
        }
    }
}
