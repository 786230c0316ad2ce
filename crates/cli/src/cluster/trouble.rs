//! Why a command that talks to a cluster had no answer, and the exit code that tells it.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use synod_client::{Error, Failure};

/// A node, or the cluster, cannot be reached, or has no majority for this.
pub(crate) const UNREACHABLE: u8 = 69;
/// There was no item.
pub(crate) const NOT_ACQUIRED: u8 = 73;
/// The right to the item was lost while the command ran.
pub(crate) const LOST: u8 = 74;
/// A moment later it may succeed.
pub(crate) const TEMPORARY: u8 = 75;
/// It is not allowed.
pub(crate) const NOT_ALLOWED: u8 = 77;
/// The command could not be carried out.
const REFUSED: u8 = 2;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// There is no cluster.
    #[error(
        "no cluster in {0}. Start one with 'synod up', in another terminal; or say \
         where one is, with --dir DIR or --socket PATH"
    )]
    NoCluster(PathBuf),
    /// The cluster has no such node.
    #[error("the cluster has no node '{name}': it has {}", .known.join(", "))]
    NoNode { name: String, known: Vec<String> },
    /// The cluster has no such pool or group.
    #[error("{node}: no {kind} '{name}': {}", there_is(.known))]
    NoObject { node: String, kind: &'static str, name: String, known: Vec<String> },
    /// No node answers.
    #[error("none of {} answers: {why}. If the cluster has ended, start it with 'synod up'", .nodes.join(", "))]
    NoneAnswers { nodes: Vec<String>, why: String },
    /// A node takes no request in time.
    #[error("{node} takes no request within {waited:?}: its process is stopped, or very busy")]
    Deaf { node: String, waited: Duration },
    /// A node does not answer in time.
    #[error(
        "{node} did not answer within {waited:?}; the request may have taken effect. Ask another \
         node with --node, or wait longer with --timeout"
    )]
    Silent { node: String, waited: Duration },
    /// A node refused, or cannot be reached.
    #[error("{node}: {why}")]
    Node { node: String, why: Error },
    /// The right to an item is over.
    #[error(
        "the session of {item} of pool '{pool}' is over: {node} was not heard of in time. The \
         command was ended before another user could get the item"
    )]
    Lost { pool: String, item: u64, node: String },
    /// Items claimed together, of which only some were there.
    #[error("{got} of {wanted} items were claimed and given back again, because {why}")]
    NotAll { got: usize, wanted: usize, why: Box<Trouble> },
}

impl Trouble {
    /// The exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Trouble::NoCluster(_)
            | Trouble::NoneAnswers { .. }
            | Trouble::Deaf { .. }
            | Trouble::Silent { .. } => UNREACHABLE,
            Trouble::NoNode { .. } | Trouble::NoObject { .. } => REFUSED,
            Trouble::Lost { .. } => LOST,
            Trouble::NotAll { why, .. } => why.exit_code(),
            Trouble::Node { why, .. } => match why.failure() {
                Some(failure) => of_failure(failure),
                None => UNREACHABLE,
            },
        }
    }

    /// Why the node refused, if it did.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match self {
            Trouble::Node { why, .. } => why.failure(),
            Trouble::NotAll { why, .. } => why.failure(),
            _ => None,
        }
    }

    /// A short name for programs.
    fn code(&self) -> &'static str {
        match (self.failure(), self) {
            (Some(failure), _) => failure.code(),
            (None, Trouble::NoCluster(_)) => "no-cluster",
            (None, Trouble::NoNode { .. }) => "no-such-node",
            (None, Trouble::NoObject { .. }) => "unknown",
            (None, Trouble::Deaf { .. } | Trouble::Silent { .. }) => "silent",
            (None, Trouble::Lost { .. }) => "lost",
            (None, _) => "unreachable",
        }
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "error": {
                "code": self.code(),
                "message": self.to_string(),
                "exit": self.exit_code(),
            }
        })
    }
}

fn there_is(known: &[String]) -> String {
    match known {
        [] => "there is none yet".to_owned(),
        known => format!("there is {}", known.join(", ")),
    }
}

fn of_failure(failure: &Failure) -> u8 {
    match failure {
        Failure::Exhausted(_)
        | Failure::Starved { .. }
        | Failure::Denied { .. }
        | Failure::NotHere { .. } => NOT_ACQUIRED,
        Failure::NoMajority { .. } => UNREACHABLE,
        Failure::NotReady | Failure::Full(_) => TEMPORARY,
        Failure::NoSession => LOST,
        Failure::Forbidden(_) => NOT_ALLOWED,
        Failure::NoSuchItem { .. }
        | Failure::Stale { .. }
        | Failure::Unknown { .. }
        | Failure::Exists { .. }
        | Failure::Bad(_) => REFUSED,
    }
}

/// The exit code of an error of any kind.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<Trouble>().map_or(REFUSED, Trouble::exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_client::{Answer, Mode};

    fn refused(failure: Failure) -> Trouble {
        let answer = Answer {
            node: "n1".into(),
            view: "1.n1".into(),
            mode: Mode::Whole,
            result: Err(failure),
        };
        Trouble::Node { node: "n1".into(), why: Error::Refused(Box::new(answer)) }
    }

    #[test]
    fn the_exit_code_tells_refusals_apart() {
        let code = |failure| refused(failure).exit_code();
        assert_eq!(code(Failure::Exhausted("ports".into())), NOT_ACQUIRED);
        assert_eq!(code(Failure::NoMajority { waited_ms: 5, missing: vec![] }), UNREACHABLE);
        assert_eq!(code(Failure::NotReady), TEMPORARY);
        assert_eq!(code(Failure::Forbidden("no".into())), NOT_ALLOWED);
        assert_eq!(code(Failure::Stale { item: 7 }), 2);
        assert_eq!(Trouble::NoCluster("/nowhere".into()).exit_code(), UNREACHABLE);
    }

    #[test]
    fn a_program_reads_why_a_node_refused() {
        let json = refused(Failure::Exhausted("ports".into())).json();
        assert_eq!(json["error"]["code"], "exhausted");
        assert_eq!(json["error"]["exit"], 73);
        let message = json["error"]["message"].as_str().expect("it is a text");
        assert!(message.starts_with("n1: pool 'ports' is exhausted"), "{message}");
    }
}
