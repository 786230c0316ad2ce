//! Items that are held for a label: they outlive the connection, and the node.
//!
//! An item that is held has a user without signs of life: an address of a container, say. So the
//! claim is on the disk before it is answered, and off the disk before the item is given back. A
//! node that starts again and finds such claims stays outside of the group until they are released:
//! while it is outside, no other node gets its items.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use synod_client::api::Token;

/// Items that may be held at one node.
const MOST_HELD: usize = 10_000;

/// An item that is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) pool: String,
    pub(crate) item: u64,
    pub(crate) token: Token,
    pub(crate) label: String,
}

/// The items that are held at this node, on the disk.
#[derive(Debug)]
pub(crate) struct HeldItems {
    path: PathBuf,
    items: BTreeMap<(String, u64), Held>,
}

impl HeldItems {
    /// Reads the items that an earlier life held.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let damaged = |error| io::Error::other(format!("{}: {error}", path.display()));
        let items: Vec<Held> = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(damaged)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let items = items.into_iter().map(|held| ((held.pool.clone(), held.item), held)).collect();
        Ok(HeldItems { path, items })
    }

    /// The items, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Held> {
        self.items.values()
    }

    /// Whether another item may be held.
    pub(crate) fn has_room(&self) -> bool {
        self.items.len() < MOST_HELD
    }

    /// Writes a claim down.
    pub(crate) fn hold(&mut self, held: Held) -> io::Result<()> {
        let key = (held.pool.clone(), held.item);
        self.items.insert(key.clone(), held);
        let written = self.write();
        if written.is_err() {
            self.items.remove(&key);
        }
        written
    }

    /// Strikes a claim out, if it has this token. Returns whether it did.
    pub(crate) fn let_go(&mut self, pool: &str, item: u64, token: Token) -> io::Result<bool> {
        let key = (pool.to_owned(), item);
        match self.items.remove(&key) {
            Some(held) if held.token == token => {
                let written = self.write();
                if written.is_err() {
                    self.items.insert(key, held);
                }
                written.map(|()| true)
            }
            Some(held) => {
                self.items.insert(key, held);
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Strikes all claims out: an operator says that their users are gone.
    pub(crate) fn abandon(&mut self) -> io::Result<()> {
        self.items.clear();
        self.write()
    }

    /// Replaces the file as a whole: a crash leaves the old or the new one.
    fn write(&self) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let items: Vec<&Held> = self.items.values().collect();
        let mut file = File::create(&new)?;
        file.write_all(serde_json::to_string_pretty(&items)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        match self.path.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_read_again_and_let_go_by_its_token_only() {
        let path = std::env::temp_dir().join(format!("synod-held-{}.json", std::process::id()));
        let _ = fs::remove_file(&path);
        let token = Token { epoch: 2, count: 9 };
        let held = Held { pool: "ports".into(), item: 7, token, label: "web".into() };
        let mut items = HeldItems::open(path.clone()).expect("nothing is there");
        items.hold(held.clone()).expect("it is written");
        let mut items = HeldItems::open(path.clone()).expect("it can be read");
        assert_eq!(items.items().collect::<Vec<_>>(), [&held]);
        let other = Token { epoch: 2, count: 8 };
        assert!(!items.let_go("ports", 7, other).expect("nothing is written"));
        assert!(items.let_go("ports", 7, token).expect("it is written"));
        assert!(HeldItems::open(path.clone()).expect("it can be read").items().next().is_none());
        fs::write(&path, "[{").expect("it can be written");
        assert!(HeldItems::open(path.clone()).is_err(), "a damaged file is not begun anew");
        fs::remove_file(path).expect("it is there");
    }
}
