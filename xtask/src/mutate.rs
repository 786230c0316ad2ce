//! Do tests notice each rule's absence? cargo-mutants changes one expression at a time and runs the
//! tests; a change that no test notices *survives*.
//!
//! There are thousands of such changes, and each costs a build, so that a run takes a sample:
//! every N-th change, from one that the caller may choose. Survivors that may live, because
//! the changed program does the same, stand in a file, each with its reason.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const TOOL: &str = "cargo-mutants";
/// The survivors that may live.
const EXCUSED: &str = "xtask/survivors.txt";
/// Of how many changes one is tried, unless the caller says otherwise.
const ONE_OF: u32 = 200;
/// The exit codes of the tool: all noticed; some survive; some ran out of time, which notices them.
const CARRIED_OUT: [i32; 3] = [0, 2, 3];

/// The sources to change, and the packages whose tests shall notice.
struct Target {
    name: &'static str,
    files: &'static str,
    package: &'static str,
    tests: &'static [&'static str],
}

const TARGETS: &[Target] = &[
    Target {
        name: "logs",
        files: "crates/protocols/logs/src/**/*.rs",
        package: "synod-logs",
        tests: &["synod-logs", "synod-protocols"],
    },
    Target {
        name: "groups",
        files: "crates/protocols/groups/src/**/*.rs",
        package: "synod-groups",
        tests: &["synod-groups", "synod-protocols"],
    },
    Target {
        name: "wal",
        files: "crates/wal/src/**/*.rs",
        package: "synod-wal",
        tests: &["synod-wal"],
    },
    Target {
        name: "linear",
        files: "crates/core/src/linear/**/*.rs",
        package: "synod-core",
        tests: &["synod-core"],
    },
];

/// What the caller chose.
#[derive(Debug, PartialEq, Eq)]
struct Choice<'a> {
    targets: Vec<&'a str>,
    /// Only changes whose description matches this regular expression, and then all of them.
    only: Option<&'a str>,
    one_of: u32,
    from: u32,
}

impl<'a> Choice<'a> {
    fn read(arguments: &[&'a str]) -> Result<Self> {
        let mut choice = Choice { targets: Vec::new(), only: None, one_of: 0, from: 0 };
        let mut rest = arguments.iter().copied();
        while let Some(word) = rest.next() {
            match word {
                "--only" => choice.only = Some(rest.next().context("--only needs a pattern")?),
                "--one-of" => choice.one_of = number(word, rest.next())?,
                "--from" => choice.from = number(word, rest.next())?,
                name if TARGETS.iter().any(|target| target.name == name) => {
                    choice.targets.push(name)
                }
                other => bail!("mutate knows no `{other}`; it changes {}", names()),
            }
        }
        if choice.one_of == 0 {
            choice.one_of = if choice.only.is_some() { 1 } else { ONE_OF };
        }
        ensure!(choice.from < choice.one_of, "--from is less than --one-of, {}", choice.one_of);
        Ok(choice)
    }

    fn has(&self, target: &Target) -> bool {
        self.targets.is_empty() || self.targets.contains(&target.name)
    }

    /// The arguments of the tool.
    fn arguments(&self, target: &Target, out: &str) -> Vec<String> {
        let mut all = vec!["mutants".to_owned()];
        let mut add = |name: &str, value: &str| all.extend([name.to_owned(), value.to_owned()]);
        add("--package", target.package);
        add("--file", target.files);
        add("--test-package", &target.tests.join(","));
        add("--shard", &format!("{}/{}", self.from, self.one_of));
        add("--output", out);
        if let Some(pattern) = self.only {
            add("--re", pattern);
        }
        all
    }
}

fn names() -> String {
    TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ")
}

fn number(name: &str, word: Option<&str>) -> Result<u32> {
    let word = word.with_context(|| format!("{name} needs a number"))?;
    word.parse().with_context(|| format!("{name} {word}: that is not a number"))
}

/// Changes the sources in copies, and tells which changes no test notices.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let choice = Choice::read(arguments)?;
    let excused = excused(&std::fs::read_to_string(root.join(EXCUSED))?)?;
    install_if_missing()?;
    let mut survivors = Vec::new();
    for target in TARGETS.iter().filter(|target| choice.has(target)) {
        println!("── {}: {}", target.name, target.files);
        survivors.extend(survivors_of(root, target, &choice)?);
    }
    judge(&survivors, &excused)
}

fn install_if_missing() -> Result<()> {
    let version = cargo().args(["mutants", "--version"]).output();
    if version.is_ok_and(|answer| answer.status.success()) {
        return Ok(());
    }
    println!("{TOOL} is missing: it is installed from crates.io");
    let status = cargo().args(["install", "--locked", TOOL]).status()?;
    ensure!(status.success(), "{TOOL} cannot be installed; `cargo install {TOOL}` says why");
    Ok(())
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
}

