//! Runs the command, and keeps its output.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ran {
    /// Its answer, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.error))
    }
}

/// The command itself.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synod"));
    command.env_remove("RUST_BACKTRACE").env("NO_COLOR", "1");
    command
}

/// Runs the command with these words.
pub(crate) fn with_words<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Ran {
    with_words_in(Path::new("."), words)
}

/// Runs the command with these words in that directory.
pub(crate) fn with_words_in<W: AsRef<OsStr>>(
    directory: &Path,
    words: impl IntoIterator<Item = W>,
) -> Ran {
    let Output { status, stdout, stderr } =
        command().current_dir(directory).args(words).output().expect("the command can be run");
    Ran {
        code: status.code(),
        out: String::from_utf8(stdout).expect("it speaks UTF-8"),
        error: String::from_utf8(stderr).expect("it complains in UTF-8"),
    }
}

/// Runs the command with this line, split at spaces.
pub(crate) fn synod(line: &str) -> Ran {
    with_words(line.split_whitespace())
}

/// Runs the command with this line, and returns its JSON.
pub(crate) fn json(line: &str) -> Value {
    synod(&format!("{line} -o json")).json()
}

/// An empty directory of this name.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    directory
}

/// Asserts that an object has these fields.
pub(crate) fn has_keys(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for key in keys {
        assert!(object.contains_key(*key), "'{key}' is missing in {value}");
    }
}
