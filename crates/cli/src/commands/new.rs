//! `synod new`: a new algorithm that already compiles, runs and is checked.

mod outside;

use crate::catalogue::which;
use crate::export;
use crate::output::{BOLD, Output};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};
use synod_core::Verdict;

const EXAMPLES: &str = "\
Examples:
  synod new my-algorithm                    in a clone of the repository
  synod new my-algorithm --dir ~/synod      in one that is elsewhere
  synod new my-table --family group         a service on the group engines
  synod new my-log --family replication     an engine under a key-value store
  synod new my-algorithm --crate            in a crate of its own, beside the repository
  synod new my-algorithm --crate ~/mine     in a crate of its own, there

What is written is a small algorithm that works, to be replaced by your own step by step; the
compiler, the tests and 'synod check' tell after each step whether it still does.";

/// Names that Rust keeps for itself.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "test", "trait", "true", "try", "type", "union", "unsafe", "use", "where",
    "while", "yield",
];

/// Write a new algorithm that already compiles, runs and is checked
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct New {
    /// Its name, in lower case with hyphens: my-algorithm
    #[arg(value_name = "NAME")]
    name: String,
    /// What it is for
    #[arg(long, value_enum, default_value_t = Family::Mutex)]
    family: Family,
    /// Write a crate outside the repository: the whole command line with this algorithm more
    /// [default place: beside the repository]
    #[arg(long = "crate", value_name = "PATH", num_args = 0..=1)]
    #[allow(clippy::option_option)]
    own_crate: Option<Option<PathBuf>>,
    /// Where the repository is
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Family {
    /// Mutual exclusion
    Mutex,
    /// A service in a group: a table that all members have
    Group,
    /// A replicated log, under a key-value store
    Replication,
}

impl Family {
    /// The directory of its algorithms, a module, below that of the catalogue.
    fn module(self) -> &'static str {
        match self {
            Family::Mutex => "basics/src/mutex",
            Family::Group => "groups/src/table",
            Family::Replication => "logs/src/replication",
        }
    }

    /// How the template is explored.
    fn check(self) -> &'static str {
        match self {
            Family::Mutex => "--rounds 2 --property ME1 --property ME2",
            Family::Group => "-n 3 --order fifo --param engine=abstract --param keys=1",
            Family::Replication => "-n 2 --param tries=0",
        }
    }

    /// An algorithm and a scenario, both called `my-algorithm`.
    fn templates(self) -> (&'static str, &'static str) {
        match self {
            Family::Mutex => (
                include_str!("../../templates/mutex/algorithm.rs"),
                include_str!("../../templates/mutex/scenario.txt"),
            ),
            Family::Group => (
                include_str!("../../templates/group/algorithm.rs"),
                include_str!("../../templates/group/scenario.txt"),
            ),
            Family::Replication => (
                include_str!("../../templates/replication/algorithm.rs"),
                include_str!("../../templates/replication/scenario.txt"),
            ),
        }
    }
}

#[derive(Serialize)]
struct Told {
    name: String,
    written: Vec<String>,
    changed: Vec<String>,
    /// How it is explored.
    #[serde(skip)]
    check: &'static str,
    /// The directory of its own crate.
    #[serde(rename = "crate", skip_serializing_if = "Option::is_none")]
    own_crate: Option<String>,
}

/// Files with their texts, not written yet.
struct Files {
    /// New ones.
    written: Vec<(PathBuf, String)>,
    /// Those that list the algorithm from now on.
    listed: Vec<(PathBuf, String)>,
}

