//! The libraries compile for WebAssembly, and compute the same there.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// What a page in a browser is made of.
const LIBRARIES: &[&str] = &[
    "synod-core",
    "synod-protocols",
    "synod-sim",
    "synod-check",
    "synod-draw",
    "synod-drivers",
    "synod-experiment",
];

/// The program whose numbers are compared, and the script that asks it under Node.
const PROGRAM: &str = "synod-wasm";
const ASK: &str = "crates/wasm/src/ask.mjs";

/// Compiles, asks and compares; or says what is missing, and skips it.
pub(crate) fn run(root: &Path) -> Result<()> {
    if let Err(missing) = have_target() {
        println!("skipped: {missing}");
        return Ok(());
    }
    let mut check = cargo(root);
    check.args(["check", "--target", TARGET]);
    check.args(LIBRARIES.iter().flat_map(|library| ["-p", library]));
    must_succeed(&mut check, "a library does not compile for WebAssembly")?;
    if answer(Command::new("node").arg("--version")).is_err() {
        println!("skipped: without Node, nothing is run there");
        return Ok(());
    }
    compare(root)
}

fn compare(root: &Path) -> Result<()> {
    let mut build = cargo(root);
    build.args(["rustc", "-p", PROGRAM, "--lib", "--crate-type", "cdylib", "--target", TARGET]);
    must_succeed(&mut build, "the program cannot be built for WebAssembly")?;
    let directory = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let module = root.join(directory).join(TARGET).join("debug/synod_wasm.wasm");
    let there = answer(Command::new("node").arg(root.join(ASK)).arg(module))?;
    let here = answer(cargo(root).args(["run", "--quiet", "-p", PROGRAM]))?;
    agree(&there, &here)?;
    println!("a digest and a number of states are the same there as here: {}", here.trim());
    Ok(())
}

fn agree(there: &str, here: &str) -> Result<()> {
    let is_a_pair = here.split_whitespace().count() == 2;
    ensure!(is_a_pair, "'{}' is not a digest and a number of states", here.trim());
    ensure!(
        there.trim() == here.trim(),
        "in WebAssembly the digest and the number of states are {}, natively {}",
        there.trim(),
        here.trim()
    );
    Ok(())
}

/// Whether the compiler knows the target; if rustup is there, it fetches it. Fails with what is
/// missing.
fn have_target() -> Result<()> {
    let mut list = Command::new("rustup");
    let installed = answer(list.args(["target", "list", "--installed"]))
        .context("there is no rustup that could fetch the target for WebAssembly")?;
    if installed.lines().any(|line| line.trim() == TARGET) {
        return Ok(());
    }
    answer(Command::new("rustup").args(["target", "add", TARGET]))
        .with_context(|| format!("`rustup target add {TARGET}` does not work here"))?;
    Ok(())
}

fn cargo(root: &Path) -> Command {
    let cargo: OsString = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut cargo = Command::new(cargo);
    cargo.current_dir(root);
    cargo
}

fn must_succeed(command: &mut Command, otherwise: &'static str) -> Result<()> {
    ensure!(command.status().context("cargo cannot be started")?.success(), otherwise);
    Ok(())
}

/// What a command prints, if it succeeds.
fn answer(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_and_no_numbers_are_caught() {
        assert!(agree("1 2\n", "1 2\n").is_ok());
        let said = agree("1 3\n", "1 2\n").expect_err("they differ").to_string();
        assert!(said.contains("1 3") && said.contains("1 2"), "{said}");
        assert!(agree("\n", "\n").is_err());
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let error = answer(Command::new("cargo").arg("--no-such-flag")).expect_err("it fails");
        assert!(error.to_string().contains("--no-such-flag"), "{error}");
        assert!(answer(&mut Command::new("there-is-no-such-command")).is_err());
    }
}
