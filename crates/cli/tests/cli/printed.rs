//! Every command that a card, a page of the book or a help text prints can be run, and asks what it
//! is printed for.
//!
//! Explorations end here after a few states, and runs after a few steps: `crates/check/tests`
//! explores the worlds of all cards to the end.

use crate::documents::{blocks, text_of};
use crate::synod::{Ran, json, scratch, synod, with_words_in};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use synod_protocols::entries;

/// The words of a command line, as a shell reads them. What follows a pipe or a redirection is not
/// for this command.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '|' | '<' | '>' if !is_quoted => break,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is one from the start").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the command reads or writes more than a test may, or takes too long.
fn is_only_parsed(words: &[String]) -> bool {
    let command = words.iter().map(String::as_str).find(|word| !word.starts_with('-'));
    let is_heavy =
        |command| ["bench", "book", "compare", "new", "slots", "tour"].contains(&command);
    command.is_some_and(is_heavy) || words.iter().any(|word| word.starts_with('~'))
}

/// Runs the command for a short time. One that is only parsed gets as far as its help.
fn briefly(directory: &Path, line: &str, more: &[&str]) -> Ran {
    let mut words = words(line);
    assert_eq!(words.first().map(String::as_str), Some("synod"), "{line}");
    words.remove(0);
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let limit: &[&str] = match words[0].as_str() {
        _ if is_only_parsed(&words) => &["--help"],
        "check" => &["--states", "200"],
        "run" if !has("--on") && !has("--max-steps") => &["--max-steps", "200"],
        "sweep" => &["--seeds", "1"],
        _ => &[],
    };
    let more = limit.iter().chain(more).map(|word| (*word).to_owned());
    with_words_in(directory, words.into_iter().chain(more))
}

fn must_run(directory: &Path, line: &str) {
    let ran = briefly(directory, line, &[]);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line}: {:?}\n{}", ran.code, ran.error);
}

/// The scope in an order that does not depend on who lists the parameters.
fn sorted(scope: &Value) -> Value {
    let mut scope = scope.clone();
    let set = scope["set"].as_array_mut().expect("it is an array");
    set.sort_by_key(ToString::to_string);
    // Where requests never end, an explorer keeps links in order.
    if scope["rounds"] == "Forever" {
        scope["order"] = "Fifo".into();
    }
    scope
}

/// The command explores the scope that stands beside it on the card, and judges these properties.
fn must_ask(directory: &Path, printed: &Value, properties: &[&str]) {
    let line = printed["command"].as_str().expect("it is a command line");
    let ran = briefly(directory, line, &["-o", "json"]);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line}: {}", ran.error);
    let told = ran.json();
    assert_eq!(sorted(&told["scope"]), sorted(&printed["scope"]), "{line}");
    let verdicts = told["verdicts"].as_array().expect("it is an array");
    let judged: Vec<&str> = verdicts.iter().filter_map(|v| v["property"].as_str()).collect();
    assert_eq!(judged, properties, "{line}");
}

#[test]
fn every_command_on_a_card_asks_for_the_scope_beside_it() {
    let directory = scratch("printed-cards");
    let mut asked = 0;
    for entry in entries() {
        let card = json(&format!("show {}", entry.card.name));
        let shown = synod(&format!("show {}", entry.card.name)).out;
        for list in ["counterexamples", "worlds"] {
            for printed in card[list].as_array().expect("it is an array") {
                let command = printed["command"].as_str().expect("it is a command line");
                assert!(shown.contains(command), "{command} is not shown to people");
                let scope: Vec<(&str, &str)> = pairs(&printed["scope"]["set"]);
                let n = printed["scope"]["n"].as_u64().expect("a number") as usize;
                let setup = scope.iter().fold(synod_core::Setup::new(n), |setup, (name, value)| {
                    setup.with(name, value)
                });
                match printed["property"].as_str() {
                    Some(property) => must_ask(&directory, printed, &[property]),
                    None => must_ask(&directory, printed, entry.card.promises_with(&setup)),
                }
                asked += 1;
            }
        }
        let (_, tries) = shown.rsplit_once("Try: ").expect("a card ends with commands to try");
        for line in tries.trim().split(", or ") {
            must_run(&directory, line);
        }
    }
    assert!(asked > 250, "{asked}");
}

