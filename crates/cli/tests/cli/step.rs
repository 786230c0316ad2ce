//! `synod step`, driven by what is written to its standard input.

use crate::documents::{blocks, text_of};
use crate::synod::{Ran, command, scratch, synod};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Runs the command in that directory, and says these lines to it.
fn step_in(directory: &Path, arguments: &str, lines: &[&str]) -> Ran {
    let mut child = command()
        .current_dir(directory)
        .arg("step")
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be run");
    let mut said = child.stdin.take().expect("it listens");
    for line in lines {
        // It may have refused to begin: then nobody listens.
        let _ = writeln!(said, "{line}");
    }
    drop(said);
    let output = child.wait_with_output().expect("it ends when nothing more is said");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("it speaks UTF-8"),
        error: String::from_utf8(output.stderr).expect("it complains in UTF-8"),
    }
}

fn step(arguments: &str, lines: &[&str]) -> Ran {
    step_in(Path::new("."), arguments, lines)
}

/// What was answered to the last of these lines.
fn last_answer(arguments: &str, lines: &[&str]) -> String {
    let ran = step(arguments, lines);
    let last = format!("> {}\n", lines.last().expect("something is said"));
    let answer = ran.out.rsplit_once(&last).map(|(_, answer)| answer.to_owned());
    answer.unwrap_or_else(|| panic!("{}\n{}", ran.out, ran.error))
}

#[test]
fn what_may_happen_is_listed_and_picked_by_number() {
    let listed = last_answer("ricart-agrawala -n 2", &["list"]);
    assert_eq!(listed, "1  p0 requests\n2  p1 requests\n");
    let picked = last_answer("ricart-agrawala -n 2", &["2"]);
    assert!(picked.starts_with("  p1 requests\n  p1 -> p0: Request(1@p1)\n"), "{picked}");
    let listed = last_answer("ricart-agrawala -n 2", &["2", ""]);
    assert_eq!(listed, "1  p0 requests\n2  deliver p1 -> p0 Request\n");
    assert!(last_answer("ricart-agrawala -n 2", &["7"]).starts_with("no: there is no 7"));
}

#[test]
fn back_takes_back_and_a_branch_can_be_returned_to() {
    let script = |lines: &[&str]| {
        let all: Vec<&str> = lines.iter().copied().chain(["script"]).collect();
        let text = last_answer("ricart-agrawala -n 2 --seed 9", &all);
        text.split_once("---\n").map(|(_, script)| script.to_owned()).expect("it has a header")
    };
    assert_eq!(script(&["p0 requests", "crash p1", "back"]), "p0 requests\n");
    assert_eq!(script(&["p0 requests", "next 3", "back 2"]), "p0 requests\nrun 1\n");
    assert_eq!(
        script(&["p0 requests", "branch", "crash p1", "crash p0", "return"]),
        "p0 requests\n"
    );
    assert_eq!(script(&["back"]), "");
}

#[test]
fn what_was_done_is_saved_and_played_again() {
    let directory = scratch("step-save");
    let lines =
        ["p0 requests", "next 5", "cut p0 -> p1", "next 4", "faults", "crash p2", "save a.txt"];
    let ran = step_in(&directory, "maekawa --seed 4", &lines);
    assert!(ran.out.contains("wrote a.txt"), "{}\n{}", ran.out, ran.error);
    let path = directory.join("a.txt");
    let text = std::fs::read_to_string(&path).expect("it was saved");
    assert!(
        text.ends_with("seed: 4\n---\np0 requests\nrun 5\ncut p0 -> p1\nrun 4\ncrash p2\n"),
        "{text}"
    );
    let played = synod(&format!("play {}", path.display()));
    assert_eq!(played.code, Some(3), "it expects nothing: {}", played.error);

    let told = |ran: &Ran| -> Vec<String> {
        let line = |line: &&str| line.starts_with("  p");
        ran.out.lines().filter(line).map(|line| line.trim().to_owned()).collect()
    };
    let again = step_in(&directory, "--from a.txt", &[]);
    assert_eq!(told(&again), told(&ran), "{}", again.out);
}

#[test]
fn a_process_shows_its_state_and_what_the_last_step_changed() {
    let state = last_answer("ricart-agrawala -n 2", &["p0 requests", "show p0"]);
    assert!(state.starts_with("p0\n") && state.contains("clock: "), "{state}");
    let changed = last_answer("ricart-agrawala -n 2", &["p0 requests", "show"]);
    assert!(changed.contains("\np0\n") && changed.contains("was "), "{changed}");
    assert!(!changed.contains("p1\n"), "{changed}");
    let looked = last_answer("ricart-agrawala -n 2", &["p0 requests", "deliver all", "look 2"]);
    assert_eq!(looked, changed, "event 2 is the request of p0");
    assert!(last_answer("ricart-agrawala -n 2", &["show p7"]).contains("p0..p1"));
}