impl New {
    /// Writes it.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        self.must_be_a_good_name()?;
        let root = workspace(&self.dir)?;
        let (algorithm, scenario) = self.family.templates();
        let files = match &self.own_crate {
            None => self.in_the_repository(&root, algorithm, scenario)?,
            Some(path) => {
                let beside = || root.parent().unwrap_or(&root).join(&self.name);
                let at = path.clone().unwrap_or_else(beside);
                self.in_a_crate(&root, &at, algorithm, scenario)?
            }
        };
        let Files { written, listed } = &files;
        for (path, text) in written.iter().chain(listed) {
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)
                    .with_context(|| format!("cannot make {}", directory.display()))?;
            }
            export::write(path, text)?;
        }
        let paths = |files: &[(PathBuf, String)]| -> Vec<String> {
            files.iter().map(|(path, _)| path.display().to_string()).collect()
        };
        let told = Told {
            written: paths(written),
            changed: paths(listed),
            name: self.name.clone(),
            check: self.family.check(),
            own_crate: self.own_crate.is_some().then(|| {
                let manifest = written.iter().find(|(path, _)| path.ends_with("Cargo.toml"));
                let at = manifest.and_then(|(path, _)| path.parent());
                at.unwrap_or(Path::new(".")).display().to_string()
            }),
        };
        output.answer(&told, || told.in_words())?;
        Ok(Verdict::Holds)
    }

    /// A template, with the name of the algorithm.
    fn render(&self, text: &str) -> String {
        let named = text.replace("my-algorithm", &self.name);
        let named = named.replace("MyAlgorithm", &camel_case(&self.name));
        named.replace("my_algorithm", &self.name.replace('-', "_"))
    }

    fn in_the_repository(&self, root: &Path, algorithm: &str, scenario: &str) -> Result<Files> {
        let protocols = root.join("crates/protocols");
        let module = self.family.module();
        let (snake, camel) = (self.name.replace('-', "_"), camel_case(&self.name));
        let source = protocols.join(format!("{module}/{snake}.rs"));
        let story = protocols.join(format!("tests/scenarios/{}/first.txt", self.name));
        for path in [&source, &source.with_extension(""), &story] {
            ensure!(!path.exists(), "{} is already there; choose another name", path.display());
        }
        let listed = edited(protocols.join(module).join("mod.rs"), |text| {
            let text = insert_sorted(text, "pub mod ", &format!("pub mod {snake};"))?;
            let text = insert_use(&text, &format!("pub use {snake}::{camel};"))?;
            insert_in_catalogue(&text, &camel)
        })?;
        let written = vec![(source, self.render(algorithm)), (story, self.render(scenario))];
        Ok(Files { written, listed: vec![listed] })
    }

    fn in_a_crate(&self, root: &Path, at: &Path, algorithm: &str, scenario: &str) -> Result<Files> {
        let library = self.render(&outside::from_outside(algorithm));
        let mut written = vec![
            (at.join("src/lib.rs"), library),
            (at.join("scenarios/first.txt"), self.render(scenario)),
        ];
        for (path, text) in outside::files(&self.name, root, at)? {
            let is_ours = path.ends_with("Cargo.toml") || path.ends_with("main.rs");
            written.push((path, if is_ours { self.render(&text) } else { text }));
        }
        Ok(Files { written, listed: Vec::new() })
    }

    fn must_be_a_good_name(&self) -> Result<()> {
        let name = &self.name;
        let word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        ensure!(
            name.split('-').all(word) && name.len() <= 64,
            "'{name}' is not a good name; write words in lower case with hyphens: my-algorithm"
        );
        ensure!(
            !KEYWORDS.contains(&name.as_str()),
            "'{name}' is a word of Rust; choose a longer name"
        );
        ensure!(
            which(name).is_none(),
            "there is an algorithm '{name}' already; 'synod show {name}'"
        );
        Ok(())
    }
}

/// The repository that the directory is in.
fn workspace(dir: &Path) -> Result<PathBuf> {
    let dir = dir.canonicalize().with_context(|| format!("cannot look into {}", dir.display()))?;
    let is_root = |dir: &&Path| {
        let manifest = std::fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
        manifest.contains("[workspace]") && dir.join("crates/protocols/src/catalogue.rs").exists()
    };
    match dir.ancestors().find(is_root) {
        Some(root) => Ok(root.to_owned()),
        None => bail!(
            "{} is not in a clone of the synod repository, where an algorithm has to be; go there, \
             or name it with --dir",
            dir.display()
        ),
    }
}

