//! `synod play`: play scenarios, and compare the traces with the expected ones.

use crate::catalogue::{entries, which};
use crate::export::{self, Export};
use crate::output::{self, DIM, Output};
use crate::words;
use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use synod_core::Verdict;
use synod_draw::Scene;
use synod_sim::scenario::{Difference, ParseError, Played, Scenario};

const EXAMPLES: &str = "\
Examples:
  synod play scenarios/*.txt                     play them all
  synod play me1.txt --svg me1.svg               and draw one
  synod play me1.txt --bless                     write the trace into the file

A scenario names an algorithm and a number of processes, then lists the steps of a run, and, after a
line with four dashes, the trace that they must produce:

  algorithm: ricart-agrawala
  processes: 2
  ---
  p0 requests
  deliver all
  expect p0 enters

'synod check NAME --scenario FILE' writes one for a counterexample.";

/// The number of differences of one file that are shown to people.
const TOLD_IN_WORDS: usize = 10;

/// Play scenarios, and compare the traces with the expected ones
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Play {
    /// The scenarios
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the traces into the files, as the expected ones from now on
    #[arg(long)]
    bless: bool,
    #[command(flatten)]
    export: Export,
}

#[derive(Serialize)]
struct Told {
    passed: Verdict,
    differences: Vec<DifferenceJson>,
    files: Vec<FileJson>,
}

#[derive(Serialize)]
struct FileJson {
    file: String,
    algorithm: String,
    n: usize,
    /// Not decided if the file expects nothing.
    passed: Verdict,
    blessed: bool,
    /// Without a trace, only the lines that begin with `expect` are compared.
    has_trace: bool,
    violated: Vec<&'static str>,
    #[serde(skip)]
    differences: Vec<DifferenceJson>,
}

#[derive(Clone, Serialize)]
struct DifferenceJson {
    file: String,
    line: usize,
    expected: Option<String>,
    actual: Option<String>,
    #[serde(skip)]
    words: String,
}

impl Play {
    /// Plays the scenarios.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        ensure!(
            self.files.len() == 1 || !self.export.is_wanted(),
            "traces and pictures are of one scenario; name one file, not {}",
            self.files.len()
        );
        self.spare_scenarios()?;
        let mut files = Vec::new();
        for path in &self.files {
            files.push(self.play(path, output)?);
        }
        let told = Told {
            passed: Verdict::on_all(files.iter().map(|file| file.passed)),
            differences: files.iter().flat_map(|file| file.differences.clone()).collect(),
            files,
        };
        output.answer(&told, || told.in_words())?;
        Ok(told.passed)
    }

    /// `--mermaid a.txt b.txt` means two scenarios, but reads as one to be overwritten by a
    /// picture.
    fn spare_scenarios(&self) -> Result<()> {
        for path in self.export.files() {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            ensure!(
                Scenario::parse(&text).is_err(),
                "{} is a scenario and would be overwritten; name another file",
                path.display()
            );
        }
        Ok(())
    }

    fn play(&self, path: &Path, output: &Output) -> Result<FileJson> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {name}; name a scenario, a text file"))?;
        let wrong = |error: ParseError| anyhow!("{}", error.in_file(&name));
        let scenario = Scenario::parse(&text).map_err(wrong)?;
        let played = synod_drivers::play(which, &scenario).unwrap_or_else(|| {
            Err(scenario.unknown_algorithm(entries().iter().map(|entry| entry.card.name)))
        });
        let played = played.map_err(wrong)?;
        // A new trace never hides an expectation of the script that did not come true.
        let blessed = self.bless && played.unmet.is_empty() && played.blessed != text;
        if blessed {
            export::write(path, &played.blessed)?;
        }
        if self.export.is_wanted() {
            let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let scene = Scene::new(title.unwrap_or_default(), scenario.processes());
            self.export.events(scene, &played.events, output)?;
        }
        Ok(FileJson {
            algorithm: scenario.algorithm().to_owned(),
            n: scenario.processes(),
            passed: self.verdict(&scenario, &played),
            blessed,
            has_trace: scenario.has_trace(),
            violated: played.violated.clone(),
            differences: differences(&name, &played, self.bless),
            file: name,
        })
    }

    /// Whether the scenario came out as expected. A script that expects nothing decides nothing,
    /// unless its trace is to be written.
    fn verdict(&self, scenario: &Scenario, played: &Played) -> Verdict {
        match self.bless {
            true => Verdict::from(played.unmet.is_empty()),
            false if scenario.has_trace() || scenario.has_expectations() => played.passed.into(),
            false => Verdict::Undecided,
        }
    }
}

/// The expectations that did not come true, then the differences of the trace.
fn differences(file: &str, played: &Played, bless: bool) -> Vec<DifferenceJson> {
    let unmet = played.unmet.iter().map(|unmet| DifferenceJson {
        file: file.to_owned(),
        line: unmet.line,
        expected: Some(unmet.source_line.trim().to_owned()),
        actual: Some(unmet.message.clone()),
        words: unmet.in_file(file),
    });
    let traced = played.differences.iter().filter(|_| !bless);
    let traced = traced.map(|difference: &Difference| DifferenceJson {
        file: file.to_owned(),
        line: difference.line,
        expected: difference.expected.clone(),
        actual: difference.actual.clone(),
        words: format!("{file}: {difference}"),
    });
    unmet.chain(traced).collect()
}

impl Told {
    fn in_words(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let remark = match (file.passed, file.blessed, file.has_trace) {
                (Verdict::Holds, true, _) => ": blessed".to_owned(),
                (Verdict::Holds, false, true) => String::new(),
                (Verdict::Holds, false, false) => {
                    ": it has no trace; --bless writes one".to_owned()
                }
                (Verdict::Undecided, ..) => {
                    ": not decided, because it expects nothing; --bless writes a trace".to_owned()
                }
                (Verdict::Violated, ..) => {
                    let count = file.differences.len() as u64;
                    format!(": {}", words::count(count, "difference", "differences"))
                }
            };
            let sign = output::sign(file.passed);
            text += &output::coloured(&format!("{sign} {}", file.file));
            text += &format!("  {DIM}{}{remark}{DIM:#}\n", file.algorithm);
            for difference in file.differences.iter().take(TOLD_IN_WORDS) {
                text += &format!("{}\n", difference.words);
            }
            if file.differences.len() > TOLD_IN_WORDS {
                text += &format!("and {} more\n", file.differences.len() - TOLD_IN_WORDS);
            }
        }
        let passed = self.files.iter().filter(|file| file.passed == Verdict::Holds).count();
        text + &format!("{passed} of {} passed\n", self.files.len())
    }
}
