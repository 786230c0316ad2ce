//! One stage after the other, each under a heading, until one fails; times at the end.

use crate::{mutate, tidy, wasm};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// One part of a chore.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// What to do if it fails.
    pub(crate) remedy: &'static str,
}

/// How it is done.
pub(crate) enum Work {
    /// By cargo, with these arguments and environment variables.
    Cargo { args: &'static [&'static str], env: &'static [(&'static str, &'static str)] },
    /// By the project's own rules.
    Tidy,
    /// By the compiler for WebAssembly, and Node.
    Wasm,
    /// By changing the sources, in a sample of places.
    Mutate,
    /// By breaking wide comments.
    Rewrap,
}

impl Stage {
    /// Does it.
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        match &self.work {
            Work::Tidy => tidy::run(root),
            Work::Wasm => wasm::run(root),
            Work::Mutate => mutate::run(root, &[]),
            Work::Rewrap => tidy::rewrap_comments(root),
            Work::Cargo { args, env } => {
                let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
                cargo.args(*args).envs(env.iter().copied()).current_dir(root);
                let status = cargo.status().context("cargo cannot be started")?;
                if !status.success() {
                    bail!("`{}` reported problems", self.in_words());
                }
                Ok(())
            }
        }
    }

    /// What one would type to do the same.
    fn in_words(&self) -> String {
        match &self.work {
            Work::Tidy => "cargo xtask tidy".to_owned(),
            Work::Wasm => "cargo xtask wasm".to_owned(),
            Work::Mutate => "cargo xtask mutate".to_owned(),
            Work::Rewrap => "break wide comments".to_owned(),
            Work::Cargo { args, env } => {
                let env: String =
                    env.iter().map(|(name, value)| format!("{name}={value} ")).collect();
                format!("{env}cargo {}", args.join(" "))
            }
        }
    }
}

/// Runs the stages in order, each under a heading, until one fails.
pub(crate) fn run_all(stages: &[Stage], run: impl Fn(&Stage) -> Result<()>) -> Result<()> {
    let mut times = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        println!("\n── {}/{} {}: {}", index + 1, stages.len(), stage.name, stage.in_words());
        let start = Instant::now();
        if let Err(error) = run(stage) {
            bail!("stage '{}' failed: {error:#}\nwhat to do: {}", stage.name, stage.remedy);
        }
        times.push((stage.name, start.elapsed()));
    }
    print!("\n{}", summary(&times));
    Ok(())
}

fn summary(times: &[(&str, Duration)]) -> String {
    let line = |name: &str, time: Duration| format!("{name:<16}{:>8.1} s\n", time.as_secs_f64());
    let mut text: String = times.iter().map(|(name, time)| line(name, *time)).collect();
    text.push_str(&line("together", times.iter().map(|(_, time)| *time).sum()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const THREE: &[Stage] = &[
        Stage { name: "one", work: Work::Tidy, remedy: "tidy up" },
        Stage { name: "two", work: Work::Tidy, remedy: "think" },
        Stage { name: "three", work: Work::Tidy, remedy: "rest" },
    ];

    #[test]
    fn the_first_failure_stops_everything_and_says_what_to_do() {
        let ran = RefCell::new(Vec::new());
        let error = run_all(THREE, |stage| {
            ran.borrow_mut().push(stage.name);
            if stage.name == "two" { bail!("no luck") } else { Ok(()) }
        });
        let said = error.expect_err("stage two failed").to_string();
        assert_eq!(ran.into_inner(), ["one", "two"]);
        assert_eq!(said, "stage 'two' failed: no luck\nwhat to do: think");
    }

    #[test]
    fn the_summary_adds_up_the_times() {
        let times = [("one", Duration::from_millis(1500)), ("two", Duration::from_secs(2))];
        let lines: Vec<_> = summary(&times).lines().map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                "one                  1.5 s",
                "two                  2.0 s",
                "together             3.5 s"
            ]
        );
    }

    #[test]
    fn a_stage_says_what_one_would_type() {
        let work =
            Work::Cargo { args: &["doc", "--no-deps"], env: &[("RUSTDOCFLAGS", "-Dwarnings")] };
        let stage = Stage { name: "documentation", work, remedy: "" };
        assert_eq!(stage.in_words(), "RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps");
    }
}
