//! Programs that the tests need and that cargo does not bring, as Debian packages.

use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// The packages that the tests need. None at present: Rust is enough.
pub(crate) const NEEDED: &[&str] = &[];

/// Installs the missing packages. Without any it does nothing.
pub(crate) fn install_missing(needed: &[&str]) -> Result<()> {
    let missing = missing(needed, is_installed);
    if missing.is_empty() {
        return Ok(());
    }
    println!("── packages: apt-get install {}", missing.join(" "));
    let installed = Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .with_context(|| advice(&missing, "there is no apt-get on this machine"))?;
    if !installed.success() {
        bail!(advice(&missing, "apt-get could not install them (it needs root)"));
    }
    Ok(())
}

fn missing<'a>(needed: &[&'a str], is_installed: impl Fn(&str) -> bool) -> Vec<&'a str> {
    needed.iter().copied().filter(|package| !is_installed(package)).collect()
}

fn is_installed(package: &str) -> bool {
    let asked = Command::new("dpkg")
        .args(["-s", package])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

fn advice(missing: &[&str], why: &str) -> String {
    let missing = missing.join(", ");
    format!("the tests need {missing}, but {why}; install what these Debian packages hold by hand")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_is_installed() {
        assert_eq!(missing(&["here", "gone"], |package| package == "here"), ["gone"]);
    }

    #[test]
    fn the_advice_names_what_is_missing_and_why() {
        let said = advice(&["graphviz"], "there is no apt-get on this machine");
        assert!(said.contains("graphviz") && said.contains("no apt-get"), "{said}");
    }
}
