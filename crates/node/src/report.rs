//! What a node tells its operator: one line on standard error for each event, and the same event
//! once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Different lines that are remembered, at most. Beyond it nothing is reported that may repeat.
const MOST_REMEMBERED: usize = 1_000;

/// Writes lines for the operator.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    node: Arc<str>,
    said: Arc<Mutex<BTreeSet<String>>>,
}

impl Reporter {
    /// A reporter for the node of this name.
    pub(crate) fn new(node: &str) -> Self {
        Reporter { node: node.into(), said: Arc::default() }
    }

    /// Reports an event.
    pub(crate) fn say(&self, what: impl AsRef<str>) {
        eprintln!("{}: {}", self.node, what.as_ref());
    }

    /// Reports an event that may repeat: only the first time.
    pub(crate) fn once(&self, what: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST_REMEMBERED && !said.contains(&what) {
            self.say(&what);
            said.insert(what);
        }
    }
}
