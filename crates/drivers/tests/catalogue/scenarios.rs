//! Plays every scenario below `protocols/tests/scenarios` and compares what happens with its trace.
//!
//! `UPDATE=1 cargo test -p synod-drivers --test catalogue` writes the traces anew: read what
//! changed before you keep it.

use std::fs;
use std::path::{Path, PathBuf};
use synod_protocols::{catalogue, which};
use synod_sim::scenario::{ParseError, Played, Scenario};

/// Finds the algorithm and plays.
fn play(text: &str) -> Result<(Scenario, Played), ParseError> {
    let scenario = Scenario::parse(text)?;
    let played = synod_drivers::play(which, &scenario).unwrap_or_else(|| {
        let entries = catalogue::entries();
        Err(scenario.unknown_algorithm(entries.iter().map(|entry| entry.card.name)))
    })?;
    Ok((scenario, played))
}

/// Every text file below the directory, in order of name.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).expect("the directory of the scenarios can be read");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("its entries too").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
}

/// What came of some scenarios.
#[derive(Default)]
struct Findings {
    /// What no new trace makes right: lines that cannot be played, expectations that are not true.
    wrong: Vec<String>,
    /// Traces that are not what happens.
    stale: Vec<String>,
}

impl Findings {
    /// Plays a text. Returns it with the trace as it came.
    fn judge(&mut self, name: &str, text: &str) -> String {
        let (scenario, played) = match play(text) {
            Ok(played) => played,
            Err(error) => {
                self.wrong.push(error.in_file(name));
                return text.to_owned();
            }
        };
        self.wrong.extend(played.unmet.iter().map(|unmet| unmet.in_file(name)));
        self.stale.extend(played.differences.iter().map(|found| format!("{name}: {found}")));
        if !scenario.has_trace() {
            self.stale.push(format!("{name}: it has no trace"));
        }
        played.blessed
    }

    /// Fails if anything is wrong, or, unless it was just written anew, stale.
    fn settle(mut self) {
        if !is_update() {
            self.wrong.append(&mut self.stale);
        }
        let hint = "If the new traces are right, UPDATE=1 writes them into the files.";
        assert!(self.wrong.is_empty(), "\n{}\n\n{hint}", self.wrong.join("\n"));
    }
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

fn write_if_update(path: &Path, text: &str, blessed: &str) {
    if is_update() && blessed != text {
        fs::write(path, blessed).expect("the file can be written");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/tests/scenarios")
}

/// Every scenario of the protocols, with its path.
pub(crate) fn all() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    assert!(!paths.is_empty(), "there are no scenarios below {}", root().display());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("the file can be read");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn every_scenario_comes_out_as_its_trace_says() {
    let mut findings = Findings::default();
    for (path, text) in all() {
        let name = path.strip_prefix(root()).expect("it was found there").display().to_string();
        let blessed = findings.judge(&name, &text);
        write_if_update(&path, &text, &blessed);
    }
    findings.settle();
}

#[test]
fn every_example_in_the_description_of_the_format_comes_out_as_it_says() {
    const BEGIN: &str = "```scenario\n";
    const END: &str = "```";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let text = fs::read_to_string(&path).expect("the file can be read");
    let (mut findings, mut blessed, mut examples) = (Findings::default(), String::new(), 0);
    let mut rest = text.as_str();
    while let Some((before, from)) = rest.split_once(BEGIN) {
        let (example, after) = from.split_once(END).expect("every example has an end");
        examples += 1;
        let name = format!("docs/scenarios.md, example {examples}");
        let new = findings.judge(&name, example);
        blessed.extend([before, BEGIN, &new, END]);
        rest = after;
    }
    blessed.push_str(rest);
    assert!(examples > 0, "there are no examples");
    write_if_update(&path, &text, &blessed);
    findings.settle();
}
