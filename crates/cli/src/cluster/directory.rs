//! The directory of a cluster of `synod up`. The file `cluster.json` in it says which nodes there
//! are, where they listen, and which processes they are.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The longest path of a Unix socket, on every system.
const LONGEST_SOCKET: usize = 100;
/// The list of the nodes.
const LIST: &str = "cluster.json";
/// The socket of `synod up`.
const CONTROL: &str = "up.sock";
/// Locked for as long as `synod up` runs.
const LOCK: &str = "up.lock";

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Its name.
    pub(crate) name: String,
    /// Where clients reach it.
    pub(crate) socket: PathBuf,
    /// Where its peers reach it.
    pub(crate) address: SocketAddr,
    /// Its own directory.
    pub(crate) data: PathBuf,
    /// What it says.
    pub(crate) log: PathBuf,
    /// Its process, as long as it lives.
    pub(crate) pid: Option<u32>,
}

/// The contents of `cluster.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct List {
    /// The name of the cluster.
    pub(crate) cluster: String,
    /// The process of `synod up`.
    pub(crate) pid: u32,
    /// Where `synod up` listens.
    pub(crate) control: PathBuf,
    /// The nodes.
    pub(crate) nodes: Vec<Place>,
}

impl List {
    /// A list of nodes with these addresses, in this directory.
    pub(crate) fn new(directory: &Path, addresses: &[SocketAddr]) -> Self {
        let place = |(index, address): (usize, &SocketAddr)| {
            let name = format!("n{}", index + 1);
            let data = directory.join(&name);
            Place {
                socket: data.join("api.sock"),
                log: directory.join(format!("{name}.log")),
                address: *address,
                data,
                name,
                pid: None,
            }
        };
        List {
            cluster: "up".to_owned(),
            pid: std::process::id(),
            control: directory.join(CONTROL),
            nodes: addresses.iter().enumerate().map(place).collect(),
        }
    }

    /// Reads the list of the cluster in this directory; none if there is no cluster.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(LIST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
        };
        let hint = || {
            format!(
                "{} is not a list of nodes: remove the directory, and start a cluster with \
                 'synod up'",
                path.display()
            )
        };
        serde_json::from_str(&text).map(Some).with_context(hint)
    }

    /// Writes the list. A reader sees the old one or the new one as a whole.
    pub(crate) fn write(&self, directory: &Path) -> Result<()> {
        let path = directory.join(LIST);
        replace(&path, &serde_json::to_string_pretty(self)?)
    }

    /// The names of the nodes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|place| place.name.clone()).collect()
    }
}

/// Replaces a file as a whole.
pub(crate) fn replace(path: &Path, text: &str) -> Result<()> {
    let new = path.with_extension("new");
    let write = || {
        File::create(&new)?.write_all(text.as_bytes())?;
        fs::rename(&new, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// The directory of a cluster where the user names none.
pub(crate) fn usual() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(std::env::temp_dir);
    state.join("synod/up")
}

/// A directory that this process has for itself.
#[derive(Debug)]
pub(crate) struct Mine {
    /// The directory.
    pub(crate) path: PathBuf,
    /// The cluster that was here before, if it is kept.
    pub(crate) before: Option<List>,
    _lock: File,
}

impl Mine {
    /// Takes the directory for a cluster: the cluster that is in it goes on if it is kept, and is
    /// removed if not. Only a directory of `synod up` is ever removed.
    pub(crate) fn take(path: &Path, keep: bool) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the directory {}", path.display()))?;
        let path = path.canonicalize().context("the directory has just been made")?;
        let longest = path.join("n10/api.sock").as_os_str().len();
        if longest > LONGEST_SOCKET {
            bail!(
                "the path of {} is too long for the sockets inside: they may have \
                 {LONGEST_SOCKET} characters, and would have {longest}. Choose a shorter one \
                 with --dir",
                path.display()
            );
        }
        let before = List::read(&path)?;
        let is_empty = fs::read_dir(&path)?.next().is_none();
        if before.is_none() && !is_empty && !path.join(LOCK).exists() {
            bail!(
                "{} holds other things than a cluster of 'synod up', and is left as it is. Choose \
                 an empty or a new directory with --dir",
                path.display()
            );
        }
        let lock = File::create(path.join(LOCK)).context("cannot lock the directory")?;
        if lock.try_lock().is_err() {
            bail!(
                "a cluster runs in {} already{}. Use that one ('synod status'), end it with \
                 Ctrl-C, or start another one with --dir",
                path.display(),
                before.map(|list| format!(", as process {}", list.pid)).unwrap_or_default()
            );
        }
        if !keep {
            clear(&path)?;
        }
        Ok(Mine { before: before.filter(|_| keep), path, _lock: lock })
    }
}

/// Removes all but the lock.
fn clear(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        removed.with_context(|| format!("cannot remove {}", entry.path().display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("synod-up-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn a_directory_with_other_things_is_never_cleared() {
        let path = scratch("foreign");
        fs::create_dir_all(&path).expect("it can be made");
        fs::write(path.join("thesis.txt"), "ten years").expect("it can be written");
        let error = Mine::take(&path, false).expect_err("it is not ours");
        assert!(error.to_string().contains("is left as it is"), "{error}");
        assert!(path.join("thesis.txt").exists());
        fs::remove_dir_all(path).expect("it is there");
    }

    #[test]
    fn a_cluster_is_begun_anew_unless_it_is_kept_and_never_begun_twice() {
        let path = scratch("anew");
        let first = Mine::take(&path, false).expect("it is new");
        let list = List::new(&first.path, &[([127, 0, 0, 1], 7_001).into()]);
        list.write(&first.path).expect("it can be written");
        let error = Mine::take(&path, false).expect_err("it is in use");
        assert!(error.to_string().contains("a cluster runs in"), "{error}");
        drop(first);
        let kept = Mine::take(&path, true).expect("the first one has ended");
        assert_eq!(kept.before, Some(list));
        drop(kept);
        let anew = Mine::take(&path, false).expect("the second one has ended");
        assert_eq!((anew.before, List::read(&path).expect("it is readable")), (None, None));
        fs::remove_dir_all(path).expect("it is there");
    }
}
