//! The reasons why a node refuses, each with the next step.

use serde::{Deserialize, Serialize};

/// Why a node did not carry out a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No item of the pool is free anywhere.
    #[error(
        "pool '{0}' is exhausted: all its items are in use. Release some, or create a larger pool"
    )]
    Exhausted(String),
    /// Free items exist, but not here.
    #[error(
        "pool '{pool}' is starved here: free items are with other nodes{}. Try again in a moment{}",
        elsewhere(.missing),
        or_forget(.missing)
    )]
    Starved {
        /// The pool.
        pool: String,
        /// The nodes that cannot be reached.
        missing: Vec<String>,
    },
    /// The node has as many items as the pool allows one node.
    #[error("this node uses all {cap} items of pool '{pool}' that one node may use. Release some")]
    Denied {
        /// The pool.
        pool: String,
        /// The limit.
        cap: u32,
    },
    /// The item is in use, or owned by another node.
    #[error(
        "item {item} of pool '{pool}' is not free at this node: 'synod pool show {pool}' says who owns how many"
    )]
    NotHere {
        /// The pool.
        pool: String,
        /// The item.
        item: u64,
    },
    /// The pool has no such item.
    #[error("pool '{pool}' has no item {item}: it has {first} to {last}")]
    NoSuchItem {
        /// The pool.
        pool: String,
        /// The item.
        item: u64,
        /// The first item.
        first: u64,
        /// The last item.
        last: u64,
    },
    /// The token is not that of the item's last claim.
    #[error(
        "the token is not that of the last claim of item {item}: it was released before, and nothing was changed"
    )]
    Stale {
        /// The item.
        item: u64,
    },
    /// The node has not joined the group yet, or the pool has not begun here.
    #[error("the node has not joined the pool yet. Try again in a moment")]
    NotReady,
    /// No object of this name.
    #[error("no {kind} '{name}'{}", list(.known))]
    Unknown {
        /// The kind of object.
        kind: String,
        /// The name.
        name: String,
        /// The objects of this kind.
        known: Vec<String>,
    },
    /// The name is taken.
    #[error("{kind} '{name}' exists already{}", .differs.then_some(", with other settings").unwrap_or_default())]
    Exists {
        /// The kind of object.
        kind: String,
        /// The name.
        name: String,
        /// Whether its settings differ from those asked for.
        differs: bool,
    },
    /// The request makes no sense.
    #[error("{0}")]
    Bad(String),
    /// The session has ended.
    #[error("the session has ended: its items were given back. Open another one")]
    NoSession,
    /// No answer in time. The request may still take effect.
    #[error(
        "no majority of the voters answered within {waited_ms} ms{}; the request may still take \
         effect. Pools and groups go on; what exists and who belongs to the cluster can be changed \
         when a majority is back",
        unreachable(.missing)
    )]
    NoMajority {
        /// How long the node waited.
        waited_ms: u64,
        /// The voters that cannot be reached.
        missing: Vec<String>,
    },
    /// A limit of the node.
    #[error("the node has no room for this now: {0}. Try again in a moment")]
    Full(String),
    /// The client may not do this.
    #[error("not allowed: {0}")]
    Forbidden(String),
}

impl Failure {
    /// A short name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Failure::Exhausted(_) => "exhausted",
            Failure::Starved { .. } => "starved",
            Failure::Denied { .. } => "denied",
            Failure::NotHere { .. } => "not-here",
            Failure::NoSuchItem { .. } => "no-such-item",
            Failure::Stale { .. } => "stale",
            Failure::NotReady => "not-ready",
            Failure::Unknown { .. } => "unknown",
            Failure::Exists { .. } => "exists",
            Failure::Bad(_) => "bad-request",
            Failure::NoSession => "no-session",
            Failure::NoMajority { .. } => "no-majority",
            Failure::Full(_) => "full",
            Failure::Forbidden(_) => "forbidden",
        }
    }

    /// Whether the same request may succeed a moment later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Failure::Exhausted(_)
                | Failure::Starved { .. }
                | Failure::NotReady
                | Failure::NoMajority { .. }
                | Failure::Full(_)
        )
    }
}

fn elsewhere(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        missing => format!(", and {} cannot be reached", missing.join(", ")),
    }
}

fn or_forget(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        [first, ..] => format!("; if {first} is dead for good, 'synod member forget {first}'"),
    }
}

fn list(known: &[String]) -> String {
    match known {
        [] => ": there is none yet".to_owned(),
        known => format!(": there is {}", known.join(", ")),
    }
}

fn unreachable(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        missing => format!(" ({} cannot be reached)", missing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_happened_and_what_to_do_next() {
        let starved = Failure::Starved { pool: "ports".into(), missing: vec!["n4".into()] };
        assert_eq!(
            starved.to_string(),
            "pool 'ports' is starved here: free items are with other nodes, and n4 cannot be \
             reached. Try again in a moment; if n4 is dead for good, 'synod member forget n4'"
        );
        let unknown = Failure::Unknown { kind: "pool".into(), name: "p".into(), known: vec![] };
        assert_eq!(unknown.to_string(), "no pool 'p': there is none yet");
    }
}