/// A file with its text changed, but not written yet.
fn edited(path: PathBuf, change: impl FnOnce(&str) -> Option<String>) -> Result<(PathBuf, String)> {
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let changed = change(&text).with_context(|| {
        format!("{} is not as expected; add the algorithm by hand", path.display())
    })?;
    Ok((path, changed))
}

/// The text with one more line among those that begin alike, in order.
fn insert_sorted(text: &str, prefix: &str, line: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let alike = lines.iter().enumerate().filter(|(_, known)| known.starts_with(prefix));
    let alike: Vec<(usize, &str)> = alike.map(|(index, known)| (index, *known)).collect();
    let later = alike.iter().find(|(_, known)| *known > line).map(|(index, _)| *index);
    lines.insert(later.unwrap_or(alike.last()?.0 + 1), line);
    Some(lines.join("\n") + "\n")
}

/// The text with one more name that others may use: among those that there are, or before what the
/// module uses itself.
fn insert_use(text: &str, line: &str) -> Option<String> {
    insert_sorted(text, "pub use ", line).or_else(|| {
        let first = text.lines().position(|known| known.starts_with("use "))?;
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(first, line);
        Some(lines.join("\n") + "\n")
    })
}

/// The family with one more algorithm in its list, after the last that is not a mutant.
fn insert_in_catalogue(text: &str, camel: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| line.contains("catalogue! {"))?;
    let end = begin + lines[begin..].iter().position(|line| *line == "}")?;
    let is_sound = |line: &&str| !line.contains("mutants::");
    let last = begin + lines[begin..end].iter().rposition(is_sound)?;
    let entry = format!("    {camel},");
    lines.insert(last + 1, &entry);
    Some(lines.join("\n") + "\n")
}

/// `suzuki-kasami` as Rust writes it: `SuzukiKasami`.
fn camel_case(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

impl Told {
    fn in_words(&self) -> String {
        let mut text = String::new();
        for path in &self.written {
            text += &format!("wrote   {path}\n");
        }
        for path in &self.changed {
            text += &format!("changed {path}\n");
        }
        let Told { name, check, own_crate, .. } = self;
        let (enter, test) = match own_crate {
            Some(at) => (format!("  cd {at}\n"), "cargo run -- play scenarios/first.txt"),
            None => (String::new(), "cargo test -p synod-drivers"),
        };
        text + &format!(
            "\n{BOLD}It works already:{BOLD:#}\n\
             {enter}\
             \x20 cargo run -- run {name} --draw -n 3 --requests 4\n\
             \x20 cargo run -- check {name} {check}\n\
             \x20 {test}\n\
             Now make it your own, step by step.\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_where_the_order_wants_it() {
        let text = "//! x\npub mod a;\nmod b;\npub mod c;\n\npub use a::A;\n";
        let with = |line| insert_sorted(text, "pub mod ", line).expect("there are such lines");
        assert!(with("pub mod b;").contains("mod b;\npub mod b;\npub mod c;\n"));
        assert!(with("pub mod d;").contains("pub mod c;\npub mod d;\n\n"));
        assert_eq!(insert_sorted(text, "extern ", "extern crate x;"), None);
        let private = "pub mod a;\n\nuse z::Z;\n";
        let wanted = "pub mod a;\n\npub use b::B;\nuse z::Z;\n";
        assert_eq!(insert_use(private, "pub use b::B;").as_deref(), Some(wanted));
    }

    #[test]
    fn a_new_algorithm_stands_before_the_mutants_of_its_family() {
        let text =
            "pub mod a;\n\nsynod_core::catalogue! {\n    A,\n    mutants::B,\n}\n\nfn f() {\n}\n";
        let wanted = text.replace("    A,\n", "    A,\n    New,\n");
        assert_eq!(insert_in_catalogue(text, "New"), Some(wanted));
        assert_eq!(insert_in_catalogue("pub mod a;\n", "New"), None);
    }
}