#[test]
fn a_step_tells_the_rules_by_which_it_came_about_each_once() {
    let rules = |lines: &[&str]| -> Vec<String> {
        let told = last_answer("ricart-agrawala -n 3", lines);
        let rule = |line: &str| line.trim().strip_prefix("rule ").map(str::to_owned);
        let beginning = |rule: String| rule.chars().take(14).collect();
        told.lines().filter_map(rule).map(beginning).collect()
    };
    assert_eq!(rules(&["p0 requests"]), ["1: enter: adva"]);
    assert_eq!(rules(&["p0 requests", "deliver all"]), ["2: on a reques", "3: on a reply:"]);
    assert_eq!(rules(&["p0 requests", "show"]), ["1: enter: adva"]);
    assert_eq!(rules(&["p0 requests", "deliver all", "look 4"]), ["1: enter: adva"]);
    assert_eq!(rules(&["p0 requests", "crash p1"]), [""; 0], "a fault is no matter of rules");
}

#[test]
fn messages_timers_and_verdicts_are_told() {
    let messages = last_answer("ricart-agrawala -n 2", &["p0 requests", "messages"]);
    assert_eq!(messages, "  p0 -> p1: Request(1@p0)\n");
    assert_eq!(last_answer("ricart-agrawala -n 2", &["timers"]), "no timer is set\n");
    assert!(last_answer("perfect", &["timers"]).contains("p0 Beat"), "it gives signs of life");
    let lines = ["p0 requests", "p1 requests", "deliver all", "verdicts"];
    let verdicts = last_answer("ra-no-tie-break -n 2", &lines);
    assert!(verdicts.contains("ME1") && verdicts.contains("violated: "), "{verdicts}");
    assert!(verdicts.contains("(event "), "{verdicts}");
    assert_eq!(step("ra-no-tie-break -n 2", &lines).code, Some(1));
    assert_eq!(step("ricart-agrawala -n 2", &["verdicts"]).code, Some(0));
    assert_eq!(step("ricart-agrawala -n 2", &lines).code, Some(3), "p1 still waits for p0");
}

#[test]
fn mistakes_are_explained_and_nothing_is_done() {
    let wrong = [
        ("frobnicate", "is no command"),
        ("p0 leaves", "is not possible now"),
        ("back", "this is the beginning"),
        ("return", "no place was kept"),
        ("next many", "how many steps"),
        ("look x", "which event"),
        ("look 99", "there is no event 99"),
        ("save", "save FILE"),
        ("save /does/not/exist/a.txt", "cannot write"),
    ];
    for (line, hint) in wrong {
        let answer = last_answer("ricart-agrawala -n 2", &[line]);
        assert!(answer.starts_with("no: ") && answer.contains(hint), "{line}: {answer}");
    }
    for (arguments, hint) in [
        ("no-such-algorithm", "there is no algorithm"),
        ("ricart-agrawala --param colour=red", "colour"),
        ("--from does-not-exist.txt", "cannot read"),
        ("ricart-agrawala -o json", "synod play"),
        ("", "NAME"),
    ] {
        let ran = step(arguments, &[]);
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.out);
        assert!(ran.error.contains(hint), "{arguments}: {}", ran.error);
    }
}

#[test]
fn help_names_every_word() {
    let help = last_answer("ricart-agrawala", &["help"]);
    for word in ["list", "faults", "next", "back", "branch", "show", "look", "verdicts", "save"] {
        assert!(help.contains(word), "{word}");
    }
}

/// In `docs/stepping.md` a block begins with the command; lines after `> ` are said, the rest
/// answered.
#[test]
fn the_page_about_stepping_shows_what_really_happens() {
    let directory = scratch("step-page");
    let blocks = blocks(&text_of("docs/stepping.md"), "step");
    assert!(!blocks.is_empty());
    for block in blocks {
        let (command, talk) = block.split_once('\n').expect("a command, then the talk");
        let arguments = command.strip_prefix("$ synod step ").expect("it begins with the command");
        let said: Vec<&str> = talk.lines().filter_map(|line| line.strip_prefix("> ")).collect();
        let ran = step_in(&directory, arguments, &said);
        assert_eq!(ran.out, talk, "{}", ran.error);
    }
}
