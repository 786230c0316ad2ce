//! `synod new --crate`: the new algorithm in a crate outside the repository.
//!
//! The crate depends on the libraries by their paths, and its program is the whole command line
//! with one algorithm more. It shares the repository's target directory, profiles and lock file, so
//! that Cargo compiles nothing but the new crate.

use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Names of packages that the new crate or the compiler uses.
const TAKEN: &[&str] = &["alloc", "core", "proc-macro", "serde", "std", "synod", "test"];

/// A file of the new crate: its path and its text.
type File = (PathBuf, String);

/// The files of the crate, beside the algorithm and its scenario. `root` is the repository.
pub(super) fn files(name: &str, root: &Path, at: &Path) -> Result<Vec<File>> {
    ensure!(
        !TAKEN.contains(&name) && !name.starts_with("synod-"),
        "a crate called '{name}' exists already; choose another name"
    );
    ensure!(!at.exists(), "{} is already there; choose another place", at.display());
    let read = |file: &str| {
        let path = root.join(file);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let shown = root.to_str().context("the path of the repository is not written in UTF-8")?;
    let manifest = include_str!("../../../templates/crate/manifest.toml")
        .replace("@root@", shown)
        .replace("@profiles@", &profiles(&read("Cargo.toml")?, &members(root)?));
    let main = include_str!("../../../templates/crate/main.rs");
    let config = format!("[build]\ntarget-dir = \"{shown}/target\"\n");
    Ok(vec![
        (at.join("Cargo.toml"), manifest),
        (at.join("Cargo.lock"), read("Cargo.lock")?),
        (at.join(".cargo/config.toml"), config),
        (at.join(".gitignore"), "/target\n".to_owned()),
        (at.join("src/main.rs"), main.to_owned()),
    ])
}

/// The algorithm's file, with the paths that it has outside of the repository.
pub(super) fn from_outside(algorithm: &str) -> String {
    algorithm
        .replace("use super::cost;", "use synod_protocols::mutex::cost;")
        .replace("use super::GroupEngine;", "use synod_protocols::group::GroupEngine;")
}

/// The names of the repository's libraries.
fn members(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for directory in ["crates", "crates/protocols"] {
        let crates = root.join(directory);
        let listed = std::fs::read_dir(&crates)
            .with_context(|| format!("cannot look into {}", crates.display()))?;
        for entry in listed {
            let entry = entry?;
            if entry.path().join("Cargo.toml").exists() {
                names.push(format!("synod-{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    names.sort();
    Ok(names)
}

/// The profiles of the repository's manifest, for a crate outside of it. There, the libraries are
/// dependencies like any other, so each one needs the settings that it has as a member.
fn profiles(manifest: &str, members: &[String]) -> String {
    let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push((name.to_owned(), Vec::new()));
        } else if let Some((_, settings)) = sections.last_mut()
            && !line.is_empty()
            && !line.starts_with('#')
        {
            settings.push(line);
        }
    }
    sections.retain(|(name, _)| name.starts_with("profile.dev"));
    let base = sections.iter().find(|(name, _)| name == "profile.dev");
    let mut base: Vec<&str> = base.map(|(_, settings)| settings.clone()).unwrap_or_default();
    // Cargo takes this setting for a whole build only.
    base.retain(|line| !line.starts_with("lto"));
    for member in members {
        let name = format!("profile.dev.package.{member}");
        match sections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, settings)) => {
                let key = |line: &str| line.split('=').next().map(str::trim).map(str::to_owned);
                let given: Vec<_> = settings.iter().map(|line| key(line)).collect();
                settings.extend(base.iter().filter(|line| !given.contains(&key(line))));
            }
            None => sections.push((name, base.clone())),
        }
    }
    let mut text = String::new();
    for (name, settings) in sections {
        let _ = writeln!(text, "[{name}]\n{}\n", settings.join("\n"));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_the_settings_that_it_has_as_a_member() {
        let manifest = "[workspace]\nmembers = []\n[profile.dev]\nopt-level = 1\n# why\ndebug = 0\n\
                        lto = \"off\"\n\
                        [profile.dev.package.synod-b]\nopt-level = 0\n\
                        [profile.dev.package.\"*\"]\nopt-level = 3\n[profile.bench]\nlto = true\n";
        let wanted = "[profile.dev]\nopt-level = 1\ndebug = 0\nlto = \"off\"\n\n\
                      [profile.dev.package.synod-b]\nopt-level = 0\ndebug = 0\n\n\
                      [profile.dev.package.\"*\"]\nopt-level = 3\n\n\
                      [profile.dev.package.synod-a]\nopt-level = 1\ndebug = 0";
        let members = ["synod-a".to_owned(), "synod-b".to_owned()];
        assert_eq!(profiles(manifest, &members), wanted);
    }
}