fn pairs(set: &Value) -> Vec<(&str, &str)> {
    let pairs = set.as_array().expect("it is an array").iter();
    pairs.filter_map(|pair| Some((pair[0].as_str()?, pair[1].as_str()?))).collect()
}

#[test]
fn every_command_on_a_page_of_the_book_and_about_larger_worlds_runs() {
    let directory = scratch("printed-pages");
    let mut lines = BTreeSet::new();
    for entry in entries().into_iter().filter(|entry| entry.card.mutant.is_none()) {
        let page = text_of(&format!("docs/algorithms/{}.md", entry.card.name));
        let quoted = page.split('`').filter(|quoted| quoted.starts_with("synod "));
        lines.extend(quoted.map(str::to_owned));
    }
    let explored = blocks(&text_of("docs/explored.md"), "sh");
    lines.extend(explored.iter().flat_map(|block| block.lines()).map(str::to_owned));
    assert!(lines.len() > 100, "{}", lines.len());
    for line in lines {
        must_run(&directory, &line);
    }
}

/// Commands that talk to a cluster of real nodes: the tests in `tests/cluster` run them.
const CLUSTER: &[&str] =
    &["up", "status", "pool", "group", "member", "session", "chaos", "node", "cert"];

/// Whether a command talks to a cluster of real nodes.
pub(crate) fn is_of_a_cluster(line: &str) -> bool {
    line.split_whitespace().nth(1).is_some_and(|name| CLUSTER.contains(&name))
}

/// The commands among the examples of a help text. Two spaces end a command; its story follows.
fn examples(help: &str) -> impl Iterator<Item = &str> {
    let examples = help.split_once("Examples:").map_or("", |(_, examples)| examples).lines();
    let commands = examples.map(str::trim).filter(|line| line.starts_with("synod "));
    commands.map(|line| line.split_once("  ").map_or(line, |(command, _)| command))
}

#[test]
fn every_example_of_a_help_text_runs() {
    let directory = scratch("printed-help");
    std::fs::create_dir(directory.join("scenarios")).expect("it is new");
    let scenario = text_of("crates/cli/templates/mutex/scenario.txt");
    let scenario = scenario.replace("my-algorithm", "central-server");
    for file in ["me1.txt", "scenarios/*.txt"] {
        std::fs::write(directory.join(file), &scenario).expect("a file can be written");
    }
    let asked = "{\"client\":1,\"invoke\":{\"key\":1,\"action\":\"get\"}}\n";
    std::fs::write(directory.join("history.jsonl"), asked).expect("a file can be written");
    let all = synod("--help").out;
    let commands = all.split_once("Commands:").expect("it lists them").1.lines().skip(1);
    let commands = commands.take_while(|line| line.starts_with("  "));
    let names = commands.filter(|line| !line.starts_with("   ")).filter_map(|line| {
        line.split_whitespace().next().filter(|name| *name != "help" && !CLUSTER.contains(name))
    });
    let helps = names.chain(["slots prove", "slots experiment", ""]);
    let helps: Vec<String> = helps.map(|name| synod(&format!("{name} --help")).out).collect();
    let mut lines: BTreeSet<&str> = helps.iter().flat_map(|help| examples(help)).collect();
    lines.retain(|line| !is_of_a_cluster(line));
    assert!(lines.len() > 50, "{}: {lines:?}", lines.len());
    for line in lines {
        must_run(&directory, line);
    }
}

#[test]
fn a_line_is_taken_apart_as_a_shell_does() {
    assert_eq!(
        words("synod check x --param 'a=b c' | jq"),
        ["synod", "check", "x", "--param", "a=b c"]
    );
    assert_eq!(
        examples("Examples:\n  synod a -n 2   two\n  else\n").collect::<Vec<_>>(),
        ["synod a -n 2"]
    );
}
