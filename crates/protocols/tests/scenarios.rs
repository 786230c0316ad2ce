//! Plays every scenario below `tests/scenarios` and compares what happens with its trace.
//!
//! `UPDATE=1 cargo test -p synod-protocols --test scenarios` writes the traces anew: read what
//! changed before you keep it.

use std::fs;
use std::path::{Path, PathBuf};
use synod_core::Algorithm;
use synod_protocols::catalogue::{self, Visit};
use synod_sim::scenario::{ParseError, Played, Scenario};

struct Play<'s>(&'s Scenario);

impl Visit for Play<'_> {
    type Answer = Result<Played, ParseError>;

    fn visit<A: Algorithm>(self) -> Self::Answer {
        self.0.play::<A>()
    }
}

/// Finds the algorithm and plays.
fn play(text: &str) -> Result<(Scenario, Played), ParseError> {
    let scenario = Scenario::parse(text)?;
    let played = catalogue::visit(scenario.algorithm(), Play(&scenario)).unwrap_or_else(|| {
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

/// What is wrong with a scenario, line by line; or, if it is to be written anew, writes it.
fn complaints(path: &Path, name: &str, update: bool) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the file can be read");
    let (scenario, played) = match play(&text) {
        Ok(played) => played,
        Err(error) => return vec![error.in_file(name)],
    };
    if update && played.blessed != text {
        fs::write(path, &played.blessed).expect("the file can be written");
    }
    let mut complaints: Vec<String> =
        played.unmet.iter().map(|unmet| unmet.in_file(name)).collect();
    if !update {
        complaints.extend(played.differences.iter().map(|found| format!("{name}: {found}")));
        if !scenario.has_trace() {
            complaints.push(format!("{name}: it has no trace; UPDATE=1 writes it"));
        }
    }
    complaints
}

#[test]
fn every_scenario_comes_out_as_its_trace_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    assert!(!paths.is_empty(), "there are no scenarios below {}", root.display());
    let complaints: Vec<String> = paths
        .iter()
        .flat_map(|path| {
            let name = path.strip_prefix(&root).expect("it was found there").display().to_string();
            complaints(path, &name, update)
        })
        .collect();
    let hint = "If the new traces are right, UPDATE=1 writes them into the files.";
    assert!(complaints.is_empty(), "\n{}\n\n{hint}", complaints.join("\n"));
}
