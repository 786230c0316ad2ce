//! The documents are true: every command in them runs and answers as printed, the algorithms in the
//! README are those of the catalogue, and CONTRIBUTING.md quotes real code.

use crate::printed::is_of_a_cluster;
use crate::synod::{Ran, scratch, with_words_in};
use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use synod_core::Card;
use synod_protocols::entries;

/// A line that stands for output which the document leaves out.
const AND_SO_ON: &str = "…";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file, by its path from the root.
pub(crate) fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text of each fenced block of that language.
pub(crate) fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(fence) = lines.find(|line| line.starts_with("```")) {
        let block = lines.by_ref().take_while(|line| !line.starts_with("```"));
        let block: String = block.map(|line| format!("{line}\n")).collect();
        if fence == format!("```{language}") {
            blocks.push(block);
        }
    }
    blocks
}

/// A command line in a document, with its answer.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    command: String,
    exit_code: i32,
    /// The answer, in pieces between the lines that stand for omitted output.
    answer: Vec<String>,
}

impl Shown {
    /// From `synod check x   # exit code 1`.
    fn parse(line: &str) -> Shown {
        let (command, remark) = line.split_once('#').unwrap_or((line, ""));
        let exit_code = remark.trim().strip_prefix("exit code ").map_or(0, |code| {
            code.parse().unwrap_or_else(|_| panic!("'{code}' is no exit code, in: {line}"))
        });
        Shown { command: command.trim().to_owned(), exit_code, answer: vec![String::new()] }
    }

    /// A line with a `$` is a command; the lines after it are its answer.
    fn all_in(block: &str) -> Vec<Shown> {
        let mut shown: Vec<Shown> = Vec::new();
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                shown.push(Shown::parse(command));
                continue;
            }
            let last = shown.last_mut().expect("a block of the console begins with a command");
            match last.answer.last_mut() {
                Some(piece) if line != AND_SO_ON => *piece += &format!("{line}\n"),
                _ => last.answer.push(String::new()),
            }
        }
        shown
    }

    fn run_in(&self, directory: &Path) -> Ran {
        let words = self.command.strip_prefix("synod ").expect("only our own command is shown");
        with_words_in(directory, words.split_whitespace())
    }

    /// Panics with the real answer, unless the answer is as shown.
    fn must_be_so(&self, document: &str, ran: &Ran) {
        let Shown { command, exit_code, answer } = self;
        assert_eq!(ran.code, Some(*exit_code), "{document}: {command}\n{}", ran.error);
        let mut rest = ran.out.as_str();
        for piece in answer {
            let Some(at) = rest.find(piece.as_str()) else {
                panic!("{document}: {command}\ndoes not answer\n{piece}\nbut\n{}", ran.out);
            };
            rest = &rest[at + piece.len()..];
        }
    }
}

/// Runs all commands of a document in a fresh directory, and returns the directory.
fn every_command_of(document: &str) -> PathBuf {
    let directory = scratch(&document.replace('/', "-"));
    every_command_in(document, &directory);
    directory
}

/// Runs all commands of a document in this directory.
fn every_command_in(document: &str, directory: &Path) {
    let text = text_of(document);
    let mut shown: Vec<Shown> =
        blocks(&text, "console").iter().flat_map(|block| Shown::all_in(block)).collect();
    for block in blocks(&text, "sh") {
        let block = block.replace("cargo run --release -- ", "synod ");
        let ours = |line: &&str| line.starts_with("synod ") && !is_of_a_cluster(line);
        shown.extend(block.lines().filter(ours).map(Shown::parse));
    }
    assert!(shown.len() >= 3, "{document} shows {} commands", shown.len());
    for shown in shown {
        shown.must_be_so(document, &shown.run_in(directory));
    }
}

#[test]
fn every_command_in_the_readme_answers_as_printed() {
    every_command_of("README.md");
}

#[test]
fn every_command_on_a_real_network_answers_as_printed() {
    every_command_of("docs/real-network.md");
}

#[test]
fn every_command_about_failure_detectors_answers_as_printed() {
    every_command_of("docs/failure-detectors.md");
}

#[test]
fn every_command_about_multicast_does_what_the_page_says() {
    every_command_of("docs/multicast.md");
}

#[test]
fn every_command_about_the_ack_implosion_does_what_the_page_says() {
    every_command_of("docs/ack-implosion.md");
}

#[test]
fn every_command_about_the_experiment_answers_as_printed() {
    every_command_of("docs/experiment.md");
}

