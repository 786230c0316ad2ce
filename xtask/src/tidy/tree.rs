//! What the rules look at: every file of the repository, and what each crate depends on.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The repository.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    pub(super) packages: Vec<Package>,
}

/// One file.
pub(super) struct File {
    /// From the root, with `/` between the parts.
    pub(super) path: String,
    pub(super) bytes: u64,
    /// Its content, if it is text.
    pub(super) text: Option<String>,
}

/// One crate of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// Something a crate uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) for_tests_only: bool,
}

/// Directories that hold what is made, not what is written. Of the hidden ones only these two are
/// the project's own.
const MADE: &[&str] = &["target", "out"];
const HIDDEN: &[&str] = &[".cargo", ".ci"];

impl Tree {
    /// Reads the repository at `root`.
    pub(super) fn read(root: &Path) -> Result<Tree> {
        let mut tree = Tree { files: Vec::new(), packages: packages(root)? };
        tree.walk(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn walk(&mut self, directory: &Path, prefix: &str) -> Result<()> {
        let cannot_read = || format!("{} cannot be read", directory.display());
        for entry in fs::read_dir(directory).with_context(cannot_read)? {
            let entry = entry.with_context(cannot_read)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().with_context(cannot_read)?;
            if kind.is_dir() && is_written(&name) {
                self.walk(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() && !name.ends_with(".profraw") && name != ".git" {
                let content = fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
                let bytes = content.len() as u64;
                self.files.push(File { path, bytes, text: String::from_utf8(content).ok() });
            }
        }
        Ok(())
    }

    /// All text files whose path ends so, with their text.
    pub(super) fn texts(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(suffix))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }
}

fn is_written(directory: &str) -> bool {
    if directory.starts_with('.') {
        HIDDEN.contains(&directory)
    } else {
        !MADE.contains(&directory)
    }
}

/// What each crate of the workspace depends on, as cargo itself reads the manifests.
fn packages(root: &Path) -> Result<Vec<Package>> {
    let asked = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cargo cannot be started")?;
    ensure!(asked.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&asked.stderr));
    let metadata = serde_json::from_slice(&asked.stdout).context("cargo metadata is not JSON")?;
    packages_in(&metadata).context("cargo metadata has an unknown form")
}

fn packages_in(metadata: &Value) -> Option<Vec<Package>> {
    let package = |package: &Value| {
        let name = package["name"].as_str()?.to_owned();
        let dependencies = package["dependencies"].as_array()?.iter().map(dependency);
        Some(Package { name, dependencies: dependencies.collect::<Option<_>>()? })
    };
    metadata["packages"].as_array()?.iter().map(package).collect()
}

fn dependency(dependency: &Value) -> Option<Dependency> {
    let name = dependency["name"].as_str()?.to_owned();
    Some(Dependency { name, for_tests_only: dependency["kind"] == "dev" })
}

#[cfg(test)]
impl Tree {
    /// A repository of these files, for the tests of the rules.
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| File {
            path: path.to_owned(),
            bytes: text.len() as u64,
            text: Some(text.to_owned()),
        };
        Tree { files: files.iter().map(file).collect(), packages: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_and_what_is_hidden_is_not_looked_at() {
        assert!(is_written("crates") && is_written(".ci"));
        assert!(!is_written("target") && !is_written(".git"));
    }

    #[test]
    fn a_dependency_of_the_tests_is_told_from_one_of_the_code() {
        let metadata = serde_json::json!({ "packages": [{
            "name": "a",
            "dependencies": [{ "name": "b", "kind": null }, { "name": "c", "kind": "dev" }],
        }]});
        let of_a = packages_in(&metadata).expect("the form is cargo's").remove(0).dependencies;
        let told: Vec<_> = of_a.iter().map(|d| (d.name.as_str(), d.for_tests_only)).collect();
        assert_eq!(told, [("b", false), ("c", true)]);
    }
}