fn survivors_of(root: &Path, target: &Target, choice: &Choice<'_>) -> Result<Vec<String>> {
    let out = Path::new("target/mutate").join(target.name);
    let directory = root.join(&out).join("mutants.out");
    std::fs::create_dir_all(root.join(&out))?;
    let arguments = choice.arguments(target, &out.to_string_lossy());
    let status = cargo().args(arguments).current_dir(root).status()?;
    let code = status.code().unwrap_or(-1);
    ensure!(
        CARRIED_OUT.contains(&code),
        "{TOOL} could not be carried out (exit code {code}); its log is in {}",
        directory.display()
    );
    let missed = std::fs::read_to_string(directory.join("missed.txt"))?;
    Ok(missed.lines().map(without_place).collect())
}

/// `src/a.rs:10:5: replace f with 0` without the line and the column, which move with each edit.
fn without_place(line: &str) -> String {
    let (file, rest) = line.split_once(':').unwrap_or((line, ""));
    match rest.split_once(": ") {
        Some((_, change)) => format!("{file}: {change}"),
        None => file.to_owned(),
    }
}

/// Each line of the file names a change as the tool does, without its place; then ` # ` and why it
/// may survive.
fn excused(text: &str) -> Result<BTreeMap<String, String>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| match line.split_once(" # ") {
        Some((change, why)) if !why.trim().is_empty() => Ok((change.to_owned(), why.to_owned())),
        _ => bail!("{EXCUSED}: '{line}' does not say why it may survive, after ' # '"),
    };
    lines.map(pair).collect()
}

fn judge(survivors: &[String], excused: &BTreeMap<String, String>) -> Result<()> {
    let (may, must_not): (Vec<_>, Vec<_>) =
        survivors.iter().partition(|survivor| excused.contains_key(*survivor));
    may.iter().for_each(|survivor| println!("survives: {survivor} # {}", excused[*survivor]));
    if must_not.is_empty() {
        println!("each change is noticed, or has a reason to survive");
        return Ok(());
    }
    let list: Vec<&str> = must_not.iter().map(|survivor| survivor.as_str()).collect();
    bail!(
        "no test notices these changes:\n  {}\nwrite the test that does, or a line in {EXCUSED} that \
         says why a change may survive",
        list.join("\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "crates/wal/src/log.rs:10:5: replace == with != in Log::open";
    const CHANGE: &str = "crates/wal/src/log.rs: replace == with != in Log::open";

    #[test]
    fn a_sample_is_taken_unless_a_pattern_names_the_changes() {
        let all = Choice { targets: vec![], only: None, one_of: ONE_OF, from: 0 };
        assert_eq!(Choice::read(&[]).expect("nothing is chosen"), all);
        let some = Choice::read(&["wal", "--only", "seed"]).expect("a pattern");
        assert_eq!((some.one_of, some.only, &some.targets[..]), (1, Some("seed"), &["wal"][..]));
        let third = Choice::read(&["--one-of", "9", "--from", "3"]).expect("a sample");
        assert_eq!((third.one_of, third.from), (9, 3));
        for wrong in [&["net"][..], &["--from", "200"], &["--one-of", "x"], &["--only"]] {
            assert!(Choice::read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_tool_is_told_what_to_change_and_whose_tests_to_run() {
        let choice = Choice::read(&["groups", "--only", "dead"]).expect("a pattern");
        let said = choice.arguments(&TARGETS[1], "out").join(" ");
        assert!(said.contains("--package synod-groups"), "{said}");
        assert!(said.contains("--test-package synod-groups,synod-protocols"), "{said}");
        assert!(said.contains("--shard 0/1") && said.ends_with("--re dead"), "{said}");
    }

    #[test]
    fn a_survivor_needs_a_reason_and_keeps_it_when_lines_move() {
        assert_eq!(without_place(LINE), CHANGE);
        let reasons =
            excused(&format!("# why\n\n{CHANGE} # both are the same\n")).expect("a reason");
        assert!(judge(&[CHANGE.to_owned()], &reasons).is_ok());
        let said =
            judge(&[CHANGE.to_owned()], &BTreeMap::new()).expect_err("no reason").to_string();
        assert!(said.contains(CHANGE) && said.contains(EXCUSED), "{said}");
        assert!(excused(CHANGE).is_err() && excused(&format!("{CHANGE} # ")).is_err());
    }

    #[test]
    fn the_files_that_are_changed_and_the_reasons_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for target in TARGETS {
            let (directory, _) = target.files.split_once("/**").expect("a directory");
            assert!(root.join(directory).is_dir(), "{directory}");
        }
        let text = std::fs::read_to_string(root.join(EXCUSED)).expect("the file is there");
        excused(&text).expect("each line has a reason");
    }
}