#[test]
fn every_command_about_groups_does_what_the_page_says() {
    every_command_of("docs/groups.md");
}

#[test]
fn every_history_of_the_page_about_linearizability_is_judged_as_printed() {
    let document = "docs/linearizability.md";
    let directory = scratch("linearizability");
    let histories = blocks(&text_of(document), "jsonl");
    assert_eq!(histories.len(), 2, "in {document}");
    for (name, history) in ["stale.jsonl", "crash.jsonl"].into_iter().zip(histories) {
        std::fs::write(directory.join(name), history).expect("a file can be written");
    }
    every_command_in(document, &directory);
}

#[test]
fn every_example_of_output_is_what_is_really_said() {
    let directory = every_command_of("docs/output.md");
    let trace = std::fs::read_to_string(directory.join("run.jsonl")).expect("it was written");
    assert_eq!(blocks(&text_of("docs/output.md"), "jsonl"), [trace]);
}

/// The row of a card in the table.
fn row(card: &Card) -> String {
    let cost = card.costs.first().map(|cost| format!("{}: {}", cost.name, cost.formula));
    let cost = cost.unwrap_or_else(|| "—".to_owned());
    format!("| {} | {} | {} |", card.name, card.promises.join(" "), cost)
}

/// `[name](path)` as `name`, in a row of a table.
fn without_links(row: &str) -> String {
    match (row.find('['), row.find("]("), row.find(") |")) {
        (Some(open), Some(middle), Some(close)) if open < middle && middle < close => {
            format!("{}{}{}", &row[..open], &row[open + 1..middle], &row[close + 1..])
        }
        _ => row.to_owned(),
    }
}

#[test]
fn the_table_in_the_readme_is_the_catalogue() {
    let sound = entries().into_iter().filter(|entry| entry.card.mutant.is_none());
    let wanted: Vec<String> = sound.map(|entry| row(&entry.card)).collect();
    let readme = text_of("README.md");
    let told: Vec<String> =
        readme.lines().filter(|line| line.starts_with("| [")).map(without_links).collect();
    assert_eq!(told, wanted, "in README.md write\n{}", wanted.join("\n"));
}

#[test]
fn the_readme_quotes_ricart_and_agrawala_word_for_word() {
    let source = text_of("crates/protocols/basics/src/mutex/ricart_agrawala.rs");
    must_quote("README.md", &source);
}

#[test]
fn the_worked_examples_are_what_synod_new_writes_and_what_tests_run() {
    for (heading, source) in [
        ("## A new algorithm in six steps", "crates/cli/templates/mutex/algorithm.rs"),
        ("## A new service in a group", "crates/cli/templates/group/algorithm.rs"),
        ("## A new replicated log", "crates/cli/templates/replication/algorithm.rs"),
        ("## A replicated log in your own program", "crates/protocols/examples/embedded_log.rs"),
    ] {
        let below = section(&text_of("CONTRIBUTING.md"), heading);
        must_quote_in(heading, &below, &text_of(source));
    }
    let scenario = text_of("crates/cli/templates/mutex/scenario.txt");
    let quoted = blocks(&text_of("CONTRIBUTING.md"), "scenario");
    assert!(!quoted.is_empty() && quoted.iter().all(|block| scenario.contains(block.as_str())));
}

/// Each block of Rust stands in the source, with any indentation there, and in this order.
fn must_quote(document: &str, source: &str) {
    must_quote_in(document, &text_of(document), source);
}

/// What stands below a heading, up to the next one of the same level.
fn section(document: &str, heading: &str) -> String {
    let (_, below) = document.split_once(heading).expect("there is such a section");
    below.split_once("\n## ").map_or(below, |(section, _)| section).to_owned()
}

fn must_quote_in(document: &str, text: &str, source: &str) {
    let quoted = blocks(text, "rust");
    assert!(!quoted.is_empty(), "{document} quotes nothing");
    let source: Vec<&str> = source.lines().map(str::trim).collect();
    let mut from = 0;
    for block in quoted {
        let lines: Vec<&str> = block.lines().map(str::trim).collect();
        let found = source[from..].windows(lines.len()).position(|window| window == lines);
        let at = found.unwrap_or_else(|| panic!("{document}: not in the source:\n{block}"));
        from += at + lines.len();
    }
}

