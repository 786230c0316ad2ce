//! The project's chores as code: `cargo xtask test`, `cargo xtask fix`, `cargo xtask tidy`,
//! `cargo xtask wasm`, `cargo xtask soak`, `cargo xtask mutate`.
#![forbid(unsafe_code)]

mod debian;
mod mutate;
mod stage;
mod tidy;
mod wasm;

use anyhow::{Context, Result, bail};
use stage::{Stage, Work};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
The project's chores.

Usage: cargo xtask <chore>

  test   everything that must be green: format, lints, tidy, tests, documentation, WebAssembly
  fix    repairs mechanically: lints with an obvious remedy, format, and comments that are too wide;
         `fix comments` these alone
  tidy   the project's own rules alone: architecture, file lengths, links, leftovers, comments
         --words [DIRECTORY]   counts vague words and wide comments instead, and lists the places
  wasm   the libraries compile for WebAssembly and compute the same there; skipped without rustup
  soak   more than tests have time for: ten times as many random schedules, and larger worlds of
         pools, for hours, with up to 20 GB of memory
  mutate  changes one expression after the other, and tells which changes no test notices
         logs groups wal linear   in these alone;  --only REGEX   all changes that match
         --one-of N --from K      every N-th change, from the K-th (default: 200 and 0)
";

/// All that must be green, cheapest first.
const TEST: &[Stage] = &[
    Stage {
        name: "format",
        work: Work::Cargo { args: &["fmt", "--all", "--check"], env: &[] },
        remedy: "run `cargo xtask fix`",
    },
    Stage {
        name: "lints",
        work: Work::Cargo {
            args: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
            env: &[],
        },
        remedy: "run `cargo xtask fix`; what remains needs a human",
    },
    Stage { name: "tidy", work: Work::Tidy, remedy: "each line above says what to do" },
    Stage {
        name: "tests",
        work: Work::Cargo { args: &["test", "--workspace"], env: &[] },
        remedy: "run the failing test alone: `cargo test -p <crate> <its name>`",
    },
    Stage {
        name: "documentation",
        work: Work::Cargo {
            args: &["doc", "--workspace", "--no-deps"],
            env: &[("RUSTDOCFLAGS", "-Dwarnings")],
        },
        remedy: "repair the doc comments named above",
    },
    WASM,
];

/// Clippy first, because what it writes may need formatting.
const FIX: &[Stage] = &[
    Stage {
        name: "repair lints",
        work: Work::Cargo {
            args: &[
                "clippy",
                "--fix",
                "--workspace",
                "--all-targets",
                "--allow-dirty",
                "--allow-staged",
            ],
            env: &[],
        },
        remedy: "make the code compile first",
    },
    Stage {
        name: "format",
        work: Work::Cargo { args: &["fmt", "--all"], env: &[] },
        remedy: "make the code parse first",
    },
    Stage { name: "comments", work: Work::Rewrap, remedy: "make the files named above writable" },
];

/// What takes hours.
const SOAK: &[Stage] = &[
    Stage {
        name: "schedules",
        work: Work::Cargo {
            args: &["test", "--workspace", "--", "swarm"],
            env: &[("SYNOD_TIMES_AS_MANY_SCHEDULES", "10")],
        },
        remedy: "run the failing test alone, with the seed that it prints",
    },
    Stage {
        name: "cluster",
        work: Work::Cargo {
            args: &["test", "-p", "synod-node", "--test", "cluster", "nemesis"],
            env: &[("SYNOD_SCHEDULES", "200")],
        },
        remedy: "SYNOD_SEED=… with the seed that it prints repeats the schedule of faults",
    },
    Stage {
        name: "worlds",
        work: Work::Cargo {
            args: &["bench", "-p", "synod-protocols", "--bench", "soak"],
            env: &[],
        },
        remedy: "what is refuted, `synod check slots` shows with the parameters that are printed \
                 above",
    },
    Stage {
        name: "mutants",
        work: Work::Mutate,
        remedy: "write a test that notices each change named above",
    },
];

const WASM: Stage = Stage {
    name: "WebAssembly",
    work: Work::Wasm,
    remedy: "do without what WebAssembly does not have: threads, clocks, files",
};

const TIDY: &[Stage] =
    &[Stage { name: "tidy", work: Work::Tidy, remedy: "each line above says what to do" }];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["test"] => {
            debian::install_missing(debian::NEEDED)?;
            stage::run_all(TEST, |stage| stage.run(&root()?))
        }
        ["fix"] => stage::run_all(FIX, |stage| stage.run(&root()?)),
        ["fix", "comments"] => tidy::rewrap_comments(&root()?),
        ["tidy"] => TIDY[0].run(&root()?),
        ["wasm"] => WASM.run(&root()?),
        ["tidy", "--words"] => tidy::report_words(&root()?, None),
        ["tidy", "--words", directory] => tidy::report_words(&root()?, Some(directory)),
        ["mutate", ref chosen @ ..] => mutate::run(&root()?, chosen),
        ["soak"] => stage::run_all(SOAK, |stage| stage.run(&root()?)),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        [] => bail!("which chore?\n\n{HELP}"),
        _ => bail!("there is no chore `{}`\n\n{HELP}", arguments.join(" ")),
    }
}

/// The root of the repository.
fn root() -> Result<PathBuf> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("cargo says where the repository is; start the chores with `cargo xtask`")?;
    let parent = PathBuf::from(here).parent().map(PathBuf::from);
    parent.context("the directory xtask lies in the repository's root")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        run(&arguments).expect_err("there is no such chore").to_string()
    }

    #[test]
    fn an_unknown_chore_is_named_and_the_known_ones_are_listed() {
        let said = complaint(&["tset"]);
        assert!(said.contains("`tset`") && said.contains("cargo xtask <chore>"), "{said}");
        assert!(complaint(&[]).contains("which chore?"));
        assert!(complaint(&["tidy", "now"]).contains("`tidy now`"));
    }
}