#[test]
fn the_figures_of_the_peers_are_those_of_the_benchmark() {
    let readme = text_of("README.md");
    let benchmark = text_of("crates/check/benches/speed.rs");
    let (_, table) = readme.split_once("| Others").expect("the README compares");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), benchmark.matches("/s\"),\n").count(), "all peers are told");
    for row in rows {
        let figure = row.trim_matches([' ', '|']).rsplit_once("| ").expect("two columns").1;
        assert!(benchmark.contains(&format!("\"{figure}\"")), "{figure} is not in the benchmark");
    }
}

#[test]
fn the_pictures_are_what_the_command_draws() {
    let directory = scratch("pictures");
    let drawn = [
        ("ricart-agrawala.svg", "run ricart-agrawala -n 3 --requests 4 --seed 7", 0),
        ("ra-no-tie-break.svg", "check ra-no-tie-break", 1),
        ("maekawa-deadlock.svg", "check maekawa", 1),
        ("slots-two-owners.svg", "check slots --counterexample 4", 1),
    ];
    for (file, line, code) in drawn {
        let ran = with_words_in(&directory, line.split(' ').chain(["--svg", file]));
        assert_eq!(ran.code, Some(code), "{}", ran.error);
        let drawn = std::fs::read_to_string(directory.join(file)).expect("it was drawn");
        let kept = text_of(&format!("docs/img/{file}"));
        assert!(kept == drawn, "draw it again: synod {line} --svg docs/img/{file}");
    }
}

#[test]
fn the_pages_of_the_algorithms_are_what_the_command_writes() {
    let directory = scratch("book");
    let scenarios = root().join("crates/protocols/tests/scenarios");
    let scenarios = scenarios.to_str().expect("paths here are text");
    let ran = with_words_in(&directory, ["book", "pages", "--scenarios", scenarios]);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let files = |directory: &Path, under: &str| -> BTreeSet<String> {
        let files = std::fs::read_dir(directory.join(under)).expect("there are files");
        let name = |file: std::io::Result<DirEntry>| file.expect("it is listed").file_name();
        let name = |file| format!("{under}{}", name(file).into_string().expect("names are text"));
        files.map(name).filter(|file| file != "img").collect()
    };
    let pages = |directory: &Path| -> BTreeSet<String> {
        files(directory, "").into_iter().chain(files(directory, "img/")).collect()
    };
    let written = pages(&directory.join("pages"));
    let again = "rm -r docs/algorithms; \
                 synod book docs/algorithms --scenarios crates/protocols/tests/scenarios";
    assert_eq!(written, pages(&root().join("docs/algorithms")), "write them again: {again}");
    for page in written {
        let drawn = std::fs::read_to_string(directory.join("pages").join(&page));
        let kept = text_of(&format!("docs/algorithms/{page}"));
        assert!(kept == drawn.expect("it was written"), "{page} has changed: {again}");
    }
}

#[test]
fn the_run_on_a_page_is_the_run_of_its_command() {
    let directory = scratch("run-on-a-page");
    for name in ["two-phase-commit", "ricart-agrawala"] {
        let page = text_of(&format!("docs/algorithms/{name}.md"));
        let section = page.split("\n## A run\n").nth(1).expect("there is a run");
        let command = section.split('`').nth(1).expect("there is a command");
        let ran = with_words_in(&directory, command.split(' ').skip(1));
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        assert!(section.contains(&format!("](img/{name}.svg)")), "the page shows it");
        let drawn = std::fs::read_to_string(directory.join(format!("{name}.svg")));
        let kept = text_of(&format!("docs/algorithms/img/{name}.svg"));
        assert!(kept == drawn.expect("it was drawn"), "{command} draws something else");
    }
}

#[test]
fn a_document_is_taken_apart_into_commands_and_answers() {
    let text =
        "Try:\n```console\n$ synod a # exit code 1\none\n…\ntwo\n$ synod b\n```\n```sh\nx\n```\n";
    let wanted = |command: &str, exit_code, answer: &[&str]| Shown {
        command: command.to_owned(),
        exit_code,
        answer: answer.iter().map(|piece| (*piece).to_owned()).collect(),
    };
    let block = &blocks(text, "console")[0];
    assert_eq!(
        Shown::all_in(block),
        [wanted("synod a", 1, &["one\n", "two\n"]), wanted("synod b", 0, &[""])]
    );
    assert_eq!(blocks(text, "sh"), ["x\n"]);
    assert_eq!(without_links("| [a](b/c.rs) | ME1 |"), "| a | ME1 |");
}
